"""What counts as a word where words are counted: in n-gram models and in what removal changes."""

from __future__ import annotations

import re
from typing import NamedTuple

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[^\w\s]|_")
"""Letters and digits, kept together over an apostrophe inside (john's, don't), or one mark."""


class Span(NamedTuple):
    """A word of a sentence and its place, [start, end) in characters."""

    word: str
    start: int
    end: int


def fold(word: str) -> str:
    """Return a word as the vocabulary writes it: case-folded, with straight apostrophes."""
    return word.casefold().replace("’", "'")


def spans(text: str) -> list[Span]:
    """Return the words of a sentence, folded, with their places in it as it is written."""
    return [Span(fold(match.group()), *match.span()) for match in WORD.finditer(text)]


def words(text: str) -> list[str]:
    """Return the words of a sentence, folded."""
    return [fold(word) for word in WORD.findall(text)]
