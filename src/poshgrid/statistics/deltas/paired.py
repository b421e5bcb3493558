"""Paired comparisons of models, biases and recipes: t tests and correlations (FiCT, 5.1-5.4)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from poshgrid.statistics.schema import DELTA_TESTS, RUN_AXES

if TYPE_CHECKING:
    from poshgrid.statistics.deltas.differences import Judged

COMPARED = ("model", "bias", "recipe")
_SAME = 1e-9
"""Values that differ by less than this, relative to the largest, are equal but for rounding."""


def tests(
    rows: pl.DataFrame, judged: Judged, full: set[str], perplexity: pl.DataFrame
) -> pl.DataFrame:
    """Compare models, biases and recipes with each other, all else equal (``DELTA_TESTS``).

    Each measure pairs the means over seeds of:

    - ``accuracy`` (mean of a suite's phenomena), ``perplexity``, and ``suite perplexity`` (of a
      suite's good members; FiCT, Figure 3): the conditions, full ones included
    - ``corpus delta`` (of the mean of all phenomena): the conditions, full ones included with a
      delta of 0, as the 16 corpora of section 5.3
    - ``targeted accuracy`` (5.2) and ``targeted delta``: the conditions; phenomena that filters
      are aimed at are averaged first
    - ``delta``: the conditions and phenomena
    - ``targeted margin delta`` and ``targeted r``: the conditions and the phenomena that their
      filters are aimed at
    - ``margin``: the phenomena, full models only

    Args:
        rows: columns of ``DELTAS``.
        judged: the judgements that the rows were computed from.
        full: conditions without filters.
        perplexity: columns of ``PERPLEXITY``.
    """
    phenomena = rows.filter(pl.col("level") == "phenomenon")
    aimed = phenomena.filter("targeted")
    point, phenomenon = [*RUN_AXES, "suite"], ["category", "phenomenon"]
    average = judged.accuracy.filter(pl.col("level") == "average").sort("seed")
    measures: dict[str, tuple[pl.DataFrame, list[str]]] = {
        "accuracy": (average.group_by(point).agg(value=pl.col("accuracy").mean()), []),
        "delta": (phenomena.with_columns(value="delta"), phenomenon),
        "corpus delta": (_corpora(rows, average, full), []),
        "targeted accuracy": (
            aimed.group_by(point).agg(value=pl.col("accuracy").sort().mean()),
            [],
        ),
        "targeted delta": (aimed.group_by(point).agg(value=pl.col("delta").sort().mean()), []),
        "margin": (_full_margins(judged, full), phenomenon),
        "targeted margin delta": (
            aimed.with_columns(value=pl.col("margin") - pl.col("margin_full")),
            phenomenon,
        ),
        "targeted r": (aimed.with_columns(value="r"), phenomenon),
        "suite perplexity": (judged.perplexity, []),
        "perplexity": (
            perplexity.sort("seed")
            .group_by(RUN_AXES)
            .agg(value=pl.col("perplexity").mean())
            .with_columns(suite=pl.lit("")),
            [],
        ),
    }
    compared = [
        {"measure": measure, **line}
        for measure, (values, unit) in measures.items()
        for line in _comparisons(values, unit)
    ]
    return pl.DataFrame(compared, schema=DELTA_TESTS)


def _corpora(rows: pl.DataFrame, average: pl.DataFrame, full: set[str]) -> pl.DataFrame:
    """Return the delta of the mean of all phenomena by condition: 0 for a full one."""
    point = [*RUN_AXES, "suite"]
    nothing = average.filter(pl.col("condition").is_in(full)).select(point).unique()
    return pl.concat(
        [
            rows.filter(pl.col("level") == "average").select(*point, value="delta"),
            nothing.with_columns(value=pl.lit(0.0)),
        ]
    )


def _comparisons(values: pl.DataFrame, unit: list[str]) -> Iterator[dict[str, Any]]:
    """Compare every two values of every axis; paired rows are the same in all other columns.

    Args:
        values: ``RUN_AXES``, suite, the columns of the unit, and value.
        unit: columns besides the axes whose values must be the same in a pair, such as the
            phenomenon.
    """
    known = values.filter(pl.col("value").is_finite().fill_null(value=False))
    for suite, axis in itertools.product(sorted(known["suite"].unique()), COMPARED):
        mine = known.filter(pl.col("suite") == suite)
        # "none", the absence of a bias, comes first
        levels = sorted(mine[axis].unique(), key=lambda level: (level != "none", level))
        on = [*(other for other in RUN_AXES if other != axis), *unit]
        for first, second in itertools.combinations(levels, 2):
            one, two = (
                mine.filter(pl.col(axis) == v).select(*on, "value") for v in (first, second)
            )
            both = one.join(two, on=on, suffix="_second").sort(on)
            if both.is_empty():
                continue
            a, b = (both[name].to_numpy() for name in ("value", "value_second"))
            yield {
                "suite": suite,
                "axis": axis,
                "first": first,
                "second": second,
                "pairs": len(a),
                "mean_first": float(a.mean()),
                "mean_second": float(b.mean()),
                **paired_t(a, b),
                "r": correlation(a, b),
            }


def paired_t(first: np.ndarray, second: np.ndarray) -> dict[str, Any]:
    """Return t, df and the two-sided p of a paired t test of first minus second.

    All are None with fewer than two pairs, and where all differences are equal (t would be a
    division by zero).
    """
    from scipy import stats

    if len(first) < 2 or _constant(first - second, np.concatenate([first, second])):
        return {"t": None, "df": None, "p": None}
    test = stats.ttest_rel(first, second)
    return {"t": float(test.statistic), "df": int(test.df), "p": float(test.pvalue)}


def correlation(first: np.ndarray, second: np.ndarray) -> float | None:
    """Return Pearson's r; None without variance or with fewer than three pairs (|r| would be 1)."""
    from scipy import stats

    if len(first) < 3 or _constant(first, first) or _constant(second, second):
        return None
    return float(stats.pearsonr(first, second).statistic)


def _constant(values: np.ndarray, scale: np.ndarray) -> bool:
    return bool(np.ptp(values) <= _SAME * np.abs(scale).max())


def _full_margins(judged: Judged, full: set[str]) -> pl.DataFrame:
    """Return the mean margin of the full models by phenomenon, in the column ``value``."""
    rows = [
        (*point, suite, *phenomenon, float(margins[units].mean()))
        for suite, of_suite in judged.margins.items()
        for phenomenon, units in judged.phenomena(suite)
        for point, margins in of_suite.items()
        if point[0] in full
    ]
    names = (*RUN_AXES, "suite", "category", "phenomenon")
    schema = {**dict.fromkeys(names, pl.String), "value": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")
