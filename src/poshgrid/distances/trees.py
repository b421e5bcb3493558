"""A condition's sentences with their trees, wherever the shards of its base's parses lie."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import polars as pl

from poshgrid.errors import PoshgridError
from poshgrid.evidence.schema import CONDITION
from poshgrid.files import table_batches
from poshgrid.parsing.schema import PARSES

_TREE = ("sent_id", "form", "head")


def with_trees(
    table: Path, parses: Iterable[Path], size: int
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Yield a condition's sentences piece by piece, and their trees in the same order.

    Both are in the order of the base, so that they are read side by side. Evidence that was put
    back stands out of that order; its trees are read first, and kept.

    Args:
        table: the condition's sentences.
        parses: the shards of the base's parses, in any order.
        size: sentences of a piece.

    Yields:
        ``sent_id``, ``text`` and ``replaced`` of the sentences; ``form`` and ``head`` of the trees.

    Raises:
        PoshgridError: there are no parses, the condition is not in the order of the base, or a
            sentence is in no shard, or in two.
    """
    shards = _in_order(parses)
    if not shards:
        raise PoshgridError(f"{table}: its base has no parses; run the stage parse")
    empty = pl.DataFrame(schema={name: PARSES[name] for name in _TREE})
    moved = pl.concat(
        part.drop_nulls("replaced")["sent_id"]
        for part in table_batches(table, CONDITION, ["sent_id", "replaced"])
    )
    back = empty
    if len(moved):
        back = pl.concat(part.filter(_among(moved)) for part in _read(shards, size))
    stream, held, last = _read(shards, size), empty, -1
    for batch in table_batches(table, CONDITION, ["sent_id", "text", "replaced"], size):
        own = batch.filter(pl.col("replaced").is_null())["sent_id"]
        if len(own) and (not own.is_sorted() or own[0] <= last):
            raise PoshgridError(
                f"{table}: sentences are not in the order of the base; run the stage condition "
                "again"
            )
        last = own[-1] if len(own) else last
        found = [back, held.filter(_among(own))]
        while not held.height or held["sent_id"][-1] < last:
            following = next(stream, None)
            if following is None:
                held = empty
                break
            held = following
            found.append(held.filter(_among(own)))
        trees = batch.select("sent_id").join(
            pl.concat(found), on="sent_id", how="left", maintain_order="left"
        )
        missing = trees["form"].null_count()
        if missing or trees.height > batch.height:
            raise PoshgridError(
                f"{shards[0].parent}: {missing:,} sentences of {table} are in none of the "
                f"{len(shards)} shards, or some in two; parse every shard of the base, and give "
                "each once"
            )
        yield batch, trees


def _in_order(parses: Iterable[Path]) -> list[Path]:
    """Return the shards that are not empty by their first sentence."""
    firsts: dict[int, Path] = {}
    for path in parses:
        first = next(table_batches(path, PARSES, ["sent_id"], 1), None)
        if first is not None and first.height:
            other = firsts.setdefault(first["sent_id"][0], path)
            if other != path:
                raise PoshgridError(f"{path}: holds the sentences of {other}; give one only")
    return [path for _, path in sorted(firsts.items())]


def _read(shards: Iterable[Path], size: int) -> Iterator[pl.DataFrame]:
    for path in shards:
        for part in table_batches(path, PARSES, _TREE, size):
            if (part["form"].list.len() != part["head"].list.len()).any():
                raise PoshgridError(
                    f"{path}: a sentence has not as many heads as words; parse it again"
                )
            yield part


def _among(ids: pl.Series) -> pl.Expr:
    return pl.col("sent_id").is_in(ids.implode())
