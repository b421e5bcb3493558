"""Suites beside each other: the paper's Figures 2 and 5, and its Table 10 for this target.

Suites that test the same thing with other items are the check that a result is not one of the
items. Categories meet where Table 10 groups phenomena alike; phenomena are shown one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import polars as pl

from poshgrid.benchmark.reading import table10
from poshgrid.files import Schema
from poshgrid.report import figures, style
from poshgrid.report.blocks import Block, Heading, Page, drawer
from poshgrid.report.cells import Scores, known
from poshgrid.report.collect import Collected
from poshgrid.report.layout import CATEGORY_ORDER, Group, Layout, groups, title
from poshgrid.tables.table import Column, Table, text
from poshgrid.tables.words import ABSENT, count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKS: Schema = {
    "suite": pl.String,
    "category": pl.String,
    "facet": pl.String,  # rows of the figure
    "panel": pl.String,
    "series": pl.String,  # a condition, or a bias
    "size": pl.String,
    "words": pl.UInt64,
    "mean": pl.Float64,  # share of pairs; null: not run
    "sd": pl.Float64,  # over seeds; null with one seed
    "n_seeds": pl.UInt32,
    "untrained": pl.Float64,  # means of the nulls of the same cell
    "unigram": pl.Float64,
    "ngram": pl.Float64,
}
"""Figures 2 and 5: one row per mark."""

TITLE, ORDER, AUDIENCE = "Across benchmarks", 50, "reader"
BOTH = ("island", "binding")
"""The categories that the outside suites have, too (Table 10): those of Figure 5."""
LONG = 30
"""Rows from which the table of phenomena is folded away."""


def marks(
    collected: Collected,
    layout: Layout,
    group: Group,
    panels: Iterable[tuple[str, str, str, str, str, str]],
) -> pl.DataFrame:
    """Return the rows of a figure (:data:`MARKS`).

    Args:
        collected: all results.
        layout: order of sizes.
        group: whose accuracies.
        panels: (suite, level, category, phenomenon, facet, panel).
    """
    scores = Scores(collected.accuracy)
    rows = []
    for suite, level, category, phenomenon, facet, panel in panels:
        for name, arm in group.arms:
            for size in layout.sizes:
                cell = scores.cell(layout, arm, size, suite, level, category, phenomenon)
                if cell == ABSENT:
                    continue
                rows.append({
                    "suite": suite, "category": category, "facet": facet, "panel": panel,
                    "series": name, "size": size, "words": layout.read(arm.condition, size),
                    **known(cell, MARKS),
                })  # fmt: skip
    return pl.DataFrame(rows, schema=MARKS)


def by_category(collected: Collected, layout: Layout, group: Group) -> pl.DataFrame:
    """Return the marks of Figure 2: the paper's categories in every suite that has them.

    What most suites have comes first, so that like stands below like without gaps: islands and
    binding before question formation and wanna, posh, which has all four, before the others.
    """
    there = {
        suite: [c for c in CATEGORY_ORDER if c in layout.categories[suite]]
        for suite in collected.spec.suites
    }
    spread = Counter(category for found in there.values() for category in found)
    panels = [
        (suite, "category", category, "", suite, title(category))
        for suite in sorted(there, key=lambda suite: -len(there[suite]))
        for category in sorted(there[suite], key=lambda category: -spread[category])
    ]
    return marks(collected, layout, group, panels)


def by_phenomenon(collected: Collected, layout: Layout, group: Group) -> pl.DataFrame:
    """Return the marks of Figure 5: islands and binding in every suite, one by one."""
    panels = [
        (suite, "phenomenon", category, phenomenon, f"{title(category)} · {suite}", phenomenon)
        for wanted in BOTH
        for suite in collected.spec.suites
        for category, phenomenon in layout.phenomena[suite]
        if category == wanted
    ]
    return marks(collected, layout, group, panels)


def mapping(collected: Collected, layout: Layout) -> Table | None:
    """List the phenomena of every suite under their categories, with pairs (Table 10).

    The last column says under which category the paper's table has a phenomenon of that name.
    """
    rows: list[list[Any]] = []
    classes = {}
    pairs = {
        (suite, *key): n
        for suite, items in collected.items.items()
        for *key, n in items.group_by("category", "phenomenon").len().iter_rows()
    }
    categories = [c for found in layout.categories.values() for c in found]
    own = sorted(set(categories) - set(CATEGORY_ORDER))
    for category in [*CATEGORY_ORDER, *own]:
        for suite in collected.spec.suites:
            for there, phenomenon in layout.phenomena[suite]:
                if there != category:
                    continue
                theirs = table10.category(phenomenon)
                if theirs not in (None, category):
                    classes[len(rows)] = "flag"
                rows.append([
                    title(category), suite, phenomenon, pairs.get((suite, category, phenomenon)),
                    theirs and title(theirs),
                ])  # fmt: skip
    if not rows:
        return None
    columns = [
        text("Category"), text("Suite"), text("Phenomenon"),
        Column("Pairs", count), text("In the paper's Table 10"),
    ]  # fmt: skip
    caption = (
        "The phenomena of each suite by category, with their pairs, and the category of a "
        "phenomenon of that name in the paper's Table 10 (–: not listed)."
    )
    return Table("mapping", caption, columns, rows, classes)


def blocks(page: Page) -> list[Block] | None:
    """Return the figures of categories and of phenomena, and Table 10; see the module."""
    collected, layout, shelf = page.collected, page.layout, page.shelf
    table = shelf.table(mapping(collected, layout))
    if table is None:
        return None
    categories, phenomena = [], []
    for group in groups(layout):
        tail = f"-{group.condition}" if group.condition else ""
        of = f" of {group.condition} by bias" if group.condition else ""
        frame = by_category(collected, layout, group)
        if frame["facet"].n_unique() > 1 and frame["mean"].count():
            caption = (
                f"Accuracy by category in every suite{of}. Marks: means over seeds"
                f"{figures.spread(frame)}; dashed: 50%{_nulls(frame)}"
            )
            name = f"across-categories{tail}"
            categories.append(shelf.picture(name, caption, figures.accuracy, frame))
        frame = by_phenomenon(collected, layout, group)
        if frame["mean"].count():
            caption = (
                f"Islands and binding{of}, phenomenon by phenomenon. Marks: means over seeds"
                f"{figures.spread(frame, 'bars')}; dashed: 50%"
                f"{_nulls(frame, ', means over the models of the row')}"
            )
            phenomena.append(shelf.picture(f"across-phenomena{tail}", caption, dots, frame))
    found: list[Block] = []
    if not categories and not phenomena:
        found.append("Not run: the suites have no accuracies yet.")
    if categories:
        found += [Heading("Categories in every suite"), *categories]
    if phenomena:
        found += [Heading("Islands and binding, one by one"), *phenomena]
    return [
        *found,
        Heading("Categories, suites and phenomena"),
        drawer("All phenomena", table, LONG - 1),
    ]


def _nulls(frame: pl.DataFrame, how: str = "") -> str:
    nulls = figures.nulls_of(frame)
    return f"; small marks: what models make of the items without syntax{how}." if nulls else "."


# ---- Figure 5 ------------------------------------------------------------------------------------

_LANE = 0.088  # inches between the marks of two series of a row


def dots(frame: pl.DataFrame) -> Figure:
    """Draw accuracies as dots: a row for each phenomenon, a column for each size.

    Args:
        frame: :data:`MARKS`, the rows of a facet together.

    Returns:
        In each row a lane for each series, and one for the nulls below them.
    """
    from matplotlib.figure import Figure

    names = frame["series"].unique(maintain_order=True).to_list()
    sizes = figures.sizes_of(frame)["size"].to_list()
    rows = frame.select("facet", "panel").unique(maintain_order=True).rows()
    nulls = figures.nulls_of(frame)
    step = _LANE * (len(names) + bool(nulls)) + 0.08
    places, headings, y = {}, {}, 0.0  # inches from the top
    for index, (facet, panel) in enumerate(rows):
        if index == 0 or facet != rows[index - 1][0]:
            y += 0.1 if index else 0.02
            headings[facet] = y
            y += 0.22
        places[facet, panel] = y
        y += step
    figure = Figure(figsize=(style.WIDE, y + 1.05), layout="constrained")
    grid = figure.subplots(1, len(sizes), squeeze=False, sharey=True)[0]
    low, high = figures.limits(frame)
    for axes, size in zip(grid, sizes, strict=True):
        here = frame.filter(size=size)
        axes.axvline(50, color=style.MUTED.light, linewidth=1, linestyle=(0, (4, 3)))
        for (facet, panel), top in places.items():
            _dots_row(axes, here.filter(facet=facet, panel=panel), names, top)
        axes.set_title(f"Size {size}")
        axes.set_xlim(low, high)
        axes.set_xticks([t for t in (0, 25, 50, 75, 100) if low <= t <= high])
        axes.grid(visible=False, axis="y")
        axes.spines["left"].set_visible(False)
        for top in list(headings.values())[1:]:
            axes.axhline(top - 0.03, color=style.RULE.light, linewidth=0.8)
        axes.tick_params(axis="y", length=0, labelcolor=style.INK.light)
    grid[0].set_ylim(y, -0.1)
    ticks = {p + (step - 0.08) / 2: panel for (_, panel), p in places.items()}
    ticks |= {p + 0.11: facet for facet, p in headings.items()}
    grid[0].set_yticks(list(ticks), list(ticks.values()))
    for label in grid[0].get_yticklabels()[len(places) :]:
        label.set_fontweight("bold")
    figure.supxlabel("Accuracy (%)", fontsize=8.5, color=style.INK.light)
    style.legend(figure, _handles(frame, names))
    return figure


def _dots_row(axes: Axes, here: pl.DataFrame, names: list[str], top: float) -> None:
    """Draw a row: a lane for each series, its nulls below."""
    for index, name in enumerate(names):
        colour, marker, _ = style.series(index)
        y = top + _LANE * (index + 0.5)
        mine = here.filter(pl.col("mean").is_not_null(), series=name)
        for row in mine.iter_rows(named=True):
            mean, sd = 100 * row["mean"], 100 * (row["sd"] or 0)
            axes.plot([mean - sd, mean + sd], [y, y], color=colour, linewidth=1.6, alpha=0.55)
            axes.plot([mean], [y], color=colour, marker=marker, markersize=4.6, linestyle="none",
                      label=name)  # fmt: skip
    y = top + _LANE * (len(names) + 0.5)
    for null in figures.nulls_of(here):
        handle = figures.null_handles([null])[0]
        mean = 100 * here.select(pl.mean(null)).item()
        axes.plot([mean], [y], linestyle="none", marker=_UPRIGHT.get(null) or "o",
                  markersize=4, color=handle.get_color(), markerfacecolor="none",
                  markeredgewidth=1, label=null)  # fmt: skip


_UPRIGHT = {"unigram": "|", "ngram": "x"}  # a stroke across the axis on which values lie


def _handles(frame: pl.DataFrame, names: list[str]) -> list[Any]:
    from matplotlib.lines import Line2D

    handles: list[Any] = figures.series_handles(names, linestyle="none")
    grey = style.MUTED.light
    if frame["sd"].count():
        handles.append(
            Line2D([], [], color=grey, linewidth=1.6, alpha=0.55, label="± 1 SD over seeds")
        )
    nulls = figures.nulls_of(frame)
    for null, handle in zip(nulls, figures.null_handles(nulls), strict=True):
        handle.set_marker(_UPRIGHT.get(null) or "o")
        handles.append(handle)
    handles.append(Line2D([], [], color=grey, linewidth=1, linestyle=(0, (4, 3)), label="chance"))
    return handles
