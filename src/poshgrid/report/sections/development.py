"""After how many words a phenomenon is first learned: over several sizes, or checkpoints.

See :mod:`poshgrid.statistics.development`.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from poshgrid.files import Schema
from poshgrid.report import figures, style
from poshgrid.report.blocks import Block, Page, drawer
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Layout
from poshgrid.report.texts import say
from poshgrid.statistics.development import SIZES, SLACK
from poshgrid.statistics.schema import DEVELOPMENT, NOT_TESTABLE
from poshgrid.tables.table import Table, numbers, of_frame, text
from poshgrid.tables.words import decimals, short

TITLE, ORDER, AUDIENCE = "When it is learned", 25, "reader"
MOST = 150
"""Curves of a figure; of more the table is all."""
MOST_NAMED = 4
"""Pairs of conditions that the sentence names."""


def blocks(page: Page) -> list[Block] | None:
    """Return the sentence, the figure and the tables; ``None``: nothing has two points."""
    rows = named(page.collected, page.layout)
    if rows.is_empty():
        return None
    models = rows["learner"].str.contains(", ", literal=True).any()
    few = rows if rows.height <= MOST else rows.clear()
    return [
        sentence(page.collected),
        page.picture("onsets", say("onsets", models), draw, few),
        drawer("Words, phenomenon by phenomenon", page.table(table(rows))),
        drawer("Conditions compared", page.table(compared(page.collected, page.layout))),
    ]


def named(collected: Collected, layout: Layout) -> pl.DataFrame:
    """Return the onsets (``DEVELOPMENT``) in the page's order, each with its panel and series."""
    order = [(s, *pair) for s, pairs in layout.phenomena.items() for pair in pairs]
    curves = [
        {**row, "panel": _panel(row, layout), "series": layout.series(arm)}
        for phenomenon in order
        for arm in layout.arms
        for row in collected.development.filter(
            suite=phenomenon[0], category=phenomenon[1], phenomenon=phenomenon[2]
        ).iter_rows(named=True)
        if arm.has(row["condition"], row["learner"], row["regimen"], row["bias"])
    ]
    schema: Schema = {**DEVELOPMENT, "panel": pl.String, "series": pl.String}
    return pl.DataFrame(curves, schema=schema).sort("panel", descending=True, maintain_order=True)


def _panel(row: dict[str, Any], layout: Layout) -> str:
    over = "sizes" if row["over"] == SIZES else f"checkpoints, {row['size']} words of text"
    return f"{row['suite']}: {over}" if len(layout.phenomena) > 1 else over.capitalize()


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
    apart = [name for name in ("suite", "learner", "regimen", "bias", "size")
             if ratios[name].n_unique() > 1]  # fmt: skip
    pairs = [
        (*pair, [_named(row, apart) for row in rows.to_dicts()])
        for pair, rows in clear.group_by("condition", "word", "than", maintain_order=True)
    ]
    tested = onsets.filter(pl.col("status") != NOT_TESTABLE)
    known = tested["high"].is_not_null().sum()
    numbers = (ratios.height, ratios.height - clear.height, tested.height, known)
    return say("development", pairs[:MOST_NAMED], len(pairs) - MOST_NAMED, *numbers, of_sizes)


def _named(row: dict[str, Any], apart: list[str]) -> str:
    """Write what is learned, and the interval: ``wanna on posh (1.2 to 2.6 times)``."""
    where = ", ".join(row[name] for name in apart)
    return f"{row['phenomenon']}{f' on {where}' if where else ''} ({_times(row)})"


def _times(row: dict[str, Any]) -> str:
    """Write the interval of a ratio of words: ``1.2 to 2.6 times``, ``at least 1.2 times``."""
    low, high = (None if row[end] is None else f"{row[end]:.2g}" for end in ("low", "high"))
    if low and high:
        return f"{low} to {high} times"
    return f"at least {low} times" if low else f"at most {high} times"


def table(rows: pl.DataFrame) -> Table:
    """Lay the onsets out."""
    columns = {
        "panel": text("Points"), "phenomenon": text("Phenomenon"), "series": text("Models"),
        **dict(zip(("low", "high", "onset"),
                   numbers(short, "Not yet with", "Learned with", "Lines cross at"), strict=True)),
        "status": text("Known"),
    }  # fmt: skip
    return of_frame("onsets", say("onsets_table"), rows, columns)


def compared(collected: Collected, layout: Layout) -> Table:
    """Lay the ratios out of which an end is known."""
    known = collected.ratios.filter(pl.col("low").is_not_null() | pl.col("high").is_not_null())
    rows = known.with_columns(
        panel=pl.Series([_panel(row, layout) for row in known.to_dicts()], dtype=pl.String),
        recipe=pl.concat_str("learner", "regimen", "bias", separator=" · "),
    )
    columns = {
        "panel": text("Points"), "phenomenon": text("Phenomenon"), "recipe": text("Recipe"),
        "condition": text("Condition"), "than": text("Compared with"),
        **dict(zip(("ratio", "low", "high"),
                   numbers(decimals(2), "Times the words", "2.5%", "97.5%"), strict=True)),
    }  # fmt: skip
    return of_frame("onset-ratios", say("onset_ratios"), rows, columns)


def draw(rows: pl.DataFrame) -> style.Figure:
    """Draw where each onset lies: a panel for sizes and for checkpoints, a line for each curve.

    Args:
        rows: from :func:`named`.

    Returns:
        Intervals on a log scale of words, arrows where an end is open, a mark where straight lines
        cross the threshold. No line: nothing is known.
    """
    series = rows["series"].unique(maintain_order=True).to_list()
    panels = rows.partition_by("panel", maintain_order=True)
    names = [panel["phenomenon"].unique(maintain_order=True).to_list() for panel in panels]
    heights = [len(phenomena) * (0.12 + 0.11 * len(series)) for phenomena in names]
    figure = style.figure(0.9 + sum(heights) + 0.6 * len(panels))
    grid = figure.subplots(len(panels), squeeze=False, height_ratios=heights)[:, 0]
    for axes, panel, phenomena in zip(grid, panels, names, strict=True):
        left, right = min(panel["first"]) / 1.6, max(panel["last"]) * 1.6
        for row in panel.iter_rows(named=True):
            index = series.index(row["series"])
            colour, marker, _ = style.series(index)
            y = phenomena.index(row["phenomenon"]) + (index + 1) / (len(series) + 1) - 0.5
            if row["status"] in ("within", "by", "after"):
                ends = [row["low"] or left, row["high"] or right]
                axes.plot(ends, [y, y], color=colour, linewidth=2.2)
                for end, x, arrow in (("low", left, "<"), ("high", right, ">")):
                    if row[end] is None:
                        axes.plot([x], [y], arrow, color=colour, markersize=4, clip_on=False)
            if row["onset"] and (row["low"] or row["high"]):
                axes.plot([row["onset"]], [y], marker, color=colour, markersize=4,
                          markerfacecolor=style.PAGE.light)  # fmt: skip
        axes.set_title(panel["panel"][0])
        figures.log_words(axes, left, right)
        style.names_axis(axes, phenomena)
    grid[-1].set_xlabel("Words of training")
    style.legend(figure, style.series_handles(series, linestyle="-", markerfacecolor="none"))
    return figure
