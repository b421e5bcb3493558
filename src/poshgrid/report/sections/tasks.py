"""Suites of other tasks than minimal pairs: their measures as they are."""

from __future__ import annotations

import polars as pl

from poshgrid.report.blocks import Block, Heading, Page, drawer
from poshgrid.tables.table import Column, Table
from poshgrid.tables.words import decimals

TITLE, ORDER, AUDIENCE = "Other tasks", 130, "reviewer"


def blocks(page: Page) -> list[Block]:
    """Return a table of measures for each suite."""
    asked = page.collected.spec.measured
    if not asked:
        return ["The grid has suites of minimal pairs only."]
    found: list[Block] = []
    for suite, task in asked.items():
        frame = page.collected.measures.get(suite)
        caption = f"Results on {suite} ({task}); the columns are explained in docs/data.md."
        table = None if frame is None else measures(f"measures-{suite}", caption, frame)
        found += [
            Heading(suite, task),
            drawer("Results", page.shelf.table(table), 32) or "Not run.",
        ]
    return found


def measures(name: str, caption: str, frame: pl.DataFrame) -> Table:
    """Lay a table of measures out as it is: a column for each of its columns."""
    columns = [
        Column(column.replace("_", " ").capitalize(), decimals(3) if kind.is_float() else str,
               text=kind == pl.String)
        for column, kind in frame.schema.items()
    ]  # fmt: skip
    return Table(name, caption, columns, [list(row) for row in frame.iter_rows()])
