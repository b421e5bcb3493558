"""Sentences as the numbers of their words, as an n-gram model counts them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from poshgrid.corpora.words import WORD, fold

UNKNOWN, START, END = range(3)
SPECIALS = ("<unk>", "<s>", "</s>")
"""The first three types of a vocabulary. No word of a text can be one: marks stand alone."""


class Encoded(NamedTuple):
    """Sentences one after the other: ``<s>``, words, ``</s>``."""

    vocabulary: list[str]  # SPECIALS, then all types in the order of their characters
    ids: np.ndarray  # uint32, places in the vocabulary
    sentences: int


def encode(texts: Iterable[Sequence[str]]) -> Encoded:
    """Number the words of sentences; a type's number does not depend on the sentences' order.

    Args:
        texts: sentences, in batches. One without a word is passed over.
    """
    numbers = _Numbers()
    parts = [np.array(row, np.uint32) for row in _rows(texts, numbers)]
    ids = np.concatenate(parts) if parts else np.empty(0, np.uint32)
    vocabulary = [*SPECIALS, *sorted(numbers.types)]
    order = np.arange(len(vocabulary), dtype=np.uint32)
    for place in range(len(SPECIALS), len(vocabulary)):
        order[numbers.types[vocabulary[place]]] = place
    return Encoded(vocabulary, order[ids], int((ids == START).sum()))


def _rows(texts: Iterable[Sequence[str]], numbers: _Numbers) -> Iterator[list[int]]:
    for batch in texts:
        row: list[int] = []
        for text in batch:
            if found := WORD.findall(text):
                row.append(START)
                row.extend(map(numbers.__getitem__, found))
                row.append(END)
        yield row


class _Numbers(dict[str, int]):
    """Word as written -> its type's number, given when the word is first asked for."""

    def __init__(self) -> None:
        self.types: dict[str, int] = {}

    def __missing__(self, written: str) -> int:
        number = self.types.setdefault(fold(written), len(SPECIALS) + len(self.types))
        self[written] = number
        return number
