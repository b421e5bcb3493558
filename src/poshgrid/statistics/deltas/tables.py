"""What filtering does in each condition, and the means of conditions, as a table."""

from __future__ import annotations

from typing import Any

import polars as pl

from poshgrid.statistics.deltas.differences import by_condition
from poshgrid.statistics.schema import RUN_AXES
from poshgrid.tables.table import Column, Table, text, varying
from poshgrid.tables.words import count, decimals, percent, points

_VALUES = ("targets", "targeted", "every", "every_sd", "margin_full", "margin", "r")
_AVERAGED = ("targeted", "every", "margin_full", "margin", "r")


def axes(rows: pl.DataFrame) -> list[str]:
    """Return the axes but the condition that vary; no learner where the size tells it.

    Args:
        rows: columns of ``RUN_AXES`` and any others.
    """
    found = varying(rows, RUN_AXES[1:])
    others = [axis for axis in found if axis != "learner"]
    if "learner" in found and others:
        points_of = rows.select(others).unique().height
        if points_of == rows.select(*others, "learner").unique().height:
            return others
    return found


def conditions(rows: pl.DataFrame, suite: str) -> Table:
    """Return a suite's averages within conditions, and over them if there are several.

    Args:
        rows: columns of ``DELTAS``.
        suite: its name.
    """
    named = axes(rows)
    two = decimals(2)
    columns = [
        text("Condition"), *(text(axis.capitalize()) for axis in named),
        Column("Targeted phenomena", count), Column("Δ targeted", points), Column("Δ all", points),
        Column("SD", percent), Column("Margin, full", two), Column("Margin, filtered", two),
        Column("r", two),
    ]  # fmt: skip
    found = by_condition(rows)

    def cells(frame: pl.DataFrame) -> list[list[Any]]:
        return [
            [row.get("condition", "mean"), *(row[axis] for axis in named),
             *(row.get(name) for name in _VALUES)]
            for row in frame.iter_rows(named=True)
        ]  # fmt: skip

    each, means = cells(found), []
    if found["condition"].n_unique() > 1:
        groups = found.group_by(named or pl.lit("").alias("all"), maintain_order=True)
        means = cells(groups.agg(pl.col(_AVERAGED).mean()))
    caption = (
        f"{suite}: accuracy deltas in points, filtered models less the mean of the full ones. "
        "Targeted: mean over the phenomena that the condition's filters are aimed at. All: over "
        "all phenomena; SD over the filtered models' seeds. Margins (log P(good) − log P(bad), "
        "nats) and r (Pearson's, of the pairs' margins before and after filtering): means over "
        "targeted phenomena."
    )
    totals = dict.fromkeys(range(len(each), len(each) + len(means)), "total")
    return Table(f"deltas-{suite}", caption, columns, each + means, totals)
