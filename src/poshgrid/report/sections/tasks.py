"""Suites of other tasks than minimal pairs: tables of their measures."""

from __future__ import annotations

from typing import Any

import polars as pl

from poshgrid.report.parts import Page

TITLE, ORDER, AUDIENCE = "Other tasks", 130, "reviewer"


def write(page: Page) -> dict[str, Any] | None:
    """Write a table of measures for each suite; None if all suites are minimal pairs."""
    measures = page.collected.measures
    for suite, frame in measures.items():
        # Values that are the same in all rows are in the caption
        alike = [name for name in frame.select(pl.col(pl.String)).columns
                 if frame[name].n_unique() == 1]  # fmt: skip
        empty = [name for name in frame.columns if frame[name].is_null().all()]
        same = {name: frame[name][0] for name in alike if frame[name][0]}
        page.table("measures", frame.drop({*alike, *empty}), suite, same, of=suite)
        if suite in page.collected.answers:
            page.table("answers", answers(page.collected.answers[suite]), suite, of=suite)
    return {"tasks": page.collected.spec.measured} if measures else None


def answers(rows: pl.DataFrame) -> pl.DataFrame:
    """Return wrong answers, then right ones, sorted by the number of models that gave them.

    Args:
        rows: columns of ``ANSWERS``.
    """
    names = ["item_id", "category", "phenomenon", "answer", "correct", "right"]
    counted = rows.group_by(names).agg(models=pl.len())
    order = ["correct", "models", "item_id", "answer"]
    return counted.sort(order, descending=[False, True, False, False]).with_columns(
        correct=pl.when("correct").then(pl.lit("yes")).otherwise(pl.lit("no"))
    )
