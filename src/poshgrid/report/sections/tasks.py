"""Suites of other tasks than minimal pairs: their measures as they are."""

from __future__ import annotations

import polars as pl

from poshgrid.report.blocks import Block, Heading, Page, drawer
from poshgrid.report.texts import say
from poshgrid.tables.table import Column, Table, of_frame, text
from poshgrid.tables.words import count, decimals

TITLE, ORDER, AUDIENCE = "Other tasks", 130, "reviewer"


def blocks(page: Page) -> list[Block] | None:
    """Return a table of measures for each suite; ``None``: all suites are of minimal pairs."""
    asked = page.collected.spec.measured
    if not asked:
        return None
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
    columns = {
        "item_id": text("Item"), "phenomenon": text("Phenomenon"),
        "wrong": Column("Models wrong", count), "answer": text("Most frequent answer"),
        "alike": Column("So often", count), "right": text("Right"),
    }  # fmt: skip
    return of_frame(f"wrong-answers-{suite}", say("wrong_answers", suite), each, columns)


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
    empty = [column for column in frame.columns if frame[column].is_null().all()]
    shown = frame.drop({*alike, *empty})
    columns = [
        Column(column.replace("_", " ").capitalize(), decimals(3) if kind.is_float() else str,
               text=kind == pl.String)
        for column, kind in shown.schema.items()
    ]  # fmt: skip
    caption = say("measures", suite, {c: frame[c][0] for c in alike if frame[c][0]})
    rows = [list(row) for row in shown.iter_rows()]
    return Table(f"measures-{suite}", caption, columns, rows, values=frame)
