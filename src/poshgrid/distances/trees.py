"""A base's parses in the order of a condition's sentences, wherever their shards lie."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from poshgrid.errors import PoshgridError
from poshgrid.evidence.schema import CONDITION
from poshgrid.files import table_batches
from poshgrid.parsing.schema import PARSES

if TYPE_CHECKING:
    import polars as pl


class Trees:
    """A base's parses, read along with a condition's sentences, both in the order of the base.

    Evidence that was put back stands out of that order; its trees are read first, and kept.

    Args:
        parses: the shards of the base's parses, in any order.
        table: the condition's sentences.
        batch: sentences of a shard in memory at once.

    Raises:
        PoshgridError: there are no parses, or a shard is given twice.
    """

    def __init__(self, parses: Iterable[Path], table: Path, batch: int) -> None:
        import polars as pl

        self._table, self._batch, self._last = table, batch, -1
        self._shards = self._in_order(parses)
        columns = ["sent_id", "replaced"]
        moved = pl.concat(
            part.filter(pl.col("replaced").is_not_null())["sent_id"]
            for part in table_batches(table, CONDITION, columns)
        )
        self._stream, self._held = self._read(), self._empty()
        self._moved = self._empty()
        if len(moved):
            self._moved = pl.concat(part.filter(_among(moved)) for part in self._read())

    def of(self, batch: pl.DataFrame) -> pl.DataFrame:
        """Return ``form`` and ``head`` of a batch of sentences, in its order.

        Raises:
            PoshgridError: the condition or a shard is not in the order of the base, or a sentence
                is in no shard.
        """
        import polars as pl

        own = batch.filter(pl.col("replaced").is_null())["sent_id"]
        if len(own):
            if not own.is_sorted() or own[0] <= self._last:
                raise PoshgridError(
                    f"{self._table}: sentences are not in the order of the base; "
                    "run `poshgrid condition` again"
                )
            self._last = own[-1]
        found = [self._moved, self._held.filter(_among(own))]
        while not self._held.height or self._held["sent_id"][-1] < self._last:
            following = next(self._stream, None)
            if following is None:
                self._held = self._empty()
                break
            self._held = following
            found.append(self._held.filter(_among(own)))
        trees = pl.concat(found)
        joined = batch.select("sent_id").join(
            trees, on="sent_id", how="left", maintain_order="left"
        )
        missing = joined.filter(pl.col("form").is_null())["sent_id"]
        if len(missing):
            raise PoshgridError(
                f"{self._shards[0].parent}: {len(missing):,} sentences of {self._table} are in "
                f"none of the {len(self._shards)} shards, sent_id {missing[0]} for one; parse "
                "every shard of the base, and give them all"
            )
        return joined

    def _in_order(self, parses: Iterable[Path]) -> list[Path]:
        """Return the shards that are not empty by their first sentence."""
        firsts = {}
        for path in parses:
            first = next(table_batches(path, PARSES, ["sent_id"], 1), None)
            if first is not None and first.height:
                firsts[Path(path)] = first["sent_id"][0]
        if not firsts:
            raise PoshgridError(f"{self._table}: its base has no parses; run `poshgrid parse`")
        shards = sorted(firsts, key=lambda path: firsts[path])
        for one, other in itertools.pairwise(shards):
            if firsts[one] == firsts[other]:
                raise PoshgridError(f"{other}: holds the sentences of {one} again; give one only")
        return shards

    def _read(self) -> Iterator[pl.DataFrame]:
        last = -1
        for path in self._shards:
            for part in table_batches(path, PARSES, ["sent_id", "form", "head"], self._batch):
                ids = part["sent_id"]
                if not part.height:
                    continue
                if not ids.is_sorted() or ids.is_duplicated().any() or ids[0] <= last:
                    raise PoshgridError(
                        f"{path}: its sentences are not in the order of the base, or lie in "
                        "another shard too; parse every shard again, and give each once"
                    )
                last = ids[-1]
                if (part["form"].list.len() != part["head"].list.len()).any():
                    raise PoshgridError(
                        f"{path}: a sentence has not as many heads as words; parse it again"
                    )
                yield part

    @staticmethod
    def _empty() -> pl.DataFrame:
        import polars as pl

        return pl.DataFrame(schema={name: PARSES[name] for name in ("sent_id", "form", "head")})


def _among(ids: pl.Series) -> pl.Expr:
    import polars as pl

    return pl.col("sent_id").is_in(ids.implode())
