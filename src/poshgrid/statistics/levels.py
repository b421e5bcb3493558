"""From counts by phenomenon to accuracies of categories and of a whole suite."""

from __future__ import annotations

import polars as pl

from poshgrid.statistics.schema import LEVELS


def by_level(counts: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Return accuracies at every level.

    A category's accuracy is that of all its pairs; ``overall`` is the mean of the categories,
    ``average`` the mean of the phenomena.

    Args:
        counts: ``by``, category, phenomenon, correct, n.
        by: the columns that name what was judged: a run, a suite, perhaps a step.

    Returns:
        ``by``, level (one of ``LEVELS``), category, phenomenon, accuracy (share), correct, n.
    """
    sums = [pl.col("correct").sum(), pl.col("n").sum()]
    share = (pl.col("correct") / pl.col("n")).alias("accuracy")
    phenomena = counts.group_by(*by, "category", "phenomenon").agg(sums).with_columns(share)
    categories = counts.group_by(*by, "category").agg(sums).with_columns(share)
    # Sums of floats depend on the order of rows, which group_by does not keep.
    mean = pl.col("accuracy").sort().mean()
    parts = {
        "phenomenon": phenomena,
        "category": categories,
        "overall": categories.group_by(by).agg(mean, *sums),
        "average": phenomena.group_by(by).agg(mean, *sums),
    }
    return pl.concat(
        [parts[level].with_columns(level=pl.lit(level)) for level in LEVELS], how="diagonal"
    ).with_columns(pl.col("category", "phenomenon").fill_null(""))


def rank() -> pl.Expr:
    """Return what the levels' rows are sorted by: the order of ``LEVELS``."""
    return pl.col("level").replace_strict({level: i for i, level in enumerate(LEVELS)})
