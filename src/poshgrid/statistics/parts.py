"""Below the phenomenon: templates and cells of a design, sets that are right as a whole."""

from __future__ import annotations

import numpy as np
import polars as pl
from scipy import stats

from poshgrid.statistics import tests
from poshgrid.statistics.intervals import SetSums, bootstrap

_NAMED = "\0"  # stands in no name
_KEY = ["category", "phenomenon"]


def divided(judged: pl.DataFrame, level: str) -> pl.DataFrame:
    """Return the rows of phenomena that have several templates (or cells), with ``part``."""
    several = pl.col(level).filter(pl.col(level) != "").n_unique().over(_KEY) > 1
    return judged.filter(several & (pl.col(level) != "")).with_columns(part=pl.col(level))


def by_part(sums: SetSums) -> pl.DataFrame:
    """Return bootstrap intervals of parts, each of whose sets are drawn anew within it.

    Args:
        sums: whose sets have a column ``part``.

    Returns:
        The columns of a point, suite, category, phenomenon, part, low, high.
    """
    named = sums.sets.with_columns(phenomenon=pl.concat_str("phenomenon", "part", separator=_NAMED))
    found = bootstrap(sums._replace(sets=named.drop("part")))
    split = pl.col("phenomenon").str.splitn(_NAMED, 2)
    return (
        found.filter(pl.col("level") == "phenomenon")
        .with_columns(part=split.struct.field("field_1"), phenomenon=split.struct.field("field_0"))
        .drop("level")
    )


def apart(sums: SetSums) -> pl.DataFrame:
    """Test whether a phenomenon's parts differ by more than their sets allow.

    A Wald test of equal shares, with the cluster-robust (linearised) covariance over lexical sets,
    which may have pairs in several parts. A part that is all right, or all wrong, has no variance:
    it gets that of one set more of either kind (Agresti & Coull 1998, The American Statistician
    52). Holm's correction over the phenomena of a model.

    Args:
        sums: whose sets have a column ``part``: a row for each set and part.

    Returns:
        The columns of a point, suite, category, phenomenon, p_apart.
    """
    names = sums.points.drop("seeds").with_columns(suite=pl.lit(sums.suite))
    seeds = sums.points["seeds"].to_numpy().astype(float)
    columns: list[list[float]] = [[] for _ in seeds]
    strata = sums.sets.with_row_index("row").sort(*_KEY, "part", "lexical_set")
    keys = []
    for key, members in strata.group_by(_KEY, maintain_order=True):
        keys.append(key)
        parts = members["part"].unique(maintain_order=True).to_list()
        at = members["part"].replace_strict({x: i for i, x in enumerate(parts)}).to_numpy()
        sets = members["lexical_set"].rank("dense").to_numpy().astype(int) - 1
        n = members["n"].to_numpy().astype(float)
        right = sums.correct[members["row"].to_numpy()] / seeds
        for i in range(len(seeds)):
            columns[i].append(wald(right[:, i], n, at, sets))
    found = []
    for i, column in enumerate(columns):
        corrected = tests.holm(column)
        found += [
            names[i].with_columns(category=pl.lit(c), phenomenon=pl.lit(p), p_apart=pl.lit(value))
            for (c, p), value in zip(keys, corrected, strict=True)
        ]
    return pl.concat(found)


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
