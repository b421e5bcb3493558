"""Sentences that were drawn, and how many each of them stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from poshgrid.audit.sheet import Row, digest
from poshgrid.errors import PoshgridError
from poshgrid.parsing.words import tokenize


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
        numbered = enumerate((row.sent_id for row in self.rows), start=1)
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
