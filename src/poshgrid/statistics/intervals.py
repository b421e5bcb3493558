"""Intervals of an accuracy: over independent items, and over items that share their words.

Wilson's interval takes every item as an independent one. But templates fill the same words into
several items, and every seed judges the same ones. The clustered interval takes the lexical set,
over all seeds, as the unit that was sampled: a stratified cluster-robust (linearised) standard
error with the phenomena as strata and Student's t. It says how far the accuracy could move with
other words; the SD over seeds says how far with other seeds.
"""

from __future__ import annotations

import math

import polars as pl
from scipy import stats


def wilson(correct: float, n: float) -> tuple[float, float]:
    """Return the 95% score interval of a share (Wilson 1927).

    Args:
        correct: items right; may be fractional, as ties are, which scipy's own interval does not
            take.
        n: items, at least 1.
    """
    z = float(stats.norm.ppf(0.975))
    share, shrink = correct / n, 1 + z**2 / n
    middle = (share + z**2 / (2 * n)) / shrink
    half = z / shrink * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return max(0.0, middle - half), min(1.0, middle + half)


def clustered(sets: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Return 95% intervals for every level of accuracy, items clustered by lexical set.

    Args:
        sets: ``by``, category, phenomenon, lexical_set, correct, n: one row per lexical set of a
            phenomenon, summed over seeds.
        by: the columns that name a point of the grid and a suite.

    Returns:
        ``by``, level, category, phenomenon, half: half the width of the interval (share), null
        where a phenomenon has fewer than two sets.
    """
    cell = [*by, "category", "phenomenon"]
    residual = pl.col("correct") - pl.col("n") * pl.col("correct").sum() / pl.col("n").sum()
    strata = (
        # Sums of floats depend on the order of rows: it is fixed here and kept below.
        sets.sort(*cell, "lexical_set")
        .with_columns(
            residual=residual.over(cell) / pl.col("n").sum().over(cell), sets=pl.len().over(cell)
        )
        .group_by(cell, maintain_order=True)
        .agg(
            n=pl.col("n").sum(),
            sets=pl.first("sets"),
            # G/(G-1) corrects for the mean having been estimated; one set has no variance.
            variance=pl.when(pl.first("sets") > 1).then(
                (pl.col("residual") ** 2).sum() * pl.first("sets") / (pl.first("sets") - 1)
            ),
        )
    )
    in_category = pl.col("n") / pl.col("n").sum().over([*by, "category"])
    categories = pl.col("category").n_unique().over(by)
    weighted = strata.with_columns(
        w_phenomenon=pl.lit(1.0),
        w_category=in_category,
        w_overall=in_category / categories,
        w_average=1 / pl.len().over(by),
    )
    levels = {
        "phenomenon": cell,
        "category": [*by, "category"],
        "overall": by,
        "average": by,
    }
    parts = [
        weighted.group_by(keys, maintain_order=True)
        .agg(
            spread=(pl.col(f"w_{level}") ** 2 * pl.col("variance")).sum().sqrt(),
            known=pl.col("variance").is_not_null().all(),
            freedom=(pl.col("sets") - 1).sum(),
        )
        .with_columns(level=pl.lit(level))
        for level, keys in levels.items()
    ]
    merged = pl.concat(parts, how="diagonal").with_columns(
        pl.col("category", "phenomenon").fill_null("")
    )
    quantile = pl.Series(
        [float(stats.t.ppf(0.975, max(f, 1))) for f in merged["freedom"]], dtype=pl.Float64
    )
    return merged.with_columns(half=pl.when("known").then(pl.col("spread") * quantile)).select(
        *by, "level", "category", "phenomenon", "half"
    )
