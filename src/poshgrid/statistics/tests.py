"""Tests of accuracy: against 50% (chi-square, Fisher, Holm), and of templates with each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from scipy import stats

from poshgrid.statistics.intervals import SetSums
from poshgrid.statistics.schema import RUN_AXES

CHANCE = 0.5


def chi_square(correct: float, n: float) -> float:
    """Return the two-sided p of a chi-square goodness-of-fit test against 50% (paper, Table 3).

    Args:
        correct: pairs judged right; may be fractional (a tie is half).
        n: pairs, at least 1.
    """
    expected = n * CHANCE
    return float(stats.chisquare([correct, n - correct], [expected, expected]).pvalue)


def combine_seeds(correct: Sequence[float], n: Sequence[float]) -> float:
    """Return the Fisher-combined p of one chi-square test per seed.

    Two seeds on opposite sides of 50% are evidence of two different things, which Fisher's method
    would add up: such a cell gets p = 1.

    Args:
        correct: pairs judged right by each seed.
        n: pairs judged by each seed.
    """
    above = any(c > CHANCE * m for c, m in zip(correct, n, strict=True))
    below = any(c < CHANCE * m for c, m in zip(correct, n, strict=True))
    if above and below:
        return 1.0
    p_values = [chi_square(c, m) for c, m in zip(correct, n, strict=True)]
    # A p value that underflows to 0 would make the logarithm infinite.
    return float(stats.combine_pvalues(np.maximum(p_values, np.finfo(float).tiny)).pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values corrected by Holm's step-down method, in the order given."""
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(stepped, 1.0)
    return corrected.tolist()


def stars(p: float | None) -> str:
    """Return the paper's marks: ``*`` p < .05, ``**`` p < .01, ``***`` p < .001."""
    if p is None:
        return ""
    return "*" * sum(p < bound for bound in (0.05, 0.01, 0.001))


def apart(sums: SetSums) -> pl.DataFrame:
    """Test whether a phenomenon's templates differ by more than their sets allow.

    A Wald test of equal shares, with the cluster-robust (linearised) covariance over lexical sets,
    which may have pairs in several templates. A template that is all right, or all wrong, has no
    variance: it gets that of one set more of either kind (Agresti & Coull 1998, The American
    Statistician 52). Holm's correction over the phenomena of a model.

    Returns:
        ``RUN_AXES``, suite, level (phenomenon), category, phenomenon, part (none), p_apart.
    """
    keys, strata = [], []
    seeds = sums.points["seeds"].to_numpy()
    for key, rows in sums.of("template"):
        members = sums.sets[rows].with_columns(
            pl.col("part", "lexical_set").rank("dense").cast(pl.Int64) - 1
        )
        n, part, sets = (members[name].to_numpy() for name in ("n", "part", "lexical_set"))
        right = sums.correct[rows] / seeds
        keys.append(key)
        strata.append([wald(column, n.astype(float), part, sets) for column in right.T])
    found = [
        (*(point[axis] for axis in RUN_AXES), sums.suite, "phenomenon", *key, "", p)
        for i, point in enumerate(sums.points.iter_rows(named=True))
        for key, p in zip(keys, holm([of_points[i] for of_points in strata]), strict=True)
    ]
    names = (*RUN_AXES, "suite", "level", "category", "phenomenon", "part")
    schema = {**dict.fromkeys(names, pl.String), "p_apart": pl.Float64}
    return pl.DataFrame(found, schema=schema, orient="row")


def wald(right: np.ndarray, n: np.ndarray, part: np.ndarray, sets: np.ndarray) -> float:
    """Return the p value of equal shares in all parts.

    Args:
        right: pairs right, for each set and part.
        n: pairs there.
        part: code of the part, 0 to their number less one.
        sets: code of the set, likewise.
    """
    count, clusters = int(part.max()) + 1, int(sets.max()) + 1
    total = np.bincount(part, n, minlength=count)
    share = np.bincount(part, right, minlength=count) / total
    residual = np.zeros((clusters, count))
    np.add.at(residual, (sets, part), (right - n * share[part]) / total[part])
    # Each part has its own number of sets.
    of_part = np.array([len(np.unique(sets[part == i])) for i in range(count)], dtype=float)
    grown = np.sqrt(of_part / np.maximum(of_part - 1, 1))
    covariance = (residual.T @ residual) * np.outer(grown, grown)
    shrunk = (share * of_part + 1) / (of_part + 2)
    least = shrunk * (1 - shrunk) / (of_part + 2)
    bare = np.flatnonzero((share == 0) | (share == 1) | (of_part < 2))
    covariance[bare, bare] = least[bare]
    contrast = np.eye(count)[1:] - np.eye(count)[0]
    difference = contrast @ share
    inner = contrast @ covariance @ contrast.T
    statistic = float(difference @ np.linalg.pinv(inner, hermitian=True) @ difference)
    return float(stats.chi2.sf(statistic, np.linalg.matrix_rank(inner, hermitian=True)))
