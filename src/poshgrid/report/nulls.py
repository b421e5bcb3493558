"""Models beside their nulls: what register does to both, and how far their margins go together."""

from __future__ import annotations

from typing import Any

import polars as pl

from poshgrid.config.runs import NULLS
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Layout
from poshgrid.statistics.schema import RUN_AXES
from poshgrid.tables.table import Column, Table, text
from poshgrid.tables.words import decimals, points

_POINT = ["condition", "less", *RUN_AXES[1:]]


def register(collected: Collected, layout: Layout, suite: str) -> Table | None:
    """Set the difference of two bases in a model's accuracy beside that in its nulls' accuracies.

    Models with a bias are left out: what it does is another question.
    """
    mine = collected.nulls.filter(
        (pl.col("suite") == suite) & (pl.col("less") != "") & (pl.col("bias") == "none")
    )
    if mine.is_empty():
        return None
    shown = [null for null in NULLS if null in mine["null"].unique()]
    rows: list[list[Any]] = []
    for _, phenomenon in layout.phenomena[suite]:
        for key, part in mine.filter(phenomenon=phenomenon).group_by(_POINT, maintain_order=True):
            point = dict(zip(_POINT, key, strict=True))
            by_null = {row["null"]: row for row in part.iter_rows(named=True)}
            model = next(iter(by_null.values()))
            row: list[Any] = [
                phenomenon,
                f"{point['condition']} − {point['less']}",
                *(point[axis] for axis in ("size", "learner", "regimen")),
                *_interval(model, "difference"),
            ]
            for null in shown:
                row += _interval(by_null.get(null, {}), "null_difference")
            rows.append(row)
    names = ["Model", *(null.capitalize() for null in shown)]
    columns = [
        *(text(name) for name in ("Phenomenon", "Difference", "Size", "Learner", "Regimen")),
        *(column for name in names for column in (
            Column(name, points), text(f"95%, {name.lower()}"))),
    ]  # fmt: skip
    caption = (
        "Difference between two bases in accuracy, percentage points [95% interval over lexical "
        "sets and, of neural models, seeds]: of models, and of the nulls of the same text. Where "
        "a null differs as much, register changes words, not syntax."
    )
    return Table(f"nulls-register-{suite}", caption, columns, rows)


def margins(collected: Collected, layout: Layout, suite: str) -> Table | None:
    """Show how far the margins of models go with those of their nulls, pair by pair."""
    mine = collected.nulls.filter(pl.col("suite") == suite).unique(
        [*RUN_AXES, "phenomenon", "null"], keep="first", maintain_order=True
    )
    if mine.is_empty():
        return None
    shown = [null for null in NULLS if null in mine["null"].unique()]
    show = decimals(2)
    rows: list[list[Any]] = []
    for _, phenomenon in layout.phenomena[suite]:
        row: list[Any] = [phenomenon]
        for null in shown:
            found = mine.filter(phenomenon=phenomenon, null=null).drop_nulls("r").sort("r")
            if found.is_empty():
                row += [None, None, None]
                continue
            most = found.row(-1, named=True)
            where = f"{most['condition']} {most['size']}"
            if most["r_low"] is not None:
                where += f" [{show(most['r_low'])}, {show(most['r_high'])}]"
            row += [float(found["r"].median()), most["r"], where]
        rows.append(row)
    columns = [
        text("Phenomenon"),
        *(column for null in shown for column in (
            Column(f"{null.capitalize()}, median", show), Column("Highest", show),
            text("Where"))),
    ]  # fmt: skip
    caption = (
        "Correlation of margins, log P(good) − log P(bad), between a model and a null of the same "
        "condition and size, over the pairs of a phenomenon: median over models, and the highest "
        "[95% interval, lexical sets as observations]. Near 1 the model prefers what the null "
        "prefers, pair by pair."
    )
    return Table(f"nulls-margins-{suite}", caption, columns, rows)


def _interval(row: dict[str, Any], name: str) -> list[Any]:
    if row.get(f"{name}_low") is None:
        return [row.get(name), None]
    return [row[name], f"[{points(row[f'{name}_low'])}, {points(row[f'{name}_high'])}]"]
