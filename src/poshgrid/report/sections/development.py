"""After how many words a phenomenon is first learned: over several sizes, or checkpoints.

See :mod:`poshgrid.statistics.development`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import polars as pl

from poshgrid.files import Schema
from poshgrid.report import figures
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Layout
from poshgrid.report.parts import Page
from poshgrid.report.texts import say
from poshgrid.statistics.development import SIZES, SLACK
from poshgrid.statistics.schema import DEVELOPMENT, NOT_TESTABLE

TITLE, ORDER, AUDIENCE = "When it is learned", 25, "reader"
MOST = 150
"""Curves of a figure; of more the table is all."""
MOST_NAMED = 4
"""Pairs of conditions that the sentence names."""


def write(page: Page) -> dict[str, Any] | None:
    """Write the figure and the tables; ``None``: nothing has two points."""
    rows = named(page.collected, page.layout)
    if rows.is_empty():
        return None
    models = rows["model"].str.contains(", ", literal=True).any()
    if rows.height <= MOST:
        draw = partial(figures.rows, label="Words of training", columns=1, words=True)
        page.picture("onsets", draw, marks(rows), say("onsets_figure", models))
    page.table("onsets", rows)
    ratios = page.collected.ratios
    known = ratios.filter(pl.col("low").is_not_null() | pl.col("high").is_not_null())
    page.table("onset-ratios", known.with_columns(
        _panel(page.layout), recipe=pl.concat_str("model", "recipe", "bias", separator=" · ")
    ))  # fmt: skip
    return {"notes": [sentence(page.collected)]}


def named(collected: Collected, layout: Layout) -> pl.DataFrame:
    """Return the onsets (``DEVELOPMENT``) in the page's order, each with its panel and series."""
    order = [(s, *pair) for s, pairs in layout.phenomena.items() for pair in pairs]
    curves = [
        {**row, "series": layout.series(arm)}
        for suite, category, phenomenon in order
        for arm in layout.arms
        for row in collected.development.filter(
            suite=suite, category=category, phenomenon=phenomenon
        ).iter_rows(named=True)
        if arm.has(row["condition"], row["model"], row["recipe"], row["bias"])
    ]
    schema: Schema = {**DEVELOPMENT, "series": pl.String}
    rows = pl.DataFrame(curves, schema=schema).with_columns(_panel(layout))
    return rows.sort("panel", descending=True, maintain_order=True)


def _panel(layout: Layout) -> pl.Expr:
    steps = pl.format("Checkpoints, {} words of text", "size")
    over = pl.when(over=SIZES).then(pl.lit("Sizes")).otherwise(steps)
    several = len(layout.phenomena) > 1
    return (pl.format("{}: {}", "suite", over) if several else over).alias("panel")


def marks(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the figure of onsets (:data:`poshgrid.report.figures.ROWS`).

    Args:
        rows: from :func:`named`.

    Returns:
        Intervals with an open end where it is not known, and marks where straight lines cross the
        threshold; neither: nothing is known.
    """
    known = pl.col("status").is_in(["within", "by", "after"])
    some = pl.col("low").is_not_null() | pl.col("high").is_not_null()
    return rows.select(
        "panel", "series", "first", "last", row="phenomenon",
        value=pl.when(some).then("onset"), low=pl.when(known).then("low"),
        high=pl.when(known).then("high"), filled=pl.lit(value=False),
    )  # fmt: skip


def sentence(collected: Collected) -> str | None:
    """Say which condition surely needs more words than another, or else what is surely learned.

    ``None``: nothing has two points.
    """
    onsets, ratios = collected.development, collected.ratios
    if onsets.is_empty():
        return None
    of_sizes = (onsets["over"] == SIZES).any()
    if of_sizes:
        onsets, ratios = onsets.filter(over=SIZES), ratios.filter(over=SIZES)
    more, fewer = pl.col("low") >= 1 / SLACK, pl.col("high") <= SLACK
    clear = ratios.filter(more | fewer).with_columns(
        word=pl.when(more).then(pl.lit("more")).otherwise(pl.lit("fewer"))
    )
    # What all comparisons have in common goes without saying
    apart = [name for name in ("suite", "model", "recipe", "bias", "size")
             if ratios[name].n_unique() > 1]  # fmt: skip
    pairs = [
        (*pair, rows.to_dicts())
        for pair, rows in clear.group_by("condition", "word", "than", maintain_order=True)
    ]
    tested = onsets.filter(pl.col("status") != NOT_TESTABLE)
    known = tested["high"].is_not_null().sum()
    numbers = (ratios.height, ratios.height - clear.height, tested.height, known)
    return say(
        "development", pairs[:MOST_NAMED], len(pairs) - MOST_NAMED, *numbers, of_sizes, apart
    )
