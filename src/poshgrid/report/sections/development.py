"""After how many words a phenomenon is first learned, over sizes and over checkpoints.

:mod:`poshgrid.statistics.development` computes the numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import polars as pl

from poshgrid.report import figures
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Layout
from poshgrid.report.parts import Finding, Page
from poshgrid.report.texts import say
from poshgrid.statistics.development import CHECKPOINTS, SIZES, SLACK
from poshgrid.statistics.schema import NOT_TESTABLE

TITLE, ORDER, AUDIENCE = "When it is learned", 25, "reader"
MOST = 150
"""With more curves there is no figure, only the table."""


def write(page: Page) -> dict[str, Any] | None:
    """Write the figure and the tables; None if no curve has two points."""
    collected, layout = page.collected, page.layout
    rows = named(collected, layout)
    if rows.is_empty():
        return None
    models = rows["model"].str.contains(", ", literal=True).any()
    if rows.height <= MOST:
        draw = partial(figures.rows, label="Words of training", columns=1, words=True)
        page.picture("onsets", draw, marks(rows), say("onsets_figure", models))
    page.table("onsets", rows)
    page.table("onset-ratios", collected.ratios.with_columns(
        _panel(layout), recipe=pl.concat_str("model", "recipe", "bias", separator=" · ")
    ))  # fmt: skip
    return {}


def named(collected: Collected, layout: Layout) -> pl.DataFrame:
    """Return the onsets (``DEVELOPMENT``) in the page's order, each with its panel and series."""
    key = ["suite", "category", "phenomenon"]
    order = [(s, *pair) for s, pairs in layout.phenomena.items() for pair in pairs]
    names = pl.DataFrame(order, schema=dict.fromkeys(key, pl.String), orient="row")
    arms = layout.arms.select("series", *layout.axes)
    rows = arms.join(collected.development, on=layout.axes, maintain_order="left_right")
    rows = names.join(rows, on=key, maintain_order="left_right").with_columns(_panel(layout))
    return rows.sort("panel", descending=True, maintain_order=True)


def _panel(layout: Layout) -> pl.Expr:
    steps = pl.format("Checkpoints, {} words of text", "size")
    over = pl.when(over=SIZES).then(pl.lit("Sizes")).otherwise(steps)
    several = len(layout.phenomena) > 1
    return (pl.format("{}: {}", "suite", over) if several else over).alias("panel")


def marks(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the data of the figure of onsets (:data:`poshgrid.report.figures.ROWS`).

    Args:
        rows: from :func:`named`.

    Returns:
        Intervals, whose unknown ends are null, and marks at the onset by straight lines. Both are
        null if nothing is known.
    """
    known = pl.col("status").is_in(["within", "by", "after"])
    some = pl.col("low").is_not_null() | pl.col("high").is_not_null()
    return rows.select(
        "panel", "series", "first", "last", row="phenomenon",
        value=pl.when(some).then("onset"), low=pl.when(known).then("low"),
        high=pl.when(known).then("high"), filled=pl.lit(value=False),
    )  # fmt: skip


def sentences(page: Page) -> Iterator[Finding]:
    """Yield the findings on development; none if no curve has two points.

    They say which condition surely needs more words than another or, if no conditions can be
    compared, how many curves are surely learned.
    """
    collected = page.collected
    onsets, ratios = collected.development, collected.ratios
    if onsets.is_empty():
        return
    over = SIZES if (onsets["over"] == SIZES).any() else CHECKPOINTS
    onsets = onsets.filter(over=over)
    ratios = ratios.with_row_index("number", offset=1).filter(over=over)
    more, fewer = pl.col("low") >= 1 / SLACK, pl.col("high") <= SLACK
    clear = ratios.filter(more | fewer).with_columns(
        word=pl.when(more).then(pl.lit("more")).otherwise(pl.lit("fewer"))
    )
    # Name only the axes in which the comparisons differ
    apart = [name for name in ("suite", "model", "recipe", "bias", "size")
             if ratios[name].n_unique() > 1]  # fmt: skip
    for names, rows in clear.group_by("condition", "word", "than", maintain_order=True):
        text = say("sooner", *names, rows.to_dicts(), apart)
        yield Finding(text, "onset-ratios", rows["number"].to_list())
    if ratios.height:
        text = say("not_sooner", ratios.height, ratios.height - clear.height)
        yield Finding(text, "onset-ratios", [])
    else:
        tested = onsets.filter(pl.col("status") != NOT_TESTABLE)
        text = say("curves_learned", tested.height, tested["high"].is_not_null().sum(), over)
        yield Finding(text, "onsets", [])
