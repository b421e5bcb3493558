"""The one exception that a person is meant to read."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_LONGEST = 800  # characters of a line


class PoshgridError(Exception):
    """A problem that the user can mend: one line that names the file, the place and the remedy.

    The command line prints the message without a traceback and exits with status 1. What a message
    repeats of a broken file is kept from garbling the terminal: see :func:`plain`.
    """

    def __str__(self) -> str:
        return "\n".join(plain(line) for line in super().__str__().split("\n"))


def plain(text: str, longest: int = _LONGEST) -> str:
    """Return a text for a message: one line, without what garbles a terminal, and not too long."""
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[: 2 * longest])
    if len(text) <= longest:
        return text
    return f"{text[: longest // 2]} ... {text[-longest // 2 :]}"


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
