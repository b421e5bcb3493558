"""Intervals of an accuracy: over independent items, and over items that share their words.

Wilson's interval takes items as independent. But templates put the same words into several items,
and every seed judges the same items. The two other intervals take the lexical set, over all seeds,
as the sampled unit, and phenomena as strata: a bootstrap over lexical sets (Davison and Hinkley
1997, sections 3.2 and 5.3.1), and, for single accuracies, a cluster-robust (linearised) standard
error with Student's t. They say how much the accuracy could change with other words; the SD over
seeds says how much it changes with other seeds.

A lexical set is all content words of a pair. In suites that draw words freely few pairs have all
words in common: sets are then nearly single pairs, and pairs that share only some of their words
count as independent.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy import stats

REPLICATES = 2_000
SEED = 42
"""Of the bootstrap. It is no key of the configuration: with one seed, intervals are comparable."""
_MAX_WEIGHTS = 2**21  # weights (replicates x sets) in memory at a time: 16 MiB


class SetSums(NamedTuple):
    """Right pairs of each point of a grid in each lexical set of a suite.

    Every run judges every pair, so that the sets and their sizes are the same for all points.
    """

    suite: str
    # level, category, phenomenon, part, lexical_set, n (pairs in the set); a row for each set
    sets: pl.DataFrame
    points: pl.DataFrame  # the columns that name a point, and seeds (its number of runs)
    correct: np.ndarray  # sets x points: pairs judged right, summed over seeds

    def of(self, level: str) -> list[tuple[tuple[str, str], np.ndarray]]:
        """Return (category, phenomenon) and the row numbers of its sets, for each stratum."""
        rows = self.sets.with_row_index("row").filter(level=level)
        strata = rows.sort("category", "phenomenon", maintain_order=True).partition_by(
            "category", "phenomenon", as_dict=True, maintain_order=True
        )
        return [((c, p), members["row"].to_numpy()) for (c, p), members in strata.items()]


def half_t(sd: float, n: int) -> float:
    """Return half the width of a mean's 95% t interval.

    Args:
        sd: sample SD.
        n: observations, at least 2.
    """
    return float(stats.t.ppf(0.975, n - 1)) * sd / math.sqrt(n)


def wilson(correct: float, n: float) -> tuple[float, float]:
    """Return the 95% score interval of a share (Wilson 1927).

    Args:
        correct: items right; may be fractional because of ties (scipy's interval takes integers
            only).
        n: items, at least 1.
    """
    z = float(stats.norm.ppf(0.975))
    share, shrink = correct / n, 1 + z**2 / n
    middle = (share + z**2 / (2 * n)) / shrink
    half = z / shrink * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return max(0.0, middle - half), min(1.0, middle + half)


def bootstrap(sums: SetSums, *, replicates: int = REPLICATES) -> pl.DataFrame:
    """Return percentile intervals (95%) for every level of accuracy, lexical sets resampled.

    In each replicate, the sets of each phenomenon are drawn with replacement, each with all its
    pairs and seeds; those of each part of a phenomenon are drawn separately. A category's accuracy
    is that of all drawn pairs, ``overall`` is the mean of the categories and ``average`` the mean
    of the phenomena. The draws depend only on the seed and on the names of suite, category,
    phenomenon and part. So all points have the same draws: their differences are paired, and a
    point's interval does not depend on which other points are in the table.

    If all sets are right, or all wrong, so is every replicate, and the interval has no width. This
    does not mean that errors are impossible: with G sets, up to about 3/G of all sets may be
    different (the rule of three). With few sets the interval is too narrow, by about
    sqrt((G - 1) / G) and more in the tails.

    Args:
        sums: of one suite.
        replicates: number of replicates.

    Returns:
        The columns of a point (without seeds), suite, level (one of ``LEVELS`` and ``PARTS``),
        category, phenomenon, part, low, high (shares; null if a stratum has fewer than two sets).
    """
    names = sums.points.drop("seeds").with_columns(suite=pl.lit(sums.suite))
    frames = []
    for where, shares in _replicated(sums, replicates):
        low, high = np.quantile(shares, [0.025, 0.975], axis=0)
        frames.append(
            names.with_columns(
                *(pl.lit(value).alias(name) for name, value in where.items()),
                low=pl.Series(low, dtype=pl.Float64).fill_nan(None),
                high=pl.Series(high, dtype=pl.Float64).fill_nan(None),
            )
        )
    return pl.concat(frames)


def _replicated(sums: SetSums, replicates: int) -> Iterator[tuple[dict[str, str], np.ndarray]]:
    """Yield, for each level, its names and its bootstrap accuracies (replicates x points).

    Accuracies are NaN where a stratum has fewer than two sets.
    """
    order = sums.sets.with_row_index("row").sort("category", "phenomenon", "part", "lexical_set")
    seeds = sums.points["seeds"].to_numpy()
    of_category: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
    columns = ["level", "category", "phenomenon", "part"]
    for key, stratum in order.group_by(columns, maintain_order=True):
        level, category, phenomenon, part = map(str, key)
        names = [sums.suite, category, phenomenon, *filter(None, [part])]
        # Python's own hash of names differs between processes
        digest = hashlib.sha256("\0".join(names).encode()).digest()
        right, pairs = _resampled_sums(
            sums.correct[stratum["row"].to_numpy()],
            stratum["n"].to_numpy(),
            replicates,
            np.random.default_rng([SEED, *np.frombuffer(digest, dtype="<u4").tolist()]),
        )
        pairs = pairs * seeds
        yield dict(zip(columns, map(str, key), strict=True)), right / pairs
        if level == "phenomenon":
            of_category.setdefault(category, []).append((right, pairs))
    categories = {
        category: np.sum([right for right, _ in drawn], 0) / np.sum([n for _, n in drawn], 0)
        for category, drawn in of_category.items()
    }
    phenomena = [right / pairs for drawn in of_category.values() for right, pairs in drawn]
    empty = dict.fromkeys(columns, "")
    for category, shares in categories.items():
        yield empty | {"level": "category", "category": category}, shares
    yield empty | {"level": "overall"}, np.sum([*categories.values()], 0) / len(categories)
    yield empty | {"level": "average"}, np.sum(phenomena, 0) / len(phenomena)


def _resampled_sums(
    correct: np.ndarray, n: np.ndarray, replicates: int, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return right pairs (replicates x points) and all pairs (replicates x 1) of drawn sets.

    All are multiples of .5, whose sums are exact in floating point: the number of threads, and so
    the order of summation, does not change the result.
    """
    sets = len(n)
    right, pairs = np.full((replicates, correct.shape[1]), np.nan), np.full((replicates, 1), 1.0)
    if sets < 2:
        return right, pairs
    block = max(1, _MAX_WEIGHTS // sets)
    for start in range(0, replicates, block):
        rows = min(block, replicates - start)
        drawn = generator.integers(0, sets, (rows, sets)) + sets * np.arange(rows)[:, None]
        times = np.bincount(drawn.ravel(), minlength=rows * sets).reshape(rows, sets).astype(float)
        right[start : start + rows] = times @ correct
        pairs[start : start + rows, 0] = times @ n.astype(float)
    return right, pairs


def clustered(sets: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Return 95% intervals of accuracies, items clustered by lexical set.

    Args:
        sets: ``by``, lexical_set, correct, n: one row per lexical set, summed over seeds.
        by: the columns that name an accuracy, such as those of a point of the grid and phenomenon.

    Returns:
        ``by``, and half: half the width of the interval (share; null with fewer than two sets).
    """
    residual = pl.col("correct") - pl.col("n") * pl.col("correct").sum() / pl.col("n").sum()
    rows = (
        # Sums of floats depend on the order of rows: sort here, keep the order below.
        sets.sort(*by, "lexical_set")
        .with_columns(residual=residual.over(by) / pl.col("n").sum().over(by))
        .group_by(by, maintain_order=True)
        .agg(squares=(pl.col("residual") ** 2).sum(), sets=pl.len())
    )
    freedom = pl.col("sets") - 1
    quantile = pl.Series(stats.t.ppf(0.975, np.maximum(rows["sets"].to_numpy() - 1.0, 1)))
    # G/(G-1) corrects for the estimated mean; one set has no variance.
    half = (pl.col("squares") * pl.col("sets") / freedom).sqrt() * quantile
    return rows.select(*by, half=pl.when(freedom > 0).then(half))
