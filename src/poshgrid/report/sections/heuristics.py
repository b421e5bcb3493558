"""How often models make the choices of heuristics.

:mod:`poshgrid.statistics.agreement` computes the numbers.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from poshgrid.config.runs import PRETRAINED
from poshgrid.core.writing import percent, span
from poshgrid.evaluation.heuristics.table import hierarchical
from poshgrid.report.layout import Layout
from poshgrid.report.parts import Page
from poshgrid.statistics.schema import RUN_AXES

TITLE, ORDER, AUDIENCE = "Agreement with heuristics", 30, "reader"


def write(page: Page) -> dict[str, Any] | None:
    """Write the agreement of each suite; None without any.

    Raises:
        PoshgridError: a file is broken.
    """
    rows = agreement(page.collected.table("heuristic_agreement"), page.layout)
    suites = [suite for suite in page.collected.spec.suites if suite in set(rows["suite"])]
    for suite in suites:
        page.table("heuristic_agreement", rows.filter(suite=suite), of=suite)
    return {"suites": suites} if suites else None


def agreement(table: pl.DataFrame, layout: Layout) -> pl.DataFrame:
    """Return the agreement of each model at its largest size.

    Only phenomena on which a hierarchical heuristic decides are shown. Given models come last.
    """
    decides = pl.col("heuristic").is_in(sorted(hierarchical())).any().over("suite", "phenomenon")
    points = layout.points.sort("arm", maintain_order=True).select("models", *RUN_AXES)
    pretrained = table.filter(condition=PRETRAINED).select(RUN_AXES).unique().sort(RUN_AXES)
    both = pl.concat([points, pretrained.with_columns(models="model")], how="diagonal")
    named = both.unique(RUN_AXES, keep="first", maintain_order=True).with_row_index("order")
    rows = (
        table.filter(decides)
        .join(named, on=RUN_AXES)
        .filter(pl.col("order") == pl.col("order").max().over("models"))
        .sort("category", "phenomenon", "order", "heuristic")
    )
    intervals = [span(low, high, percent) for low, high in rows.select("low", "high").iter_rows()]
    return rows.with_columns(pl.Series("interval", intervals, dtype=pl.String))
