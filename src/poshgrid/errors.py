"""The one exception that a person is meant to read."""

from __future__ import annotations

import difflib
import errno
import io
import os
import tempfile
import traceback
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path

_LONGEST = 800  # characters of a line


class PoshgridError(Exception):
    """A problem that the user can mend: one line that names the file, the place and the remedy.

    The command line prints the message without a traceback and exits with status 1. What a message
    repeats of a broken file, or of a path with a line break, is kept from garbling the terminal:
    see :func:`plain`. Several problems that are told together are several arguments, a line each.
    """

    def __str__(self) -> str:
        return "\n".join(plain(str(line)) for line in self.args)


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

    Args:
        word: what was written.
        known: what could have been written.
    """
    known = sorted(known)
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


def above(path: str | Path) -> Path | None:
    """Return the nearest folder above the working one in which a path is a file's; none: nowhere.

    Whoever stands in a folder of a study can so be told where to go.
    """
    return next((folder for folder in Path.cwd().parents if (folder / path).is_file()), None)


def place(error: OSError) -> str:
    """Return the file or folder that an error of the system is about; "": nobody knows.

    A write that fails names no file: it is the one that the innermost function has open. Without
    one, a disk that is full is looked for among the temporary and the working folder.
    """
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    if full and error.filename2:  # of a copy it is the second that cannot be written
        return str(error.filename2)
    if error.filename:
        return str(error.filename)
    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        for value in frame.f_locals.values():
            name = getattr(value, "name", None) if _is_file(value) else None
            if isinstance(name, str):
                return name
    if full:
        for folder in reversed(_folders()):
            with suppress(OSError):
                if os.statvfs(folder).f_bavail == 0:
                    return folder
    return ""


def _folders() -> list[str]:
    """Return the working and the temporary folder; either may have been deleted, or be closed."""
    found = []
    for folder in (os.getcwd, tempfile.gettempdir):
        with suppress(OSError):
            found.append(folder())
    return found


def of_system(error: OSError) -> str:
    """Return the line for an error of the system: file or folder, what it says, what to do."""
    found, folders = place(error), _folders()
    both = len(folders) == 2
    remedy = "check the path, permissions and disk space"
    # Who works in the temporary folder has files of their own there.
    apart = both and not Path(folders[0]).is_relative_to(folders[1])
    if found and apart and Path(found).is_relative_to(folders[1]):
        remedy = f"a temporary file: make room in {folders[1]}, or set TMPDIR to another folder"
    elif not both:
        remedy = "go to a folder that is there, and set TMPDIR to one that can be written"
    reason = error.strerror or error
    where = f"a file of {' or '.join(folders)}" if both else "the working or the temporary folder"
    return plain(f"{found or where}: {reason}; {remedy}")


def _is_file(value: object) -> bool:
    return isinstance(value, io.IOBase) or (hasattr(value, "file") and hasattr(value, "delete"))
