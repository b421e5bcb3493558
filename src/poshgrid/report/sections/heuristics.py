"""Which heuristic explains the choices of models: a table of verdicts, and the numbers behind it.

:mod:`poshgrid.statistics.shares` computes the numbers.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from poshgrid.config.runs import PRETRAINED
from poshgrid.core.writing import percent, span
from poshgrid.evaluation.heuristics.mixture import FEW, GUESSING
from poshgrid.evaluation.heuristics.schema import DIFFER
from poshgrid.evaluation.heuristics.table import EQUAL, hierarchical
from poshgrid.report.layout import Layout
from poshgrid.report.parts import Page
from poshgrid.statistics.schema import RUN_AXES
from poshgrid.statistics.shares import MOST, TOLERANCE

TITLE, ORDER, AUDIENCE = "Which heuristic", 30, "reader"
LEAST = 0.1
"""Heuristics with a smaller weight are not listed."""


def write(page: Page) -> dict[str, Any] | None:
    """Write the verdicts of each suite and the tables behind them; None without verdicts.

    Raises:
        PoshgridError: a file is broken.
    """
    collected, layout = page.collected, page.layout
    tables = {n: collected.table(n) for n in ("mixture", "verdicts")}
    suites = [s for s in collected.spec.suites if s in set(tables["verdicts"]["suite"])]
    for suite in suites:
        mixed, judged = (table.filter(suite=suite) for table in tables.values())
        names = mixed.select("phenomenon", "heuristic").unique().iter_rows()
        wanted = {
            phenomenon for phenomenon, group in names if any(map(hierarchical, group.split(EQUAL)))
        }
        rows = verdicts(judged.filter(pl.col("phenomenon").is_in(wanted)), layout)
        page.table("verdicts", rows, MOST, TOLERANCE, of=suite)
        page.table("mixture", mixture(mixed, layout), LEAST, FEW, of=suite)
    return {"suites": suites} if suites else None


def verdicts(judged: pl.DataFrame, layout: Layout) -> pl.DataFrame:
    """Return the verdict on each model at its largest size: which heuristic it follows."""
    detail = pl.format("{}: {}", "verdict", "seed_verdicts")
    largest = pl.col("order") == pl.col("order").max().over("models")
    rows = _ordered(judged, layout).filter(largest)
    return rows.with_columns(
        _spans(rows, "shared_low", "shared_high").alias("shared"),
        pl.when(verdict=DIFFER).then(detail).otherwise("verdict").alias("verdict"),
        pl.col("hierarchical").replace_strict({True: "yes", False: "no"}, default=None),
    )  # fmt: skip


def mixture(mixed: pl.DataFrame, layout: Layout) -> pl.DataFrame:
    """Return the weights of the heuristics in each model's choices, without small ones."""
    listed = (pl.col("weight") > LEAST) | (pl.col("heuristic") == GUESSING)
    return _ordered(mixed.filter(listed), layout)


def _ordered(table: pl.DataFrame, layout: Layout) -> pl.DataFrame:
    """Return rows with the names of models, in the order of arms and sizes; given models last."""
    points = layout.points.sort("arm", maintain_order=True).select("models", *RUN_AXES)
    pretrained = table.filter(condition=PRETRAINED).select(RUN_AXES).unique().sort(RUN_AXES)
    both = pl.concat([points, pretrained.with_columns(models="model")], how="diagonal")
    named = both.unique(RUN_AXES, keep="first", maintain_order=True).with_row_index("order")
    rows = table.join(named, on=RUN_AXES).sort(
        "category", "phenomenon", "order", maintain_order=True
    )
    return rows.with_columns(_spans(rows, "low", "high").alias("interval"))


def _spans(rows: pl.DataFrame, *ends: str) -> pl.Series:
    """Return intervals as texts."""
    intervals = [span(low, high, percent) for low, high in rows.select(ends).iter_rows()]
    return pl.Series(intervals, dtype=pl.String)
