"""Sentences that were drawn, and how many each of them stands for.

They are drawn uniformly in one pass, without knowing how many there are. Each sentence has a rank:
a keyed hash of its number. The sample is the sentences of lowest rank, in the order of rank. So it
depends on the seed, not on the order in which sentences come; a larger sample begins with the
smaller one; and the first lines of a sheet are themselves a uniform sample, so that a person may
stop at any line.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import polars as pl

from poshgrid.audit.sheet import Row, digest
from poshgrid.errors import PoshgridError
from poshgrid.parsing.words import tokenize

T = TypeVar("T")
_BYTES = 8


class Sample(Generic[T]):
    """A uniform sample without replacement of what is offered.

    Args:
        size: number of sentences to keep.
        seed: another seed gives another sample.
        name: a sample of its own for each name, e.g. ``"binding.leakage"``.
    """

    def __init__(self, size: int, seed: int, name: str) -> None:
        self.size = size
        self.offered = 0
        key = hashlib.blake2b(f"{seed}\0{name}".encode()).digest()
        self._hash = hashlib.blake2b(key=key, digest_size=_BYTES)
        # The worst of the kept is on top: negated, since heapq keeps the smallest there.
        self._kept: list[tuple[int, int, T]] = []

    def rank(self, sent_id: int) -> int:
        """Return the place of a sentence in the order of choice."""
        state = self._hash.copy()
        state.update(sent_id.to_bytes(_BYTES, "little"))
        return int.from_bytes(state.digest(), "little")

    def offer(self, sent_id: int, content: Callable[[], T]) -> None:
        """Count a sentence, and keep it if it is among the best so far.

        Args:
            sent_id: its number; each is offered once.
            content: returns what to keep of it; called only if it is kept.
        """
        self.offered += 1
        order = (-self.rank(sent_id), -sent_id)
        if len(self._kept) < self.size:
            heapq.heappush(self._kept, (*order, content()))
        elif order > self._kept[0][:2]:
            heapq.heapreplace(self._kept, (*order, content()))

    def result(self) -> list[T]:
        """Return what was kept, in the order of rank."""
        return [item for *_, item in sorted(self._kept, key=lambda kept: kept[:2], reverse=True)]


@dataclass(frozen=True)
class Drawn:
    """The sentences of a sheet.

    Attributes:
        rows: in the order of the sheet.
        strata: stratum -> sentences that it was drawn from.
        counts: what else is told of it.
    """

    rows: list[Row]
    strata: dict[int, int]
    counts: dict[str, int]

    @classmethod
    def of(
        cls, chosen: Sequence[tuple[Row, int]], strata: Mapping[int, int], counts: dict[str, int]
    ) -> Drawn:
        """Give each row of (row, stratum) its stratum and weight: how many it stands for."""
        numbers = [number for _, number in chosen]
        weights = {n: size / max(1, numbers.count(n)) for n, size in strata.items()}
        rows = [replace(row, stratum=number, weight=weights[number]) for row, number in chosen]
        return cls(rows, dict(strata), counts)

    @property
    def candidates(self) -> int:
        """Sentences that the sample was drawn from."""
        return sum(self.strata.values())

    def facts(self) -> dict[str, Any]:
        """Return what ``statistics.json`` tells of it."""
        numbers = [row.stratum for row in self.rows]
        numbered = ((n, row.sent_id, row.text) for n, row in enumerate(self.rows, start=1))
        return {
            "candidates": self.candidates,
            "sampled": len(self.rows),
            "digest": digest(numbered),
            "strata": {
                str(n): {"sentences": size, "sampled": numbers.count(n)}
                for n, size in sorted(self.strata.items())
            },
            **self.counts,
        }


def row_of(batch: pl.DataFrame, i: int) -> Row:
    """Return a sentence of a table, with its words."""
    cell = batch.row(i, named=True)
    content = {name: cell[name] for name in ("sent_id", "source", "document", "text")}
    return Row(**content, words=tuple(tokenize(cell["text"])))


def placed(row: Row, places: tuple[int, ...], where: str, remedy: str) -> Row:
    """Add the words to be marked in a sentence.

    Raises:
        PoshgridError: the sentence has no word at a place.
    """
    if any(not 1 <= place <= len(row.words) for place in places):
        raise PoshgridError(
            f"{where} matched words {list(places)} of sent_id {row.sent_id}, which has "
            f"{len(row.words)} words; {remedy}"
        )
    return replace(row, places=places)


def spans(text: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Return where each word begins and ends in the text.

    Args:
        text: a sentence.
        words: its words in order, as :func:`poshgrid.parsing.words.tokenize` cuts them: nothing but
            white space stands between two of them.

    Raises:
        ValueError: the words are not those of the text.
    """
    found, end = [], 0
    for word in words:
        start = text.find(word, end)
        if start < 0 or text[end:start].strip():
            raise ValueError(f"{word!r} is not the next word of {text!r}")
        end = start + len(word)
        found.append((start, end))
    return found


def pieces(text: str, words: Sequence[str], places: Iterable[int]) -> list[tuple[str, bool]]:
    """Cut a text into pieces that are marked (``True``) or not; together they are the text.

    Args:
        text: a sentence.
        words: all its words.
        places: places of the words to mark, from 1.

    Raises:
        ValueError: the words are not those of the text, or it has no word at a place.
    """
    where = spans(text, words)
    cut: list[tuple[str, bool]] = []
    end = 0
    for place in sorted(set(places)):
        if not 1 <= place <= len(where):
            raise ValueError(f"{text!r} has no word {place}")
        start, stop = where[place - 1]
        cut += [(text[end:start], False), (text[start:stop], True)]
        end = stop
    return [(piece, marked) for piece, marked in [*cut, (text[end:], False)] if piece]
