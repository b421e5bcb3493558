"""From the judgements of runs to rows: their columns, accuracies at every level, their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from poshgrid.config.runs import words_of
from poshgrid.files import Schema
from poshgrid.statistics.schema import LEVELS, PARTS, RUN_AXES


def axes(run: str) -> dict[str, Any]:
    """Return the columns that a run's name gives: ``RUN_AXES`` and seed.

    Args:
        run: condition/size/learner/regimen/bias/seedN.
    """
    *parts, seed = run.split("/")
    return {**dict(zip(RUN_AXES, parts, strict=True)), "seed": int(seed.removeprefix("seed"))}


def counted(judged: pl.DataFrame, columns: Mapping[str, Any], schema: Schema) -> pl.DataFrame:
    """Return what a run got right, phenomenon by phenomenon.

    Args:
        judged: category, phenomenon, correct.
        columns: of the run, with its values.
        schema: category, phenomenon, correct, n, and these.
    """
    return (
        judged.group_by("category", "phenomenon")
        .agg(correct=pl.col("correct").sum(), n=pl.len())
        .with_columns(pl.lit(value).alias(name) for name, value in columns.items())
        .select(list(schema))
        .cast(pl.Schema(schema))
    )


def by_level(counts: pl.DataFrame, by: list[str], also: Sequence[str] = ()) -> pl.DataFrame:
    """Return accuracies at every level.

    A category's accuracy is that of all its pairs; ``overall`` is the mean of the categories,
    ``average`` the mean of the phenomena.

    Args:
        counts: ``by``, category, phenomenon, correct, n.
        by: the columns that name what was judged: a run, a suite, perhaps a step.
        also: columns of counts that are counts of right pairs, too, by another way of judging.

    Returns:
        ``by``, level (one of ``LEVELS``), category, phenomenon, accuracy (share), correct, n;
        and ``also``, as shares.
    """
    sums = [pl.col("correct").sum(), pl.col("n").sum()]
    others = [pl.col(name).sum() for name in also]
    shares = [
        (pl.col("correct") / pl.col("n")).alias("accuracy"),
        *(pl.col(name) / pl.col("n") for name in also),
    ]
    phenomena = (
        counts.group_by(*by, "category", "phenomenon").agg(*sums, *others).with_columns(shares)
    )
    categories = counts.group_by(*by, "category").agg(*sums, *others).with_columns(shares)
    # Sums of floats depend on the order of rows, which group_by does not keep.
    means = [pl.col(name).sort().mean() for name in ("accuracy", *also)]
    parts = {
        "phenomenon": phenomena,
        "category": categories,
        "overall": categories.group_by(by).agg(*means, *sums),
        "average": phenomena.group_by(by).agg(*means, *sums),
    }
    return pl.concat(
        [parts[level].with_columns(level=pl.lit(level)) for level in LEVELS], how="diagonal"
    ).with_columns(pl.col("category", "phenomenon").fill_null(""))


def ordered(rows: pl.DataFrame, *by: str | pl.Expr) -> pl.DataFrame:
    """Return rows sorted by condition, words, the other axes, and what else is named.

    Words are those that the size names; of a pretrained model, whose size is not known, none.
    """
    words = pl.col("size").map_elements(words_of, return_dtype=pl.Int64)
    condition, *others = RUN_AXES
    return rows.sort(condition, words, *others, *by)


def rank() -> pl.Expr:
    """Return what the levels' rows are sorted by: the order of ``LEVELS``, then ``PARTS``."""
    order = {level: i for i, level in enumerate((*LEVELS, *PARTS))}
    return pl.col("level").replace_strict(order)
