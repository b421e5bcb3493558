"""After how many words a phenomenon is first learned: over sizes, and in the course of training.

The onset is where the expected accuracy, over seeds, is first ``verdicts.MARGIN`` above the best
rival. A curve has a point for each size (each with its own models), or a point for each checkpoint
of the runs of one size.

The 95% interval (2.5% at each end) goes from the last point that is surely below to the first point
that is surely above. No model was trained in between, and no shape of the curve is assumed there:
where a curve bends late, a straight or a logistic line through two points would put the onset too
early. Each end depends on one test, at the point next to the onset; the tests at other points add
little to its error (measured by ``perf/onset_recovery.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from poshgrid.config.runs import REFERENCE
from poshgrid.config.specs import Cell
from poshgrid.statistics import verdicts
from poshgrid.statistics.schema import CANNOT_TELL, DEVELOPMENT, NOT_TESTABLE, RATIOS, RUN_AXES
from poshgrid.statistics.verdicts import COIN, MARGIN, Comparison, Variance

SIZES, CHECKPOINTS = "sizes", "checkpoints"
SLACK = 1.01
"""A curve is surely earlier if the upper end of its ratio is at most this. It is not 1 because
conditions of one size differ by a few words."""
CURVE = ["over", *RUN_AXES, "suite", "category", "phenomenon"]
"""The columns that identify a curve."""


def points(accuracy: pl.DataFrame, curves: pl.DataFrame, counts: pl.DataFrame) -> pl.DataFrame:
    """Return the points of all curves, sorted by words.

    The words seen at a checkpoint are the passes over the text times its words. The rival of a
    checkpoint is the rival of the finished runs of the same size.

    Args:
        accuracy: columns of ``ACCURACY``.
        curves: from :func:`poshgrid.statistics.curves.over_seeds`.
        counts: columns of ``COUNTS``.

    Returns:
        ``CURVE``, words, tested (whether the pairs can test the phenomenon), and the difference in
        accuracy to the rival: above, low, high (95% interval; null: not known). In curves over
        sizes, size is "", and model lists the models of all sizes if each size has one.
    """
    rows = accuracy.filter(
        ~pl.col("recipe").is_in(REFERENCE), pl.col("rival_mean").is_not_null(),
        pl.col("words") > 0, level="phenomenon",
    )  # fmt: skip
    cell = ["condition", "size", "recipe", "bias"]
    model = pl.col("model")
    if rows.select(*cell, "model").n_unique() == rows.select(cell).n_unique():
        model = model.sort_by("words").unique(maintain_order=True).str.join(", ")
        model = model.over("condition", "recipe", "bias")
    rows = rows.with_columns(tested=pl.col("learned").ne_missing(NOT_TESTABLE))
    sizes = rows.with_columns(
        model=model, over=pl.lit(SIZES), size=pl.lit(""), above="above_rival",
        low="above_rival_low", high="above_rival_high",
    )  # fmt: skip
    key = [name for name in CURVE if name != "over"]
    steps = (
        curves.filter(~pl.col("kept"), pl.col("step") > 0, level="phenomenon")
        .filter(pl.col("n_seeds") == pl.col("n_seeds").max().over(key))
        .join(rows.select(*key, "words", "rival", "rival_mean", "tested"), on=key)
        .with_columns(over=pl.lit(CHECKPOINTS), words=pl.col("words") * pl.col("epoch"))
    )
    columns = ["words", "above", "low", "high"]
    both = [
        frame.select(*CURVE, pl.col(columns).cast(pl.Float64), "tested")
        for frame in (sizes, _with_intervals(steps, counts))
    ]
    several = pl.col("words").n_unique().over(CURVE) > 1
    return pl.concat(both).filter(several).sort(*CURVE, "words")


def _with_intervals(steps: pl.DataFrame, counts: pl.DataFrame) -> pl.DataFrame:
    """Add the difference in accuracy between checkpoints and their rivals: above, low, high.

    Two things are assumed, because tables of checkpoints have no lexical sets and one line for all
    seeds: seeds vary as much (in log odds) as with the kept weights, and each pair is a lexical set
    of its own.
    """
    trained = counts.filter(~pl.col("recipe").is_in(REFERENCE))
    of_suites = {
        suite: verdicts.spreads(
            trained.filter(suite=suite),
            {(c, p): n for c, p, n in own.select("category", "phenomenon", "pairs").iter_rows()},
        )
        for (suite,), own in steps.group_by("suite", maintain_order=True)
    }
    distances = []
    for row in steps.iter_rows(named=True):
        mean, rival, pairs = row["mean"], row["rival_mean"], row["pairs"]
        low, high = None, None
        if spread := of_suites[row["suite"]].get((row["category"], row["phenomenon"])):
            shrunk = (mean * pairs + 1) / (pairs + 2)
            of_rival = 0.0 if row["rival"] == COIN else rival * (1 - rival)
            sets = Variance((shrunk * (1 - shrunk) + of_rival) / pairs, max(pairs - 1, 1))
            seeds = [spread.of_mean(row["n_seeds"])]
            low, high = Comparison(rival, mean - rival, sets, seeds).interval()
        distances.append((mean - rival, low, high))
    schema = dict.fromkeys(("above", "low", "high"), pl.Float64)
    return pl.concat([steps, pl.DataFrame(distances, schema, orient="row")], how="horizontal")


def onsets(points: pl.DataFrame) -> pl.DataFrame:
    """Return when each phenomenon is first learned (``DEVELOPMENT``).

    Args:
        points: from :func:`points`.
    """
    tested = pl.col("tested")
    # A rival that is right on nearly all pairs leaves no room to be above it
    points = points.with_columns(pl.when(tested).then(pl.col("above", "low", "high")))
    words, above, x = pl.col("words"), pl.col("above") - MARGIN, pl.col("words").log()
    below, surely = pl.col("high") < MARGIN, pl.col("low") > MARGIN
    before = surely.cast(pl.Int8).cum_max() == 1  # surely above here or at an earlier point
    run, rise = ((value - value.shift()).over(CURVE) for value in (x, above))
    rows = (
        points.with_columns(crossed=(x - above / rise * run).exp())
        .group_by(CURVE, maintain_order=True)
        .agg(
            points=pl.len(),
            first=words.first(),
            last=words.last(),
            onset=pl.col("crossed").filter(above > 0).first(),
            low=words.filter(below & ~before).last(),
            high=words.filter(surely).first(),
            testable=tested.any(),
            turns=(below & before).any(),
        )
    )
    low, high = pl.col("low").is_not_null(), pl.col("high").is_not_null()
    status = (
        pl.when(~pl.col("testable")).then(pl.lit(NOT_TESTABLE))
        .when("turns").then(pl.lit("turns back"))
        .when(low & high).then(pl.lit("within"))
        .when(high).then(pl.lit("by"))
        .when(low).then(pl.lit("after"))
        .otherwise(pl.lit(CANNOT_TELL))
    )  # fmt: skip
    ends = pl.when("testable").then(pl.col("onset", "low", "high"))
    return (
        rows.with_columns(ends, status=status)
        .select(list(DEVELOPMENT))
        .cast(pl.Schema(DEVELOPMENT))
    )


def ratios(onsets: pl.DataFrame, cells: Mapping[str, Cell]) -> pl.DataFrame:
    """Compare filtered with unfiltered conditions of a corpus, and unfiltered ones of two corpora.

    Phenomena that cannot be tested in one of the two are left out.

    Args:
        onsets: columns of ``DEVELOPMENT``.
        cells: "condition/size" -> its corpus, and whether evidence was removed from it.

    Returns:
        Columns of ``RATIOS``.
    """
    # A condition that is filtered at some sizes counts as filtered
    by_filtered = sorted(cells.items(), key=lambda item: item[1].filtered)
    facts = {key.split("/")[0]: cell for key, cell in by_filtered}
    alike = [name for name in CURVE if name != "condition"]
    testable = onsets.filter(pl.col("status") != NOT_TESTABLE)
    compared = [
        {**one, "than": other["condition"], **ratio(one, other)}
        for curve in testable.partition_by(alike, maintain_order=True)
        for one in curve.to_dicts()
        for other in curve.to_dicts()
        if _are_compared(facts.get(one["condition"]), facts.get(other["condition"]))
    ]
    return pl.DataFrame([{name: row[name] for name in RATIOS} for row in compared], schema=RATIOS)


def _are_compared(one: Cell | None, other: Cell | None) -> bool:
    """Return whether one condition is compared with the other: see :func:`ratios`."""
    if one is None or other is None or other.filtered:
        return False
    other_corpus = one.source > other.source and not one.filtered
    return other_corpus or (one.filtered and one.source == other.source)


def ratio(one: dict[str, Any], other: dict[str, Any]) -> dict[str, float | None]:
    """Return how many words one curve needs for each word of another: ratio, low, high.

    Args:
        one: a row of ``DEVELOPMENT``.
        other: another row.

    Returns:
        Values that are not known are None.
    """
    ends = {"ratio": ("onset", "onset"), "low": ("low", "high"), "high": ("high", "low")}
    return {
        name: one[a] / other[b] if one[a] and other[b] else None for name, (a, b) in ends.items()
    }
