"""Suites of other tasks than minimal pairs: their measures as they are."""

from __future__ import annotations

import polars as pl

from poshgrid.report.blocks import Block, Heading, Page, drawer
from poshgrid.tables.table import Column, Table, text
from poshgrid.tables.words import count, decimals

TITLE, ORDER, AUDIENCE = "Other tasks", 130, "reviewer"


def blocks(page: Page) -> list[Block]:
    """Return a table of measures for each suite."""
    asked = page.collected.spec.measured
    if not asked:
        return ["The grid has suites of minimal pairs only."]
    found: list[Block] = []
    for suite, task in asked.items():
        frame, wrong = page.collected.measures.get(suite), page.collected.wrong_answers.get(suite)
        results = None if frame is None else measures(suite, frame)
        answers = None if wrong is None or wrong.is_empty() else wrong_answers(suite, wrong)
        found += [
            Heading(suite, f"task: {task}"),
            drawer("Results", page.shelf.table(results), 32) or "Not run.",
            drawer("Wrong answers", page.shelf.table(answers)),
        ]
    return found


def wrong_answers(suite: str, rows: pl.DataFrame) -> Table:
    """Lay out the items that models got wrong, those first that most of them did.

    Args:
        suite: its name.
        rows: columns of ``WRONG_ANSWERS``.
    """
    names = ["item_id", "category", "phenomenon", "right"]
    each = (
        rows.group_by(*names, "answer")
        .agg(alike=pl.len())
        .sort("alike", "answer", descending=[True, False])
        .group_by(names, maintain_order=True)
        .agg(wrong=pl.col("alike").sum(), answer=pl.first("answer"), alike=pl.first("alike"))
        .sort("wrong", "item_id", descending=[True, False])
    )
    columns = [
        text("Item"), text("Phenomenon"), Column("Models wrong", count),
        text("Most frequent answer"), Column("So often", count), text("Right"),
    ]  # fmt: skip
    cells = each.select("item_id", "phenomenon", "wrong", "answer", "alike", "right").rows()
    caption = (
        f"{suite}: what models answered where they were wrong, item by item; every answer of every "
        "model is in wrong_answers.csv of the suite's measures."
    )
    return Table(f"wrong-answers-{suite}", caption, columns, [list(row) for row in cells])


def measures(suite: str, frame: pl.DataFrame) -> Table:
    """Lay a table of measures out; what all its rows say stands in the caption.

    Args:
        suite: its name.
        frame: columns of the task's contract.
    """
    alike = [
        column
        for column, kind in frame.schema.items()
        if kind == pl.String and frame[column].n_unique() == 1
    ]
    said = [f"{c} {frame[c][0]}" for c in alike if frame[c][0]]
    caption = f"Results on {suite}." + (f" In each row: {', '.join(said)}." if said else "")
    empty = [column for column in frame.columns if frame[column].is_null().all()]
    shown = frame.drop({*alike, *empty})
    columns = [
        Column(column.replace("_", " ").capitalize(), decimals(3) if kind.is_float() else str,
               text=kind == pl.String)
        for column, kind in shown.schema.items()
    ]  # fmt: skip
    rows = [list(row) for row in shown.iter_rows()]
    return Table(f"measures-{suite}", caption, columns, rows, values=frame)
