"""Texts that are too long for one go, cut after a sentence or a word."""

from __future__ import annotations

import re
from collections.abc import Iterator

from poshgrid.errors import PoshgridError

LONGEST = 100_000
"""Characters of one text: spaCy refuses more than a million, and cleaning lengthens a text."""

_NEAR = 2_000  # characters before the limit, where a sentence is looked for first
_SENTENCE_END = re.compile(r"[.?!][\"'”’)\]]*\s")


def pieces(text: str, place: str) -> Iterator[str]:
    """Yield a text in pieces of at most :data:`LONGEST` characters, cut after a sentence or a word.

    Args:
        text: any text; a short one comes back as it is.
        place: file and line, for the message.

    Raises:
        PoshgridError: so many characters hold no white space: nobody wrote them to be read.
    """
    start = 0
    while len(text) - start > LONGEST:
        window = text[start : start + LONGEST]
        ends = (
            [match.end() for match in _SENTENCE_END.finditer(window, LONGEST - _NEAR)]
            or [match.end() for match in _SENTENCE_END.finditer(window)]
            or [max(map(window.rfind, " \t\n")) + 1]
        )
        cut = ends[-1]
        if not cut:
            raise PoshgridError(
                f"{place}: {LONGEST:,} characters without a space; "
                "take out what is not running text"
            )
        yield window[:cut]
        start += cut
    yield text[start:]
