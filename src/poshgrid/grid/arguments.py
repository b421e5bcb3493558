"""Arguments too long for a command line: a file of them, named in their place.

Linux takes no argument of 128 KB or more, and the whole command of a job is one, to the shell. What
grows with the grid (the runs of a target, the scores of its nulls) therefore goes, once it is long,
into a file with one argument a line, and the command line names ``@FILE``. The name is a digest of
the content. Snakemake compares it: a job reruns when the content changes and at no other change.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from shlex import join

from poshgrid.errors import PoshgridError
from poshgrid.files import write_text

LONGEST = 24 * 1024
"""Bytes that stay in the command line. A command has at most two texts that grow."""
SUFFIX = ".arguments"


def short(given: Sequence[str], folder: str, *, write: bool = True) -> str:
    """Return arguments as text for a shell: themselves, or ``@FILE`` if they are long.

    Args:
        given: arguments; none holds a line break.
        folder: where the file is kept.
        write: whether to make the file if there is none; a dry-run makes none.

    Raises:
        PoshgridError: the file cannot be written.
    """
    text = join(given)
    if len(text.encode()) <= LONGEST:
        return text
    content = "\n".join(given) + "\n"
    path = Path(folder, hashlib.sha256(content.encode()).hexdigest()[:16] + SUFFIX)
    if write and not path.exists():
        write_text(path, content)
    return join([f"@{path}"])


def expanded(given: Iterable[str]) -> list[str]:
    """Return arguments with those of the files that ``@FILE`` names in its place.

    Raises:
        PoshgridError: there is no such file, or it is not UTF-8.
    """
    found: list[str] = []
    for argument in given:
        if not (argument.startswith("@") and argument.endswith(SUFFIX)):
            found.append(argument)
            continue
        try:
            content = Path(argument[1:]).read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
            raise PoshgridError(
                f"{argument[1:]}: cannot read: {reason}; run the workflow, which writes it"
            ) from error
        if content:  # splitlines() would split at \f, too
            found += content.removesuffix("\n").split("\n")
    return found
