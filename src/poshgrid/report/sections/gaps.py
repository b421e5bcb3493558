"""Sets of filler x gap: how often a gap is less surprising after a filler that licenses it.

The figure is Figure 1 of Pistotti, Brown & Witbrock (2025): for each data set, the share of sets
with a positive delta after a filler, and that with a positive difference in differences, with 95%
intervals.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import polars as pl

from poshgrid.config.runs import BASELINE_RECIPES
from poshgrid.report import figures
from poshgrid.report.accuracies import BASELINE_NAMES
from poshgrid.report.layout import model_names
from poshgrid.report.parts import Page
from poshgrid.report.texts import say
from poshgrid.statistics.schema import RUN_AXES

TITLE, ORDER, AUDIENCE = "Filler and gap", 125, "reader"
CRITERIA = {
    "delta_plus_filler": "A gap is expected after a filler (delta > 0)",
    "did": "More so than without a filler (DiD > 0)",
}
"""Measure of Figure 1 -> its criterion: when a set counts."""
SHORT = {"delta_plus_filler": "delta > 0", "did": "DiD > 0"}


def write(page: Page) -> dict[str, Any] | None:
    """Write the figure and its table; None without a suite of filler x gap."""
    measured = page.collected.spec.measured
    frames = [frame for suite, frame in page.collected.measures.items()
              if measured[suite] == "paradigms"]  # fmt: skip
    if not frames:
        return None
    rows = shares(pl.concat(frames))
    draw = partial(figures.rows, label="Sets (%)", percent=True, columns=2)
    page.picture("filler-gap", draw, marks(rows), say("filler_gap"))
    page.table("filler-gap", table(rows), caption=say("filler_gap_table"))
    return {"counts": above(rows)}


def above(rows: pl.DataFrame) -> list[tuple[Any, ...]]:
    """Count the runs whose difference in differences is above every baseline's, by data set.

    Args:
        rows: what :func:`shares` returns.

    Returns:
        Data set, number of runs that are clearly above, number of runs; empty without baselines.
    """
    did = rows.filter(measure="did")
    rivals = did.filter("baseline").group_by("sets").agg(rival=pl.col("accuracy").max())
    runs = did.filter(~pl.col("baseline")).join(rivals, on="sets", maintain_order="left")
    clear = (pl.col("low") > pl.col("rival")).sum()
    return runs.group_by("sets", maintain_order=True).agg(clear, runs=pl.len()).rows()


def shares(measures: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each criterion, data set and run.

    A suite in which some sets are ambiguous is two data sets, with and without these sets.

    Args:
        measures: columns of ``PARADIGM_MEASURES``.

    Returns:
        The same columns, ``sets`` (name of the data set), ``series`` (name of the model) and
        ``baseline``.
    """
    of = (*RUN_AXES, "seed", "suite", "phenomenon", "measure")
    # The unambiguous sets are a data set only if they are fewer than all sets
    clear = (pl.col("subset") == "unambiguous") & (pl.col("n") < pl.col("n").max().over(of))
    everything = pl.col("subset") == "all"
    runs = measures.filter(everything | clear, pl.col("measure").is_in(list(CRITERIA)))
    alone = pl.col("phenomenon").n_unique().over("suite") == 1
    name = pl.when(alone).then("suite").otherwise(pl.format("{}: {}", "suite", "phenomenon"))
    rank = pl.col("measure").replace_strict({measure: i for i, measure in enumerate(CRITERIA)})
    baseline = pl.col("recipe").is_in(BASELINE_RECIPES)
    return runs.with_columns(
        pl.Series("series", model_names(runs), pl.String),
        sets=pl.when(everything).then(name).otherwise(pl.format("{}, unambiguous", name)),
        baseline=baseline,
    ).with_columns(
        series=pl.when(baseline).then(pl.col("series").replace(BASELINE_NAMES)).otherwise("series")
    ).sort(rank, "baseline", "series", "seed", maintain_order=True)  # fmt: skip


def marks(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the data of Figure 1 (:data:`poshgrid.report.figures.ROWS`): a row per data set.

    All seeds of a model are in one lane.
    """
    percent = pl.col("accuracy", "low", "high") * 100
    return rows.with_columns(percent, panel=pl.col("measure").replace(CRITERIA)).select(
        "panel", "series", "low", "high", row="sets", value="accuracy",
        filled=~pl.col("baseline"), reference=pl.lit(50.0),
    )  # fmt: skip


def table(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the page's table, sorted by data set."""
    return rows.sort("suite", "phenomenon", "sets", maintain_order=True).with_columns(
        pl.col("seed").replace(0, None), measure=pl.col("measure").replace(SHORT)
    )
