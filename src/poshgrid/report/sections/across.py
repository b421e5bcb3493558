"""Suites beside each other: the paper's Figures 2 and 5, and its Table 10 for this target.

Suites that test the same thing with other items are the check that a result is not one of the
items. Categories meet where Table 10 groups phenomena alike; phenomena are shown one by one.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import polars as pl

from poshgrid.benchmark.reading import table10
from poshgrid.report import figures, style
from poshgrid.report.blocks import Block, Heading, Page, drawer
from poshgrid.report.collect import Collected
from poshgrid.report.layout import CATEGORY_ORDER, Group, Layout, groups, title
from poshgrid.report.texts import say
from poshgrid.tables.table import Column, Table, text, texts
from poshgrid.tables.words import count

TITLE, ORDER, AUDIENCE = "Across benchmarks", 50, "reader"
BOTH = ("island", "binding")
"""The categories that the outside suites have, too (Table 10): those of Figure 5."""
LONG = 30
"""Rows from which the table of phenomena is folded away."""

Panels = list[tuple[str, str, figures.Place]]
"""Facet, panel, place."""


def blocks(page: Page) -> list[Block] | None:
    """Return the figures of categories and of phenomena, and Table 10; see the module."""
    table = page.table(mapping(page.collected, page.layout))
    if table is None:
        return None
    categories, phenomena = [], []
    for group in groups(page.layout):
        tail = f"-{group.condition}" if group.condition else ""
        frame = marks(page, group, categories_of(page.collected, page.layout))
        nulls = figures.nulls_of(frame)
        if frame["facet"].n_unique() > 1 and frame["mean"].count():
            caption = say("across_categories", group.condition, figures.spread(frame), nulls)
            name = f"across-categories{tail}"
            categories.append(page.shelf.picture(name, caption, figures.accuracy, frame))
        frame = marks(page, group, phenomena_of(page.collected, page.layout))
        nulls = figures.nulls_of(frame)
        if frame["mean"].count():
            spread = figures.spread(frame, "bars")
            caption = say("across_phenomena", group.condition, spread, nulls)
            name = f"across-phenomena{tail}"
            phenomena.append(page.shelf.picture(name, caption, dots, frame))
    return [
        *([Heading("Categories in every suite")] if categories else []),
        *categories,
        *([Heading("Islands and binding, one by one")] if phenomena else []),
        *phenomena,
        Heading("Categories, suites and phenomena"),
        drawer("All phenomena", table, LONG - 1),
    ]


def marks(page: Page, group: Group, panels: Panels) -> pl.DataFrame:
    """Return the marks of the models of a group in each panel (``figures.POINTS``)."""
    marked = (
        (facet, panel, name, arm, place)
        for facet, panel, place in panels
        for name, arm in group.arms
    )
    return figures.points(page.collected, page.layout, marked)


def categories_of(collected: Collected, layout: Layout) -> Panels:
    """Return the panels of Figure 2: the paper's categories in every suite that has them.

    What most suites have comes first, so that like stands below like without gaps: islands and
    binding before question formation and wanna, posh, which has all four, before the others.
    """
    own = {
        suite: [c for c in CATEGORY_ORDER if c in layout.categories[suite]]
        for suite in collected.spec.suites
    }
    spread = Counter(category for categories in own.values() for category in categories)
    return [
        (suite, title(category), (suite, "category", category, ""))
        for suite in sorted(own, key=lambda suite: -len(own[suite]))
        for category in sorted(own[suite], key=lambda category: -spread[category])
    ]


def phenomena_of(collected: Collected, layout: Layout) -> Panels:
    """Return the panels of Figure 5: islands and binding in every suite, one by one."""
    return [
        (f"{title(category)} · {suite}", name, (suite, "phenomenon", category, name))
        for wanted in BOTH
        for suite in collected.spec.suites
        for category, name in layout.phenomena[suite]
        if category == wanted
    ]


def mapping(collected: Collected, layout: Layout) -> Table:
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
    own = {c for categories in layout.categories.values() for c in categories}
    for category in [*CATEGORY_ORDER, *sorted(own - set(CATEGORY_ORDER))]:
        for suite in collected.spec.suites:
            for phenomenon in (p for c, p in layout.phenomena[suite] if c == category):
                theirs = table10.category(phenomenon)
                if theirs not in (None, category):
                    classes[len(rows)] = "flag"
                rows.append([
                    title(category), suite, phenomenon, pairs.get((suite, category, phenomenon)),
                    theirs and title(theirs),
                ])  # fmt: skip
    columns = [
        *texts("Category", "Suite", "Phenomenon"), Column("Pairs", count),
        text("In the paper's Table 10"),
    ]  # fmt: skip
    return Table("mapping", say("mapping"), columns, rows, classes)


# ---- Figure 5 ------------------------------------------------------------------------------------

# A stroke across the axis on which values lie
_UPRIGHT = {"unigram": "|", "ngram": "x", "class_ngram": "+"}


def dots(frame: pl.DataFrame) -> style.Figure:
    """Draw accuracies as dots: a row for each phenomenon, a column for each size.

    Args:
        frame: ``figures.POINTS``, the rows of a facet together.

    Returns:
        In each row a lane for each series, and one for the nulls below them.
    """
    frame = frame.with_columns(row=pl.format("{} · {}", "facet", "panel"))
    names = frame["row"].unique(maintain_order=True).to_list()
    series = frame["series"].unique(maintain_order=True).to_list()
    sizes = figures.sizes_of(frame)["size"].to_list()
    nulls = figures.nulls_of(frame)
    lanes = [*series, "nulls"] if nulls else series
    figure, panels, places = figures.rows(names, lanes, len(sizes))
    low, high = figures.limits(frame)
    for axes, size in zip(panels, sizes, strict=True):
        of_size = frame.filter(size=size)
        axes.axvline(50, **style.CHANCE)
        for row in of_size.drop_nulls("mean").iter_rows(named=True):
            y, (colour, marker, _) = places[row["row"], row["series"]]
            mean, sd = 100 * row["mean"], 100 * (row["sd"] or 0)
            axes.plot([mean - sd, mean + sd], [y, y], color=colour, linewidth=1.6, alpha=0.55)
            axes.plot([mean], [y], color=colour, marker=marker, markersize=4.6, linestyle="none",
                      label=row["series"])  # fmt: skip
        means = of_size.group_by("row", maintain_order=True).agg(pl.col(nulls).mean() * 100)
        for null in nulls:
            heights = [places[name, "nulls"][0] for name in means["row"]]
            axes.plot(means[null], heights, linestyle="none", marker=_UPRIGHT.get(null) or "o",
                      markersize=4, color=style.MUTED.light, markerfacecolor="none",
                      markeredgewidth=1, label=null)  # fmt: skip
        axes.set_title(f"Size {size}")
        axes.set_xlim(low, high)
        axes.set_xticks([t for t in (0, 25, 50, 75, 100) if low <= t <= high])
    figure.supxlabel("Accuracy (%)", fontsize=8.5, color=style.INK.light)
    handles = style.series_handles(series, linestyle="none")
    if frame["sd"].count():
        handles.append(style.handle("± 1 SD over seeds", linewidth=1.6, alpha=0.55))
    handles += [*figures.null_handles(nulls, _UPRIGHT), style.handle("chance", **style.CHANCE)]
    style.legend(figure, handles)
    return figure
