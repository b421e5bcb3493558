"""The effects of filtering: the measures of FiCT, for every filtered condition and suite.

Patil et al., "Filtered Corpus Training (FiCT) Shows that Language Models Can Generalize from
Indirect Evidence": accuracy deltas (equation 1), probability deltas (equation 2), their
correlations (section 5.4), perplexity of unfiltered text (5.1) and paired t tests.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from poshgrid.benchmark.reading.table10 import key
from poshgrid.config.specs import DeltasSpec
from poshgrid.core import files, formats, logs
from poshgrid.evaluation.schema import SCORES
from poshgrid.statistics import levels, tally
from poshgrid.statistics.schema import DELTA_TESTS, DELTAS, PERPLEXITY, RUN_AXES

COMPARED = ("model", "bias", "recipe")
"""The axes whose values are compared with each other."""
_MEASURED = [name for name in PERPLEXITY if name not in (*RUN_AXES, "seed")]
_LEVEL_KEY = ["suite", "level", "category", "phenomenon"]
_SHARED_AXES = RUN_AXES[1:]  # a filtered model and its full ones are the same in these
MARGINS = {
    **dict.fromkeys((*RUN_AXES, *_LEVEL_KEY), pl.String),
    **dict.fromkeys(("margin", "margin_full", "r"), pl.Float64),
}
"""One row per filtered point that has a full point, suite and phenomenon. margin and margin_full:
the mean of log P(good) - log P(bad), in nats, of scores averaged over seeds pair by pair (FiCT,
equation 2); r: Pearson's correlation of the pairs' margins (section 5.4)."""
OF_SUITES = {**dict.fromkeys((*RUN_AXES, "suite"), pl.String), "value": pl.Float64}
"""exp(nats per token) of a suite's good members, a row for each run whose perplexity on unfiltered
text is measured, too."""
_SAME = 1e-9
"""Values that differ by less than this, relative to the largest, are equal but for rounding."""

log = logs.get(__name__)


def deltas(
    spec: DeltasSpec,
    scores: Path,
    items: dict[str, Path],
    perplexity: dict[str, Path],
    output: Path,
) -> dict[str, Any]:
    """Compare filtered models with full models that are otherwise alike.

    A full model is trained on the same corpus without filters. The weights that training kept are
    judged. ``scoring.reduction`` decides judgements; margins are always differences of sums of
    log-probabilities, as in FiCT.

    Args:
        spec: the runs, the full condition of each filtered one, and the phenomena that filters are
            aimed at.
        scores: folder of score files: ``{run}/{suite}.parquet`` below it.
        items: suite -> its table of pairs.
        perplexity: run -> output of the stage ``perplexity``; a run may have none.
        output: folder for deltas, delta_tests and perplexity (.parquet, .csv).

    Returns:
        Number of tests; ``alone``: filtered points that have no row, because no full model is
        otherwise alike.

    Raises:
        PoshgridError: see :func:`judgements.judged`; a perplexity is missing or broken.
    """
    output, scores = Path(output), Path(scores)
    runs = {name: levels.axes(name) for name in sorted(levels.trained(spec.runs))}
    counts, tallies = tally.count(runs, scores, items, spec.scoring)
    accuracy = levels.by_level(counts, [*RUN_AXES, "seed", "suite"])
    margins = [
        {"suite": suite, **row}
        for suite, of_suite in tallies.items()
        for row in _margins(of_suite, spec.full)
    ]
    rows = differences(accuracy, pl.DataFrame(margins, schema=MARGINS), spec)
    unfiltered = _perplexities(perplexity)
    nats = [
        (*(axes[axis] for axis in RUN_AXES), suite, _perplexity(scores / name / f"{suite}.parquet"))
        for suite in tallies
        for name, axes in runs.items()
        if name in spec.perplexity
    ]
    of_suites = pl.DataFrame(nats, schema=OF_SUITES, orient="row")
    compared = tests(rows, accuracy, set(spec.full.values()), unfiltered, of_suites)
    points = set(accuracy.select(RUN_AXES).iter_rows())
    alone = sorted(
        "/".join(point)
        for point in points
        if point[0] in spec.full and (spec.full[point[0]], *point[1:]) not in points
    )
    for point in alone:
        log.warning("%s: no models of the full corpus that are otherwise alike; left out", point)
    formats.write(rows, output, "deltas", DELTAS)
    formats.write(compared, output, "delta_tests", DELTA_TESTS)
    formats.write(unfiltered, output, "perplexity", PERPLEXITY)
    return {"tests": compared.height, "alone": alone}


def _perplexities(paths: dict[str, Path]) -> pl.DataFrame:
    """Return the perplexities of runs (``PERPLEXITY``), sorted by condition, words and the rest."""
    rows = []
    for run, path in paths.items():
        facts = files.read_json(path)
        with files.written_by_stage(path):
            rows.append({**levels.axes(run), **{key: facts[key] for key in _MEASURED}})
    return levels.ordered(pl.DataFrame(rows, schema=PERPLEXITY, strict=False), "seed")


def _margins(of_suite: tally.Tally, full: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield margins and their correlation, for filtered points that have a full point."""
    key = ["category", "phenomenon"]
    units = of_suite.units.select(key).with_row_index("unit").group_by(key).agg("unit").sort(key)
    points = of_suite.sums.points
    means = of_suite.margins / points["seeds"].to_numpy()
    margins = dict(zip(points.select(RUN_AXES).iter_rows(), means.T, strict=True))
    for point, filtered in margins.items():
        unfiltered = margins.get((full.get(point[0], ""), *point[1:]))
        if unfiltered is None:
            continue
        for category, phenomenon, rows in units.iter_rows():
            after, before = filtered[rows], unfiltered[rows]
            yield {
                **dict(zip(RUN_AXES, point, strict=True)), "level": "phenomenon",
                "category": category, "phenomenon": phenomenon, "margin": float(after.mean()),
                "margin_full": float(before.mean()), "r": correlation(before, after),
            }  # fmt: skip


def _perplexity(path: Path) -> float:
    """Return exp(nats per token) of the good members in a score file."""
    kept = files.read_table(path, SCORES).filter(pl.col("step").is_null()).sort("item_id")
    nats, tokens = math.fsum(kept["good_logprob"]), sum(kept["good_tokens"])
    return math.exp(-nats / tokens)


def differences(accuracy: pl.DataFrame, margins: pl.DataFrame, spec: DeltasSpec) -> pl.DataFrame:
    """Return the table of deltas (``DELTAS``).

    The mean accuracy of the filtered models over seeds is compared with that of the full models of
    the same size, model, recipe and bias (FiCT, equation 1).

    Args:
        accuracy: one row per run, suite and level: see :func:`levels.by_level`.
        margins: columns of ``MARGINS``.
        spec: the full condition of each filtered one, and the phenomena that filters are aimed at.
    """
    by_point = levels.over_seeds(accuracy, [*RUN_AXES, *_LEVEL_KEY])
    # The delta subtracts a constant, which does not change the SD
    by_point = by_point.rename({"mean": "accuracy", "sd": "delta_sd"})
    full = by_point.select(
        *_SHARED_AXES, *_LEVEL_KEY,
        full="condition", accuracy_full="accuracy", n_seeds_full="n_seeds",
    )  # fmt: skip
    names = dict.fromkeys(("condition", "full"), pl.String)
    against = pl.DataFrame(sorted(spec.full.items()), schema=names, orient="row")
    aims = {(c, key(name)) for c, names in spec.targets.items() for name in names}
    targeted = pl.struct("condition", "phenomenon").map_elements(
        lambda row: (row["condition"], key(row["phenomenon"])) in aims, return_dtype=pl.Boolean
    )
    rows = (
        by_point.join(against, on="condition")
        .join(full, on=["full", *_SHARED_AXES, *_LEVEL_KEY])
        .join(margins, on=[*RUN_AXES, *_LEVEL_KEY], how="left")
        .with_columns(
            delta=pl.col("accuracy") - pl.col("accuracy_full"),
            targeted=targeted if by_point.height else pl.lit(value=False),
        )
        .select(list(DELTAS))
        .cast(pl.Schema(DELTAS))
    )
    return levels.ordered(rows, "suite", levels.rank(), "category", "phenomenon")


def by_condition(rows: pl.DataFrame) -> pl.DataFrame:
    """Return averages within each condition: one row for each filtered point and suite.

    Average these rows to get an average over conditions: a filter that is aimed at four phenomena
    then has the same weight as one that is aimed at a single phenomenon.

    Args:
        rows: columns of ``DELTAS``.

    Returns:
        ``RUN_AXES``, full, suite; targets (number of phenomena that the condition's filters are
        aimed at) and means over them: targeted (accuracy delta), margin_full, margin, r; every and
        every_sd: delta and SD of the mean of all phenomena.
    """
    point = [*RUN_AXES, "full", "suite"]
    aimed = (pl.col("level") == "phenomenon") & pl.col("targeted")
    every = rows.filter(pl.col("level") == "average").select(
        *point, every="delta", every_sd="delta_sd"
    )
    within = (
        rows.filter(aimed)
        .group_by(point, maintain_order=True)
        .agg(
            targets=pl.len().cast(pl.UInt32),
            targeted=pl.col("delta").mean(),
            margin_full=pl.col("margin_full").mean(),
            margin=pl.col("margin").mean(),
            r=pl.col("r").mean(),
        )
    )
    means = pl.col("targets", "targeted", "margin_full", "margin", "r")
    both = every.join(within, on=point, how="left", maintain_order="left")
    return both.with_columns(pl.col("targets").fill_null(0)).select(
        *point, means, "every", "every_sd"
    )


# ---- paired comparisons --------------------------------------------------------------------------


def tests(
    rows: pl.DataFrame,
    accuracy: pl.DataFrame,
    full: set[str],
    perplexity: pl.DataFrame,
    of_suites: pl.DataFrame,
) -> pl.DataFrame:
    """Compare models, biases and recipes with each other, all else equal (``DELTA_TESTS``).

    Each measure pairs the means over seeds of the conditions, at the same size and so on:

    - ``accuracy`` (mean of a suite's phenomena), ``perplexity``, and ``suite perplexity`` (of a
      suite's good members; FiCT, Figure 3): full conditions are included
    - ``corpus delta`` (of the mean of all phenomena): full conditions are included with a delta of
      0, as the 16 corpora of section 5.3
    - ``targeted accuracy`` (5.2) and ``targeted delta``: phenomena that filters are aimed at are
      averaged first
    - ``targeted margin delta``: a pair is a condition and a phenomenon that its filters are aimed
      at

    Args:
        rows: columns of ``DELTAS``.
        accuracy: the accuracies that the rows were computed from.
        full: conditions without filters.
        perplexity: columns of ``PERPLEXITY``.
        of_suites: columns of ``OF_SUITES``.
    """
    aimed = rows.filter("targeted", level="phenomenon")
    point = [*RUN_AXES, "suite"]
    average = levels.over_seeds(accuracy.filter(level="average"), point)
    whole = rows.filter(level="average").select(*point, value="delta")
    unfiltered = accuracy.filter(pl.col("condition").is_in(full)).select(point).unique()
    measures = {
        "accuracy": average.select(*point, value="mean"),
        "corpus delta": pl.concat([whole, unfiltered.with_columns(value=pl.lit(0.0))]),
        "targeted accuracy": aimed.group_by(point).agg(value=pl.col("accuracy").sort().mean()),
        "targeted delta": aimed.group_by(point).agg(value=pl.col("delta").sort().mean()),
        "targeted margin delta": aimed.select(
            *point, "category", "phenomenon", value=pl.col("margin") - pl.col("margin_full")
        ),
        "suite perplexity": of_suites.group_by(point, maintain_order=True).agg(pl.mean("value")),
        "perplexity": levels.over_seeds(perplexity, RUN_AXES, "perplexity").select(
            *RUN_AXES, value="mean", suite=pl.lit("")
        ),
    }
    compared = [
        {"measure": measure, **line}
        for measure, values in measures.items()
        for line in _comparisons(values)
    ]
    return pl.DataFrame(compared, schema=DELTA_TESTS)


def _comparisons(values: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Compare every two values of every axis; paired rows are the same in all other columns.

    Args:
        values: ``RUN_AXES``, suite, value, and further columns that name what is paired.
    """
    known = values.filter(pl.col("value").is_finite().fill_null(value=False))
    for suite, axis in itertools.product(sorted(known["suite"].unique()), COMPARED):
        mine = known.filter(pl.col("suite") == suite)
        # "none", the absence of a bias, comes first
        names = sorted(mine[axis].unique(), key=lambda name: (name != "none", name))
        on = [name for name in mine.columns if name not in (axis, "suite", "value")]
        for first, second in itertools.combinations(names, 2):
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
    if len(first) < 2 or _constant(first - second, np.concatenate([first, second])):
        return {"t": None, "df": None, "p": None}
    test = stats.ttest_rel(first, second)
    return {"t": float(test.statistic), "df": int(test.df), "p": float(test.pvalue)}


def correlation(first: np.ndarray, second: np.ndarray) -> float | None:
    """Return Pearson's r; None without variance or with fewer than three pairs (|r| would be 1)."""
    if len(first) < 3 or _constant(first, first) or _constant(second, second):
        return None
    return float(stats.pearsonr(first, second).statistic)


def _constant(values: np.ndarray, scale: np.ndarray) -> bool:
    return bool(np.ptp(values) <= _SAME * np.abs(scale).max())
