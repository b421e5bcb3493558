"""Sets of filler x gap: how often a gap is less surprising where a filler licenses it.

Figure 1 of Pistotti, Brown & Witbrock (2025): the share of sets with a positive delta with a
filler, and with a positive difference in differences, for each suite, with 95% intervals.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import polars as pl

from poshgrid.config.runs import BASELINE_RECIPES
from poshgrid.report import figures
from poshgrid.report.layout import model_names
from poshgrid.report.parts import Page
from poshgrid.report.texts import say
from poshgrid.statistics.schema import RUN_AXES

TITLE, ORDER, AUDIENCE = "Filler and gap", 125, "reader"
CRITERIA = {
    "delta_plus_filler": "A gap is expected after a filler (delta > 0)",
    "did": "More so than without a filler (DiD > 0)",
}
"""Of the measures, those that Figure 1 has: what a set must do to count."""


def write(page: Page) -> dict[str, Any] | None:
    """Write the figure and its table; ``None``: no suite of the target is of filler x gap."""
    measured = page.collected.spec.measured
    frames = [frame for suite, frame in page.collected.measures.items()
              if measured[suite] == "paradigms"]  # fmt: skip
    if not frames:
        return None
    rows = shares(pl.concat(frames))
    draw = partial(figures.rows, label="Sets (%)", percent=True, columns=4)
    page.picture("filler-gap", draw, marks(rows), say("filler_gap"))
    page.table("filler-gap", table(rows), caption=say("filler_gap_table"))
    return {"counts": above(rows)}


def above(rows: pl.DataFrame) -> list[tuple[Any, ...]]:
    """Count the runs whose difference in differences is above every baseline's, by phenomenon.

    Args:
        rows: what :func:`shares` returns.

    Returns:
        Phenomenon, runs that are clearly above, runs; nothing where there are no baselines.
    """
    of = ["suite", "phenomenon"]
    did = rows.filter(measure="did")
    rivals = did.filter("baseline").group_by(of).agg(rival=pl.col("accuracy").max())
    runs = did.filter(~pl.col("baseline")).join(rivals, on=of, maintain_order="left")
    clear = (pl.col("low") > pl.col("rival")).sum()
    return runs.group_by(of, maintain_order=True).agg(clear, runs=pl.len()).drop("suite").rows()


def shares(measures: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each run, phenomenon and criterion.

    A suite in which some sets are ambiguous stands there twice, with and without them.

    Args:
        measures: columns of ``PARADIGM_MEASURES``.
    """
    of = (*RUN_AXES, "seed", "suite", "phenomenon", "measure")
    # Where no set is ambiguous the subset is the suite: none of it is left out.
    clear = (pl.col("subset") == "unambiguous") & (pl.col("n") < pl.col("n").max().over(of))
    everything = pl.col("subset") == "all"
    runs = measures.filter(everything | clear, pl.col("measure").is_in(list(CRITERIA)))
    unambiguous = pl.format("{}, unambiguous", "phenomenon")
    runs = runs.with_columns(
        pl.Series("series", model_names(runs), pl.String),
        phenomenon=pl.when(everything).then("phenomenon").otherwise(unambiguous),
        baseline=pl.col("recipe").is_in(BASELINE_RECIPES),
    )
    return runs.sort("baseline", "series", "seed", maintain_order=True).select(
        "suite", "phenomenon", "series", "seed", "baseline", "measure", "n", "accuracy", "low",
        "high", "t", "p_one",
    )  # fmt: skip


def marks(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the figure of shares (:data:`poshgrid.report.figures.ROWS`): seeds share a row."""
    several = rows["suite"].n_unique() > 1
    place = pl.format("{} · {}", "suite", "phenomenon") if several else pl.col("phenomenon")
    title = pl.col("measure").replace(CRITERIA)
    percent = pl.col("accuracy", "low", "high") * 100
    drawn = rows.with_columns(percent, panel=pl.format("{}\n{}", title, place))
    measures = pl.col("measure").replace_strict({name: i for i, name in enumerate(CRITERIA)})
    return drawn.sort(measures, maintain_order=True).select(
        "panel", "low", "high", row="series", value="accuracy", filled=~pl.col("baseline"),
        reference=pl.lit(50.0),
    )  # fmt: skip


def table(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the shares, a row a run and phenomenon."""
    key = ["suite", "phenomenon", "series", "seed"]
    wide = rows.pivot("measure", index=key, values=["accuracy", "t", "p_one"])
    sets = rows.unique(key, keep="first", maintain_order=True).select(*key, "n")
    both = sets.join(wide, on=key, maintain_order="left")
    return both.with_columns(pl.col("seed").replace(0, None))
