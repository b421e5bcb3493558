"""The exception for errors that users can fix, and how its messages are written."""

from __future__ import annotations

import difflib
import errno
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError

_LONGEST = 800  # characters of a line


Place = tuple[str | int, ...]
"""Keys and numbers of entries, from the top of a configuration."""
Problem = tuple[Place, str]
"""Where a configuration is wrong, and why."""


class PoshgridError(Exception):
    """A problem that the user can fix: one line with the file, the place and the remedy.

    The command line prints the message without a traceback and exits with status 1. Characters of a
    broken file, or line breaks in a path, cannot garble the terminal: see :func:`plain`. Several
    arguments are several problems, which are reported together.
    """

    def __str__(self) -> str:
        return "\n".join(plain(str(line)) for line in self.args)


class ConfigError(PoshgridError):
    """Problems of a configuration.

    Attributes:
        problems: all of them.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = list(problems)
        super().__init__(*(message for _, message in self.problems))


def plain(text: str, longest: int = _LONGEST) -> str:
    """Return a text for a message: one line, only printable characters, and not too long."""
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[: 2 * longest])
    if len(text) <= longest:
        return text
    return f"{text[: longest // 2]} ... {text[-longest // 2 :]}"


def reason(error: Exception) -> str:
    """Return another library's error message as one short line, or the error's type."""
    return " ".join(str(error).split())[:200] or type(error).__name__


def invalid(error: ValidationError, *keys: str) -> str:
    """Return the first of pydantic's errors as one line: where, and what is wrong there.

    Args:
        error: the errors.
        keys: keys above the place that pydantic names.
    """
    first = error.errors()[0]
    where = ".".join(map(str, (*keys, *first["loc"])))
    message = first["msg"].removeprefix("Value error, ")
    return f"{where}: {message}" if where else message


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"``, or the list of known words if none is similar.

    Args:
        word: the word that was written.
        known: the words that are allowed.
    """
    known = sorted(known)
    near = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    if near:
        return f"; did you mean {near[0]!r}?"
    return f"; known: {', '.join(known)}" if known else ""


def similar_file(path: Path) -> str:
    """Return ``"; did you mean 'x'?"`` for a missing path; "" if no name there is similar."""
    names = [] if path.exists() else [other.name for other in path.parent.glob("*")]
    hint = did_you_mean(path.name, names)
    return hint if hint.endswith("?") else ""


def check_known(what: str, word: str | None, known: Collection[str]) -> None:
    """Raise if a word is not known; ``None`` is allowed.

    Args:
        what: the beginning of the message: ``--target: unknown target``.
        word: the word that was written.
        known: the words that are allowed.

    Raises:
        PoshgridError: the word is not among them; the message names the most similar one.
    """
    if word is not None and word not in known:
        raise PoshgridError(f"{what} {word!r}{did_you_mean(word, known)}")


def place(error: OSError) -> str:
    """Return the file or folder of an error of the operating system; "" if it names none."""
    # For a copy, the second file cannot be written
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return str((full and error.filename2) or error.filename or "")


def of_system(error: OSError) -> str:
    """Return the message for an error of the operating system: file or folder, reason, remedy."""
    where = place(error) or "a file that was read or written"
    remedy = "check the path, permissions and disk space (TMPDIR names another temporary folder)"
    return plain(f"{where}: {error.strerror or error}; {remedy}")
