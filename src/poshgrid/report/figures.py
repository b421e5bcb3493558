"""The figures: lines and boxes in small multiples, and rows of estimates.

Every figure shows the numbers of one frame, and readers can download this frame.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from textwrap import fill
from typing import Any

import polars as pl

from poshgrid.config.runs import BASELINES
from poshgrid.core.files import Schema
from poshgrid.report import style
from poshgrid.report.accuracies import BASELINE_NAMES
from poshgrid.report.style import INK, MUTED, PAGE, SERIES, Palette
from poshgrid.report.texts import say

ROWS: Schema = {
    "panel": pl.String,
    "row": pl.String,
    "series": pl.String,  # null: the sign of the value gives the colour
    "lane": pl.String,  # position within the row; null: that of the series
    "value": pl.Float64,
    "low": pl.Float64,  # lower end of the interval; null: none
    "high": pl.Float64,  # upper end
    "filled": pl.Boolean,
    "note": pl.String,  # text to the right of the row
    "reference": pl.Float64,  # dashed line of the panel; null: none
}
"""A figure of estimates in rows: one row per mark, from top to bottom; a column may be missing."""

MANY = 4
"""With more series in one panel, the points of a size are drawn side by side."""
_BASELINE_MARKS = {"untrained": "o", "unigram": "|", "ngram": "x", "class_ngram": "+"}
_SHIFTS = {"untrained": 0.0, "unigram": -0.09, "ngram": 0.09, "class_ngram": 0.18}
"""How far the mark of a baseline is moved to the side, so that marks do not cover each other."""


# ---- lines ---------------------------------------------------------------------------------------


def lines(
    frame: pl.DataFrame,
    palette: Palette,
    *,
    x: str = "words",
    columns: int = 5,
) -> style.Figure:
    """Draw accuracies: small multiples, a line for each series.

    Args:
        frame: one row per mark: facet (condition, suite or size of a line of panels; "": one line
            only), panel (a category, a phenomenon, a suite), series (the arm within its facet),
            size, words (of training) or epoch (mean over seeds), mean (share of pairs; null: not
            run), sd (over seeds; null with one seed), low and high (95% interval), n_seeds, n_pairs
            (null: a mean of shares), the means of baselines; in curves kept: the weights that
            training kept, not a checkpoint.
        palette: of the page.
        x: ``words``, on a log scale with a tick for each size, or ``epoch``.
        columns: largest number of panels in a line.

    Returns:
        A figure with means, a band of one SD over seeds, the line of 50%, hollow marks for
        baselines, and rings for kept weights. The label of the axes is "facet/panel".
    """
    names = frame["series"].unique(maintain_order=True).to_list()
    baselines = baselines_of(frame)
    sizes: dict[str, float] = {}  # size -> words at its tick: the mean of its points
    if x == "words":
        known = frame.drop_nulls(["size", "words"])
        sizes = dict(known.group_by("size", maintain_order=True).agg(pl.mean("words")).iter_rows())
    single = len(sizes) == 1
    if x == "words" and not single and len(names) > MANY:
        numbers = pl.col("series").replace_strict({name: i for i, name in enumerate(names)})
        frame = frame.with_columns(pl.col("words") * 1.02 ** (numbers - len(names) / 2))
    drawn, panels = _facets(frame, columns)
    low, high = limits(frame)
    for (facet, panel), axes in panels.items():
        part = frame.filter(facet=facet, panel=panel)
        axes.axhline(50, **style.CHANCE)
        for index, name in enumerate(names):
            _line(axes, part.filter(series=name), palette(name), baselines, index if single else x)
        _percent_axis(axes, low, high)
        if single:
            axes.grid(visible=False, axis="x")
            axes.set_xlim(-0.6, len(names) - 0.4)
            axes.set_xticks([(len(names) - 1) / 2], list(sizes))
        elif x == "words":
            axes.grid(visible=False, axis="x")
            axes.set_xscale("log")
            axes.set_xticks(list(sizes.values()), list(sizes))
            axes.minorticks_off()
            ends = [*sizes.values(), *frame["words"]]
            axes.set_xlim(min(ends) / 1.25, max(ends) * 1.25)
        else:
            axes.set_xlim(0, 1.03 * max(frame["epoch"].drop_nulls(), default=0.0))
            axes.set_xlabel("Epoch")
    handles = [style.handle(name, **palette(name).line()) for name in names]
    if x == "epoch":
        ring = {"linestyle": "none", "marker": "o", "markersize": 7, "markerfacecolor": "none"}
        handles.append(style.handle("weights kept", **ring))
    style.legend(drawn, [*handles, *_baseline_handles(baselines)])
    return drawn


def _line(
    axes: style.Axes, mine: pl.DataFrame, look: style.Look, baselines: list[str], at: str | int
) -> None:
    """Draw one series in a panel.

    Args:
        axes: of the panel.
        mine: rows of the series.
        look: of the series.
        baselines: whose marks are drawn.
        at: the column of x values, or one x value for all rows.
    """
    single = isinstance(at, int)

    def x_of(rows: pl.DataFrame) -> list[float]:
        return [at] * rows.height if isinstance(at, int) else rows[at].to_list()

    run = mine.drop_nulls("mean").sort("words" if single else at)
    for baseline in baselines:
        shift = _SHIFTS[baseline]
        axes.plot(
            [x + 2.5 * shift if single else x * (1 + shift) for x in x_of(mine)],
            mine[baseline] * 100, linestyle="none",
            marker=_BASELINE_MARKS[baseline].replace("|", "_").replace("o", look.marker),
            color=look.colour, markerfacecolor="none", markeredgewidth=1, markersize=4.5,
            alpha=0.85,
        )  # fmt: skip
    kept = run.filter("kept") if "kept" in run.columns else run.clear()
    run = run.filter(~pl.col("kept")) if "kept" in run.columns else run
    x, y, sd = x_of(run), run["mean"].to_numpy() * 100, run["sd"].fill_null(0).to_numpy() * 100
    if len(x) == 1:  # a band needs two points
        axes.vlines(x, y - sd, y + sd, color=look.colour, alpha=0.45, linewidth=3)
    else:
        axes.fill_between(x, y - sd, y + sd, color=look.colour, alpha=0.16, linewidth=0)
    axes.plot(x, y, **look.line(markersize=3 if at == "epoch" else 5))
    axes.plot(x_of(kept), kept["mean"] * 100, linestyle="none", marker="o", markersize=7,
              color=look.colour, markerfacecolor="none")  # fmt: skip
    for mark_x, row in zip(x, run.iter_rows(named=True), strict=True):
        if at != "epoch":
            hit = axes.scatter(mark_x, 100 * row["mean"], s=160, color=look.colour, alpha=0)
            hit.set_gid(style.TIP + say("mark", row, BASELINE_NAMES))


def _facets(
    frame: pl.DataFrame, most: int
) -> tuple[style.Figure, dict[tuple[str, str], style.Axes]]:
    """Return a figure, and the axes of each facet and panel of a frame.

    If all panels fit into one line, panels of one name are in one column; else a facet's panels
    follow each other without gaps.
    """
    names = frame["panel"].unique(maintain_order=True).to_list()
    known = set(frame.select("facet", "panel").iter_rows())
    columns = min(most, len(names))
    positions: dict[tuple[str, str], tuple[int, int]] = {}
    rows = 0
    for facet in frame["facet"].unique(maintain_order=True):
        own = [name for name in names if (facet, name) in known]
        aligned = names if len(names) <= columns else own
        positions |= {
            (facet, name): (rows + index // columns, index % columns)
            for index, name in enumerate(aligned)
            if name in own
        }
        rows += -(-len(aligned) // columns)
    drawn = style.figure(0.8 + 2.05 * rows)
    grid = drawn.subplots(rows, columns, squeeze=False, sharey=True)
    for axes in grid.flat:
        axes.set_axis_off()
    for (facet, name), (row, column) in positions.items():
        axes = grid[row][column]
        axes.set_axis_on()
        axes.set_title(f"{facet}\n{name}" if facet else name)
        axes.set_label(f"{facet}/{name}")
        if not any((row, left) in positions.values() for left in range(column)):
            axes.set_ylabel("Accuracy (%)")
            axes.tick_params(labelleft=True)
    return drawn, {key: grid[cell] for key, cell in positions.items()}


def _percent_axis(axes: style.Axes, low: float, high: float) -> None:
    from matplotlib.ticker import MultipleLocator

    axes.set_ylim(low, high)
    axes.yaxis.set_major_locator(MultipleLocator(10 if high - low <= 60 else 20))


def baselines_of(frame: pl.DataFrame) -> list[str]:
    """Return the baselines with values in a frame, in the order of tables."""
    return [n for n in BASELINES if n in frame.columns and frame[n].null_count() < frame.height]


def _baseline_handles(baselines: Iterable[str]) -> list[style.Line2D]:
    look = {"linestyle": "none", "markersize": 4.5, "markerfacecolor": "none"}
    marks = {baseline: _BASELINE_MARKS[baseline].replace("|", "_") for baseline in baselines}
    return [style.handle(BASELINE_NAMES[name], marker=mark, **look) for name, mark in marks.items()]


def limits(frame: pl.DataFrame) -> tuple[float, float]:
    """Return limits of the percentage axis that include every band and mark and the line of 50%."""
    sd, baselines = pl.col("sd").fill_null(0), baselines_of(frame)
    lows = frame.select(pl.min_horizontal(pl.col("mean") - sd, *baselines)).to_series()
    highs = frame.select(pl.max_horizontal(pl.col("mean") + sd, *baselines)).to_series()
    low = min([0.4, *lows.drop_nulls().to_list()])
    high = max([0.6, *highs.drop_nulls().to_list()])
    return max(-2.0, 10 * int(10 * max(low, 0)) - 2.0), min(102.0, 10 * -int(-10 * high // 1) + 2.0)


# ---- boxes ---------------------------------------------------------------------------------------


def boxes(frame: pl.DataFrame, palette: Palette) -> style.Figure:
    """Draw how far accuracies lie apart: a box for each size and series in each panel.

    Args:
        frame: one row per value: facet, panel, size, series, share (of pairs).
        palette: of the page.
    """
    places = frame.select("size", "series").unique(maintain_order=True).rows()
    drawn, panels = _facets(frame, 5)
    for (facet, panel), axes in panels.items():
        axes.axhline(50, **style.CHANCE)
        for at, (size, series) in enumerate(places):
            mine = frame.filter(facet=facet, panel=panel, size=size, series=series)["share"] * 100
            look, parts = palette(series), ("box", "whisker", "cap", "median", "flier")
            props: dict[str, Any] = {f"{part}props": {"color": look.colour} for part in parts}
            props["flierprops"] = {"marker": look.marker, "markeredgecolor": look.colour,
                                   "markerfacecolor": "none", "markersize": 3}  # fmt: skip
            axes.boxplot([mine.to_list()], positions=[at], widths=0.6, manage_ticks=False, **props)
        axes.grid(visible=False, axis="x")
        ticks = {size: [i for i, place in enumerate(places) if place[0] == size]
                 for size, _ in places}  # fmt: skip
        axes.set_xticks([sum(at) / len(at) for at in ticks.values()], list(ticks))
        _percent_axis(axes, -2, 102)
    names = dict.fromkeys(series for _, series in places)
    style.legend(drawn, [style.handle(name, color=palette(name).colour) for name in names])
    return drawn


# ---- rows ----------------------------------------------------------------------------------------


def rows(
    frame: pl.DataFrame,
    palette: Palette,
    label: str,
    *,
    columns: int = 3,
    kinds: Mapping[bool, str] | None = None,
    percent: bool = False,
) -> style.Figure:
    """Draw estimates with their intervals in rows; a row has a lane for each series.

    Marks have the colour of their series. Without series they are blue from 0, orange below 0, and
    grey if hollow.

    Args:
        frame: :data:`ROWS`.
        palette: of the page.
        label: of the axis of values.
        columns: largest number of panels in a line.
        kinds: names of filled (True) and hollow (False) marks in the legend.
        percent: whether the axis goes from 0 to 100.
    """
    frame = frame.with_columns(
        pl.lit(None, kind).alias(name) for name, kind in ROWS.items() if name not in frame.columns
    ).with_columns(pl.col("lane").fill_null(pl.col("series").fill_null("")))
    lanes = frame["lane"].unique(maintain_order=True).to_list()
    parts = frame.partition_by("panel", maintain_order=True)
    names = [part["row"].unique(maintain_order=True).to_list() for part in parts]
    columns = min(columns, len(parts))
    groups = [range(i, min(i + columns, len(parts))) for i in range(0, len(parts), columns)]
    step = 0.12 * len(lanes) + 0.09  # inches for a row
    heights = [0.3 + step * max(len(names[i]) for i in group) for group in groups]
    drawn = style.figure(0.8 + sum(heights) + 0.45 * len(groups))
    grid = drawn.subplots(len(groups), columns, squeeze=False, height_ratios=heights)
    for axes in grid.flat[len(parts) :]:
        axes.set_axis_off()
    for i, (axes, part) in enumerate(zip(grid.flat, parts, strict=False)):
        repeated = i % columns and names[i] == names[i - 1]
        most = max(len(names[j]) for j in groups[i // columns])
        _rows_panel(axes, names[i], most, bare=bool(repeated), longest=48 if columns > 1 else 70)
        if part["reference"][0] is not None:
            axes.axvline(part["reference"][0], **style.CHANCE)
        if percent:
            axes.set_xlim(-3, 103)
        for mark in part.iter_rows(named=True):
            shift = (lanes.index(mark["lane"]) + 1) / (len(lanes) + 1) - 0.5
            _mark(axes, mark, names[i].index(mark["row"]) + shift, palette)
        lines_of_title = part["panel"][0].splitlines()
        if columns > 1:
            lines_of_title = [fill(line, 92 // columns) for line in lines_of_title]
        axes.set_title("\n".join(lines_of_title), fontsize=9.5 if columns < 3 else 8.5)
        if i + columns >= len(parts):
            axes.set_xlabel(label)
    series = frame["series"].drop_nulls().unique(maintain_order=True)
    handles = [style.handle(name, **palette(name).line(linestyle="none"))
               for name in series if name and name not in BASELINE_NAMES.values()]  # fmt: skip
    handles += _baseline_handles(n for n, name in BASELINE_NAMES.items() if name in set(series))
    for filled, kind in (kinds or {}).items():
        face = MUTED.light if filled else PAGE.light
        handles.append(style.handle(kind, marker="o", linestyle="none", markerfacecolor=face))
    style.legend(drawn, handles)
    return drawn


def _rows_panel(axes: style.Axes, names: list[str], most: int, *, bare: bool, longest: int) -> None:
    """Write the names of rows on the vertical axis, from top to bottom, and shade every other row.

    Args:
        axes: of the panel.
        names: of its rows.
        most: number of rows of the tallest panel in this line.
        bare: whether to leave out the names, because the panel to the left has the same.
        longest: largest number of letters in one line.
    """
    labels = [""] * len(names) if bare else [fill(name, longest) for name in names]
    axes.set_yticks(range(len(names)), labels)
    axes.set_ylim(most - 0.45, -0.55)
    axes.tick_params(axis="y", labelcolor=INK.light, length=0, labelsize=7.5)
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
    for i in range(1, len(names), 2):
        axes.axhspan(i - 0.5, i + 0.5, color=style.PANEL.light, linewidth=0, zorder=0)


def _mark(axes: style.Axes, mark: Mapping[str, Any], y: float, palette: Palette) -> None:
    """Draw one estimate: its interval, its mark and its note."""
    value, series, filled = mark["value"], mark["series"], mark["filled"] is not False
    if series is None:
        marker = "o"
        colour = SERIES[0 if (value or 0) >= 0 else 1].light if filled else MUTED.light
    else:
        baseline = next((n for n, name in BASELINE_NAMES.items() if name == series), None)
        colour, marker, _ = (
            palette(series) if baseline is None else (MUTED.light, _BASELINE_MARKS[baseline], "")
        )
        filled = filled and baseline is None
    if mark["low"] is not None:
        ends = [mark["low"], mark["high"]]
        axes.plot(ends, [y, y], color=colour, linewidth=1.8, alpha=0.7, solid_capstyle="butt")
    if value is not None:
        axes.plot([value], [y], marker, color=colour, markersize=5, linestyle="none",
                  markerfacecolor=colour if filled else PAGE.light,
                  zorder=4 if filled else 3)  # fmt: skip
    if mark["note"]:
        axes.annotate(
            mark["note"], (1, y), (4, 0), xycoords=("axes fraction", "data"),
            textcoords="offset points", fontsize=7.5, va="center", color=MUTED.light,
            annotation_clip=False,
        )  # fmt: skip
