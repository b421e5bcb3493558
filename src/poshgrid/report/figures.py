"""The figures of accuracies, and what several sections draw.

Every figure draws a frame and nothing else, and the frame is its download, so that figures and
tables hold the same numbers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from textwrap import fill
from typing import Any

import polars as pl

from poshgrid.config.runs import NULLS, WORD_NULLS, words_of
from poshgrid.files import Schema
from poshgrid.report import shelf, style
from poshgrid.report.blocks import Page
from poshgrid.report.cells import NULL_NAMES, Scores, known
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Arm, Layout, groups, title
from poshgrid.report.shelf import Picture
from poshgrid.report.texts import say
from poshgrid.tables.words import ABSENT, listed, short

POINTS: Schema = {
    "suite": pl.String,
    "category": pl.String,
    "facet": pl.String,  # the condition, where conditions and other axes vary; "" otherwise
    "panel": pl.String,  # a category, a phenomenon, or Overall
    "series": pl.String,  # the arm within its facet
    "size": pl.String,
    "words": pl.UInt64,
    "mean": pl.Float64,  # share of pairs; null: not run
    "sd": pl.Float64,  # over seeds; null with one seed
    "low": pl.Float64,  # 95% interval, over lexical sets
    "high": pl.Float64,
    "n_seeds": pl.UInt32,
    "n_pairs": pl.UInt32,  # that each seed judged; null: a mean of shares
    "untrained": pl.Float64,  # mean of the untrained models
    **dict.fromkeys(WORD_NULLS, pl.Float64),  # of the nulls that count words
}
"""A figure of accuracies: one row per mark."""

Place = tuple[str, str, str, str]
"""Suite, level, category, phenomenon."""


def points(
    collected: Collected, layout: Layout, marks: Iterable[tuple[str, str, str, Arm, Place]]
) -> pl.DataFrame:
    """Return a figure of accuracies (:data:`POINTS`).

    Args:
        collected: all results.
        layout: order of sizes.
        marks: facet, panel and series of each arm and place, which has a mark at each size.
    """
    scores = Scores(collected.accuracy)
    rows = []
    for facet, panel, series, arm, place in marks:
        for size in layout.sizes:
            cell = scores.cell(layout, arm, size, *place)
            if cell != ABSENT:
                rows.append({
                    "suite": place[0], "category": place[2], "facet": facet, "panel": panel,
                    "series": series, "size": size, "words": layout.read(arm.condition, size),
                    **known(cell, POINTS),
                })  # fmt: skip
    return pl.DataFrame(rows, schema=POINTS)


def by_category(collected: Collected, layout: Layout, suite: str) -> pl.DataFrame:
    """Return the marks of a suite's categories and of all together (:data:`POINTS`)."""
    one = len({arm.condition for arm in layout.arms}) == 1
    faceted = not one and len({arm.variant for arm in layout.arms}) > 1
    places: dict[str, Place] = {
        title(c): (suite, "category", c, "") for c in layout.categories[suite]
    }
    places[title("overall")] = (suite, "overall", "", "")
    marks = (
        (
            arm.condition if faceted else "",
            panel,
            (arm.variant if one or faceted else arm.label) or arm.condition,
            arm,
            place,
        )
        for arm in layout.arms
        for panel, place in places.items()
    )
    return points(collected, layout, marks)


def picture(page: Page, suite: str) -> Picture:
    """Draw a suite's accuracy figure."""
    frame = by_category(page.collected, page.layout, suite)
    return page.shelf.picture(f"accuracy-{suite}", say("accuracy", suite), accuracy, frame)


def opening(page: Page, suite: str) -> Picture | None:
    """Draw the first of the grid's comparisons alone; ``None``: there is one, and that is all."""
    first, *others = groups(page.layout)
    if not others:
        return None
    arms = [arm for _, arm in first.arms]
    if len({arm.condition for arm in arms}) == len(arms):  # the condition alone tells them apart
        arms = [dataclasses.replace(arm, variant="") for arm in arms]
    frame = by_category(page.collected, dataclasses.replace(page.layout, arms=arms), suite)
    names = {c: f"{c} ({without(page.collected, c)})" for c in page.collected.filtered}
    frame = frame.with_columns(pl.col("series").replace(names))
    return page.shelf.picture(f"opening-{suite}", say("accuracy", suite), accuracy, frame)


def without(collected: Collected, condition: str) -> str:
    """Say what a filtered condition goes without: what its filters remove, where they are known."""
    filters = list(collected.spec.removed.get(condition, {}))
    return f"without {listed(filters)}" if filters else "filtered"


def accuracy(points: pl.DataFrame) -> style.Figure:
    """Draw accuracy by size, one panel for each category and facet, a line for each series.

    Args:
        points: :data:`POINTS`; a facet need not have every panel.

    Returns:
        Means with a band of one SD over seeds, the chance line, marks of the nulls.
    """
    several = points["facet"].n_unique() > 1
    figure, axes_of = style.facets(points, 5, (0.75, 2.1 if several else 1.95))
    names = points["series"].unique(maintain_order=True).to_list()
    sizes = sizes_of(points)
    for (facet, panel), axes in axes_of.items():
        part = points.filter(facet=facet, panel=panel)
        accuracy_panel(axes, part, names, sizes, single=sizes.height == 1)
        style.percent_axis(axes, *limits(points))
    style.legend(figure, [*style.series_handles(names), *null_handles(nulls_of(points))])
    return figure


def rows(
    names: list[str], series: list[str], columns: int = 1
) -> tuple[style.Figure, list[style.Axes], dict[tuple[str, str], tuple[float, Any]]]:
    """Return a figure of rows, one lane for each series in them.

    Args:
        names: of the rows, from top to bottom.
        series: in the order of their colours.
        columns: panels side by side.

    Returns:
        The figure, its panels, and of each row and series the height and what it looks like.
    """
    step = 0.2 * len(series) + 0.14  # inches for a row
    figure = style.figure(1.1 + step * len(names))
    panels = list(figure.subplots(1, columns, squeeze=False, sharey=True)[0])
    for axes in panels:
        style.names_axis(axes)
        for i in range(len(names) - 2, -1, -2):
            axes.axhspan(i - 0.5, i + 0.5, color=style.PANEL.light, linewidth=0, zorder=0)
    panels[0].set_yticks(range(len(names)), names[::-1])
    panels[0].set_ylim(-0.55, len(names) - 0.45)
    places = {}
    for i, name in enumerate(names):
        for k, one in enumerate(series):
            shift = 0.2 / step * (k - (len(series) - 1) / 2)
            places[name, one] = (len(names) - 1 - i - shift, style.series(k))
    return figure, panels, places


def sizes_of(points: pl.DataFrame) -> pl.DataFrame:
    """Return ``size`` and the ``words`` that it names, of the sizes in a frame, ascending."""
    sizes = sorted(points["size"].unique(), key=words_of)
    schema = {"size": pl.String, "words": pl.Float64}
    return pl.DataFrame([(size, words_of(size)) for size in sizes], schema=schema, orient="row")


def accuracy_panel(
    axes: style.Axes,
    points: pl.DataFrame,
    names: list[str],
    sizes: pl.DataFrame,
    *,
    single: bool = False,
) -> None:
    """Draw one panel of accuracies.

    Args:
        axes: where to.
        points: the rows of the panel; see :func:`accuracy`.
        names: all series of the figure, in the order of their colours.
        sizes: ``size, words`` of all panels: a tick for each, where its name says. Marks stand at
            the words that were trained on.
        single: x is one place per series, not the number of training words on a log scale.
    """
    axes.axhline(50, **style.CHANCE)
    for index, name in enumerate(names):
        colour, marker, dashes = style.series(index)
        mine = points.filter(series=name).sort("words")
        x = [index] * mine.height if single else mine["words"].to_list()
        for null in nulls_of(points):
            form, shift = _NULL_MARKS[null]
            axes.plot(
                [v + 2.5 * shift if single else v * (1 + shift) for v in x],
                mine[null] * 100, linestyle="none", marker=form or marker,
                color=colour, markerfacecolor="none", markeredgewidth=1, markersize=4.5,
                alpha=0.85, label=f"{null} {name}",
            )  # fmt: skip
        run = mine.filter(pl.col("mean").is_not_null())
        x = [index] * run.height if single else run["words"].to_list()
        y, sd = run["mean"].to_numpy() * 100, run["sd"].fill_null(0).to_numpy() * 100
        if len(x) == 1:  # a band needs two points
            axes.vlines(x, y - sd, y + sd, color=colour, alpha=0.45, linewidth=3)
        else:
            axes.fill_between(x, y - sd, y + sd, color=colour, alpha=0.16, linewidth=0)
        axes.plot(x, y, color=colour, marker=marker, linestyle=dashes, label=name)
        for place, row in zip(x, run.iter_rows(named=True), strict=True):
            hit = axes.scatter(place, 100 * row["mean"], s=160, color=colour, alpha=0)
            hit.set_gid(shelf.TIP + say("mark", row, NULL_NAMES))
    axes.grid(visible=False, axis="x")
    if single:
        axes.set_xlim(-0.6, len(names) - 0.4)
        axes.set_xticks([(len(names) - 1) / 2], [sizes["size"][0]])
    else:
        words_axis(axes, sizes, points)


def words_axis(axes: style.Axes, sizes: pl.DataFrame, points: pl.DataFrame) -> None:
    """Lay words out on a log scale, with room for what lies beside the sizes that are ticks."""
    axes.set_xscale("log")
    axes.set_xticks(sizes["words"].to_list(), sizes["size"].to_list())
    axes.minorticks_off()
    x = [*sizes["words"], *points["words"]]
    axes.set_xlim(min(x) / 1.25, max(x) * 1.25)


def log_words(axes: style.Axes, left: float, right: float) -> None:
    """Lay words out on a log scale between two ends, with round numbers as ticks."""
    leads = (1, 3) if right < 300 * left else (1,)
    ticks = [lead * 10**power for power in range(12) for lead in leads]
    ticks = [words for words in ticks if left <= words <= right]
    axes.set_xscale("log")
    axes.set_xticks(ticks, [short(words) for words in ticks])
    axes.minorticks_off()
    axes.set_xlim(left, right)


_NULL_MARKS: dict[str, tuple[str, float]] = {
    "untrained": ("", 0.0),  # the series' own mark, hollow
    "unigram": ("_", -0.09),
    "ngram": ("x", 0.09),
    "class_ngram": ("+", 0.18),
}
"""Mark of a null, and how far it is moved aside so that it can be seen."""


def nulls_of(points: pl.DataFrame) -> list[str]:
    """Return the nulls that a frame has values of, in the order of tables."""
    return [
        null for null in NULLS if null in points.columns and points[null].null_count() < len(points)
    ]


def null_handles(nulls: list[str], marks: Mapping[str, str] | None = None) -> list[style.Line2D]:
    """Return the legend's entries of nulls, grey.

    Args:
        nulls: some of ``NULLS``.
        marks: null -> its mark, where it is not that of :func:`accuracy_panel`.
    """
    own = {null: mark for null, (mark, _) in _NULL_MARKS.items()} if marks is None else marks
    names = NULL_NAMES | {"untrained": "untrained model"}
    return [
        style.handle(names[null], linestyle="none", marker=own.get(null) or "o", markersize=4.5,
                     markerfacecolor="none")
        for null in nulls
    ]  # fmt: skip


def limits(points: pl.DataFrame) -> tuple[float, float]:
    """Return limits of the percentage axis that hold every band, mark and the chance line."""
    sd = pl.col("sd").fill_null(0)
    nulls = nulls_of(points)
    lows = points.select(pl.min_horizontal(pl.col("mean") - sd, *nulls)).to_series()
    highs = points.select(pl.max_horizontal(pl.col("mean") + sd, *nulls)).to_series()
    low = min([0.4, *lows.drop_nulls().to_list()])
    high = max([0.6, *highs.drop_nulls().to_list()])
    return max(-2.0, 10 * int(10 * max(low, 0)) - 2.0), min(102.0, 10 * -int(-10 * high // 1) + 2.0)


def spread(frame: pl.DataFrame, what: str = "bands and bars") -> str:
    """Return the part of a caption that explains SDs; "" where there are none."""
    return f"; {what}: ± 1 SD" if frame["sd"].count() else ""


def shares(rows: pl.DataFrame, measures: Mapping[str, str], label: str) -> style.Figure:
    """Draw shares with their intervals: a panel for each measure and place, a row for each model.

    Args:
        rows: suite, phenomenon, model, null (hollow), measure, accuracy, low, high (shares), in
            the order of places and models, several rows where a model has seeds; chance: of a
            place, null where there is none; without this column it is one half.
        measures: measure -> title of its panels.
        label: of the axis of shares.
    """
    places = rows.select("suite", "phenomenon").unique(maintain_order=True).rows()
    models = rows["model"].unique(maintain_order=True).to_list()
    panels = [(measure, place) for measure in measures for place in places]
    columns = min(4, len(panels) if len(places) == 1 else len(places))
    figure, flat, _ = style.panels(
        len(panels), columns, (0.3, 0.95 + 0.15 * len(models)), sharey=True
    )
    several = len({suite for suite, _ in places}) > 1
    colour = style.SERIES[0].light
    for axes, (measure, (suite, phenomenon)) in zip(flat, panels, strict=True):
        place = " · ".join(filter(None, (suite if several or not phenomenon else "", phenomenon)))
        lines = f"{measures[measure]}\n{place}".strip().splitlines()
        axes.set_title("\n".join(fill(x, 22 if columns > 2 else 34) for x in lines), fontsize=7.5)
        part = rows.filter(suite=suite, phenomenon=phenomenon, measure=measure).to_dicts()
        for row in part:
            share = 100 * row["accuracy"]
            # An interval that ends at its share may end a rounding error beyond it.
            ends = [share - 100 * row["low"], 100 * row["high"] - share]
            axes.errorbar(
                share, models.index(row["model"]), xerr=[[max(end, 0.0)] for end in ends],
                fmt="o", markersize=4, color=colour, linewidth=1, alpha=0.8,
                markerfacecolor="white" if row["null"] else colour,
            )  # fmt: skip
        chance = part[0].get("chance", 0.5) if part else None
        if chance is not None:
            axes.axvline(100 * chance, linestyle=":", color="0.5", linewidth=1)
        axes.set_yticks(range(len(models)), models, fontsize=7)
        axes.set_ylim(len(models) - 0.4, -0.6)
        axes.set_xlim(-3, 103)
        axes.set_xlabel(label, fontsize=8)
    return figure
