"""The one exception that a person is meant to read."""

from __future__ import annotations

import difflib
import errno
from collections.abc import Collection, Iterable

_LONGEST = 800  # characters of a line
RENAMED = {
    "learners": "models", "learner": "model", "regimens": "recipes", "regimen": "recipe",
    "bases": "corpora", "base": "corpus", "nulls": "baselines", "null": "baseline",
    "rule": "heuristic", "rules": "heuristics", "collateral": "side_effects",
    "beside": "published", "rule_preferences": "heuristic_choices",
    "rule_shares": "heuristic_shares",
}  # fmt: skip
"""Words of before November 2026 -> what they are called now (CHANGELOG.md)."""


class PoshgridError(Exception):
    """A problem that the user can fix: one line that names the file, the place and the remedy.

    The command line prints the message without a traceback and exits with status 1. What a message
    repeats of a broken file, or of a path with a line break, is kept from garbling the terminal:
    see :func:`plain`. Problems that are reported together are several arguments.
    """

    def __str__(self) -> str:
        return "\n".join(plain(str(line)) for line in self.args)


class ConfigError(PoshgridError):
    """Problems of a configuration.

    Attributes:
        problems: the place of a key (keys and numbers of entries, from the top), and what is wrong.
    """

    def __init__(self, problems: Iterable[tuple[tuple[str | int, ...], str]]) -> None:
        self.problems = list(problems)
        super().__init__(*(message for _, message in self.problems))


def plain(text: str, longest: int = _LONGEST) -> str:
    """Return a text for a message: one line, without what garbles a terminal, and not too long."""
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[: 2 * longest])
    if len(text) <= longest:
        return text
    return f"{text[: longest // 2]} ... {text[-longest // 2 :]}"


def reason(error: Exception) -> str:
    """Return what another library's error says, as one short line; of a silent one its type."""
    return " ".join(str(error).split())[:200] or type(error).__name__


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"``, or the list of what is known when nothing is near.

    A word of :data:`RENAMED` gets a hint of its present name.

    Args:
        word: what was written.
        known: what could have been written.
    """
    known = sorted(known)
    if RENAMED.get(word) in known:
        return f"; it is called {RENAMED[word]!r} now"
    near = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    if near:
        return f"; did you mean {near[0]!r}?"
    return f"; known: {', '.join(known)}" if known else ""


def check_known(what: str, word: str | None, known: Collection[str]) -> None:
    """Refuse a word that is not known; ``None``: nothing was asked for.

    Args:
        what: the beginning of the message: ``--target: unknown target``.
        word: what was written.
        known: what could have been written.

    Raises:
        PoshgridError: the word is not among them; the nearest is named.
    """
    if word is not None and word not in known:
        raise PoshgridError(f"{what} {word!r}{did_you_mean(word, known)}")


def place(error: OSError) -> str:
    """Return the file or folder that an error of the system is about; "": it does not say."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)  # of a copy, the second cannot be written
    return str((full and error.filename2) or error.filename or "")


def of_system(error: OSError) -> str:
    """Return the line for an error of the system: file or folder, what it says, what to do."""
    where = place(error) or "a file that was read or written"
    remedy = "check the path, permissions and disk space (TMPDIR names another temporary folder)"
    return plain(f"{where}: {error.strerror or error}; {remedy}")
