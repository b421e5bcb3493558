"""A control: as much is gone as from another condition, and none of it is evidence.

A condition that lost its evidence has lost sentences, too, and its models may be worse for that
alone. A control loses as many of the same sources and lengths (and kinds) at random; what the
filters take stays in, so that the two conditions differ in it and in little else.
"""

from __future__ import annotations

import zlib

import numpy as np
import polars as pl

from poshgrid.config import words
from poshgrid.errors import PoshgridError
from poshgrid.evidence.matching import match
from poshgrid.grid import specs

_TOLERANCE = 0.001  # of a source's words, between what a control and its condition go without


def control(spec: specs.ConditionSpec, train: pl.DataFrame) -> pl.Series:
    """Return which of a base's training sentences a control goes without.

    The sentences that each size adds are matched by themselves: what is gone at a size is so at
    every larger one, and so is what refills it.

    Args:
        spec: the control.
        train: all training sentences of the base, with their labels and ``gone``: what the
            condition goes without that it is a control of.

    Raises:
        PoshgridError: no choice is as many, or as long; or sentences have no tree that are to be
            matched by it.
    """
    rows = _kinds(spec, train)
    chosen: list[int] = []
    for size in _strata(spec, rows):
        stratum = rows.filter(pl.col("size") == size)
        if stratum["gone"].any():
            chosen += _matched(spec, stratum, size)
    return train["sent_id"].is_in(pl.Series(chosen, dtype=pl.UInt32).implode())


def _kinds(spec: specs.ConditionSpec, train: pl.DataFrame) -> pl.DataFrame:
    """Return what sentences are matched by: ``source`` is their kind, ``of`` their source."""
    by = spec.condition.match
    unknown = train.filter(pl.any_horizontal(pl.col(by).is_null())).height if by else 0
    if unknown:
        raise PoshgridError(
            f"condition {spec.condition.name!r} at {spec.size}: a control matched by "
            f"{' and '.join(by)} needs every sentence parsed, and {unknown:,} are not; "
            "set evidence.parse: all"
        )
    source = pl.col("source").cast(pl.String)
    kind = [
        pl.when(name).then(pl.lit(f", {name}")).otherwise(pl.lit(f", no {name}")) for name in by
    ]
    return train.select(
        "sent_id", "n_words", "gone", pl.col("size").cast(pl.String),
        of=source, source=pl.concat_str([source, *kind]),
    )  # fmt: skip


def _strata(spec: specs.ConditionSpec, rows: pl.DataFrame) -> list[str]:
    """Return the sizes whose own sentences a control is chosen from, ascending; "": spare ones.

    Those beyond its own size matter to what refills it.
    """
    names = sorted((name for name in rows["size"].unique() if name), key=words)
    if spec.condition.refill:
        return [*names, ""]
    return [name for name in names if words(name) <= words(spec.size)]


def _matched(spec: specs.ConditionSpec, stratum: pl.DataFrame, size: str) -> list[int]:
    """Return as many others as are gone from the sentences that a size adds."""
    condition = spec.condition
    pool, rest = stratum.filter("gone"), stratum.filter(~pl.col("gone"))
    # The kinds of a source share what its words may differ by
    number = pl.col("n_words").cast(pl.Int64).sum().over("of") // 2 ** len(condition.match)
    allowed = dict(stratum.select("source", number).unique().iter_rows())
    seeds = [condition.seed, zlib.crc32(b"control"), zlib.crc32(size.encode())]
    generator = np.random.default_rng(seeds)
    try:
        return list(match(pool, pool.height, rest, allowed, _TOLERANCE, generator).places)
    except PoshgridError as error:
        reason = str(error).rpartition("; ")[0] or str(error)
        raise PoshgridError(
            f"condition {condition.name!r} at {spec.size}: no control of {condition.control!r}: "
            f"{reason}; give the base more words, or match by less"
        ) from error
