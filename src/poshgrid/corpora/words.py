"""The definition of a word for counting: in n-gram models and in the side effects of removal."""

from __future__ import annotations

import re
from typing import NamedTuple

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[^\w\s]|_")
"""Letters and digits, with apostrophes inside (john's, don't), or one other character."""


class Span(NamedTuple):
    """A word of a sentence and its position: characters [start, end)."""

    word: str
    start: int
    end: int


def fold(word: str) -> str:
    """Return a word in the form used for counting: case-folded, with straight apostrophes."""
    return word.casefold().replace("’", "'")


def spans(text: str) -> list[Span]:
    """Return the words of a sentence, folded, with their positions in the sentence."""
    return [Span(fold(match.group()), *match.span()) for match in WORD.finditer(text)]


def words(text: str) -> list[str]:
    """Return the words of a sentence, folded."""
    return [fold(word) for word in WORD.findall(text)]
