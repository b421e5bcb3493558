"""Suites of other tasks than minimal pairs: their measures as they are."""

from __future__ import annotations

from typing import Any

import polars as pl

from poshgrid.report.parts import Page

TITLE, ORDER, AUDIENCE = "Other tasks", 130, "reviewer"


def write(page: Page) -> dict[str, Any] | None:
    """Write a table of measures for each suite; ``None``: all suites are of minimal pairs."""
    measures = page.collected.measures
    for suite, frame in measures.items():
        # What all rows say stands in the caption
        alike = [name for name in frame.select(pl.col(pl.String)).columns
                 if frame[name].n_unique() == 1]  # fmt: skip
        empty = [name for name in frame.columns if frame[name].is_null().all()]
        same = {name: frame[name][0] for name in alike if frame[name][0]}
        page.table("measures", frame.drop({*alike, *empty}), suite, same, of=suite)
        if suite in page.collected.wrong_answers:
            answers = wrong_answers(page.collected.wrong_answers[suite])
            page.table("wrong-answers", answers, suite, of=suite)
    return {"tasks": page.collected.spec.measured} if measures else None


def wrong_answers(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the items that models got wrong, those first that most of them did.

    Args:
        rows: columns of ``WRONG_ANSWERS``.
    """
    names = ["item_id", "category", "phenomenon", "right"]
    answers = rows.group_by(*names, "answer").agg(alike=pl.len())
    most = answers.sort("alike", "answer", descending=[True, False]).group_by(
        names, maintain_order=True
    )
    items = most.agg(pl.first("answer", "alike"), wrong=pl.col("alike").sum())
    return items.sort("wrong", "item_id", descending=[True, False])
