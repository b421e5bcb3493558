"""From counts by phenomenon to accuracies of categories and of a whole suite."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from poshgrid.config.runs import words_of
from poshgrid.statistics.schema import LEVELS, PARTS


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


def words() -> pl.Expr:
    """Return what rows are sorted by so that sizes ascend: the words that the size names.

    Of a pretrained model, whose size is not known, none.
    """
    return pl.col("size").map_elements(words_of, return_dtype=pl.Int64)


def rank() -> pl.Expr:
    """Return what the levels' rows are sorted by: the order of ``LEVELS``, then ``PARTS``."""
    order = {level: i for i, level in enumerate((*LEVELS, *PARTS))}
    return pl.col("level").replace_strict(order)
