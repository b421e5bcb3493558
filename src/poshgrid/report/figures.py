"""The figures of the report: accuracy by size, and the forest of a fit.

Every function draws one of the frames that :mod:`poshgrid.report.frames` makes and nothing else, so
that the figures and the downloadable tables hold the same numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from poshgrid.config.runs import NULLS, words_of
from poshgrid.report import saving, style
from poshgrid.tables.words import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D


def accuracy(points: pl.DataFrame) -> Figure:
    """Draw accuracy by size, one panel for each category and facet, a line for each series.

    Args:
        points: :data:`poshgrid.report.frames.POINTS`; accuracies are shares. Columns ``unigram``
            and ``ngram`` are drawn if they are there. A facet need not have every panel.

    Returns:
        Means with a band of one SD over seeds, the chance line, marks of the nulls.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import MultipleLocator

    facets = points["facet"].unique(maintain_order=True).to_list()
    panels = points["panel"].unique(maintain_order=True).to_list()
    names = points["series"].unique(maintain_order=True).to_list()
    there = set(points.select("facet", "panel").iter_rows())
    columns = min(5, len(panels))
    places: dict[tuple[str, str], tuple[int, int]] = {}
    rows = 0  # each facet starts one of its own
    for facet in facets:
        mine = [panel for panel in panels if (facet, panel) in there]
        # Panels stand below each other's like; where they must be broken, gaps are closed.
        aligned = panels if len(panels) <= columns else mine
        for index, panel in enumerate(aligned):
            if panel in mine:
                places[facet, panel] = (rows + index // columns, index % columns)
        rows += -(-len(aligned) // columns)
    figure = Figure(
        figsize=(
            style.WIDE,
            0.75 + rows * (2.1 if len(facets) > 1 else 1.95),
        ),
        layout="constrained",
    )
    grid = figure.subplots(rows, columns, squeeze=False, sharey=True)
    for row in grid:
        for axes in row:
            axes.set_axis_off()
    sizes = sizes_of(points)
    low, high = limits(points)
    for (facet, panel), (y, x) in places.items():
        axes = grid[y][x]
        axes.set_axis_on()
        here = points.filter(facet=facet, panel=panel)
        accuracy_panel(axes, here, names, sizes, single=sizes.height == 1)
        axes.set_title(f"{facet}\n{panel}" if facet else panel)
        axes.set_ylim(low, high)
        axes.yaxis.set_major_locator(MultipleLocator(10 if high - low <= 60 else 20))
        if not any((y, left) in places.values() for left in range(x)):
            axes.set_ylabel("Accuracy (%)")
            axes.tick_params(labelleft=True)
    style.legend(figure, [*series_handles(names), *null_handles(nulls_of(points))])
    return figure


def sizes_of(points: pl.DataFrame) -> pl.DataFrame:
    """Return ``size`` and the ``words`` that it names, of the sizes in a frame, ascending."""
    sizes = sorted(points["size"].unique(), key=words_of)
    schema = {"size": pl.String, "words": pl.Float64}
    return pl.DataFrame([(size, words_of(size)) for size in sizes], schema=schema, orient="row")


def accuracy_panel(
    axes: Axes, points: pl.DataFrame, names: list[str], sizes: pl.DataFrame, *, single: bool = False
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
    axes.axhline(50, color=style.MUTED.light, linewidth=1, linestyle=(0, (4, 3)))
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
        known = mine.filter(pl.col("mean").is_not_null())
        x = [index] * known.height if single else known["words"].to_list()
        y, sd = known["mean"].to_numpy() * 100, known["sd"].fill_null(0).to_numpy() * 100
        if len(x) == 1:  # a band needs two points
            axes.vlines(x, y - sd, y + sd, color=colour, alpha=0.45, linewidth=3)
        else:
            axes.fill_between(x, y - sd, y + sd, color=colour, alpha=0.16, linewidth=0)
        axes.plot(x, y, color=colour, marker=marker, linestyle=dashes, label=name)
        for place, row in zip(x, known.iter_rows(named=True), strict=True):
            hit = axes.scatter(place, 100 * row["mean"], s=160, color=colour, alpha=0)
            hit.set_gid(saving.TIP + told(row))
    axes.grid(visible=False, axis="x")
    if single:
        axes.set_xlim(-0.6, len(names) - 0.4)
        axes.set_xticks([(len(names) - 1) / 2], [sizes["size"][0]])
    else:
        words_axis(axes, sizes, points)


def words_axis(axes: Axes, sizes: pl.DataFrame, points: pl.DataFrame) -> None:
    """Lay words out on a log scale, with room for what lies beside the sizes that are ticks."""
    axes.set_xscale("log")
    axes.set_xticks(sizes["words"].to_list(), sizes["size"].to_list())
    axes.minorticks_off()
    x = [*sizes["words"], *points["words"]]
    axes.set_xlim(min(x) / 1.25, max(x) * 1.25)


def told(row: dict[str, Any]) -> str:
    """Return what a mark of the accuracy figure stands for: a row of its frame in words."""
    parts = [f"{row['series']}, {row['size']}: {100 * row['mean']:.1f}%"]
    if row.get("low") is not None:
        parts.append(f"95% interval {100 * row['low']:.1f} to {100 * row['high']:.1f}")
    if row.get("sd") is not None:
        parts.append(f"SD over seeds {100 * row['sd']:.1f}")
    seeds, pairs = row.get("n_seeds"), row.get("n_pairs")
    if seeds:
        parts.append(counted(seeds, "seed") + (f" of {pairs:,} pairs" if pairs else ""))
    nulls = [f"{_NULL_NAMES[n]} {100 * row[n]:.1f}" for n in NULLS if row.get(n) is not None]
    return "; ".join([*parts, *nulls])


_NULL_MARKS: dict[str, tuple[str, float]] = {
    "untrained": ("", 0.0),  # the series' own mark, hollow
    "unigram": ("_", -0.09),
    "ngram": ("x", 0.09),
}
"""Mark of a null, and how far it is moved aside so that it can be seen."""
_NULL_NAMES = {"untrained": "untrained model", "unigram": "unigram", "ngram": "n-gram"}


def nulls_of(points: pl.DataFrame) -> list[str]:
    """Return the nulls that a frame has values of, in the order of tables."""
    return [
        null for null in NULLS if null in points.columns and points[null].null_count() < len(points)
    ]


def null_handles(nulls: list[str]) -> list[Line2D]:
    """Return the legend's entries of nulls, grey."""
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], linestyle="none", marker=_NULL_MARKS[null][0] or "o", markersize=4.5,
               color=style.MUTED.light, markerfacecolor="none", label=_NULL_NAMES[null])
        for null in nulls
    ]  # fmt: skip


def series_handles(names: list[str], **look: Any) -> list[Line2D]:  # noqa: ANN401 - of a line
    """Return the legend's entries of series, in the order of their colours.

    Args:
        names: of the series.
        look: of the lines, where it is not the series' own.
    """
    from matplotlib.lines import Line2D

    handles = []
    for index, name in enumerate(names):
        colour, marker, dashes = style.series(index)
        own = {"color": colour, "marker": marker, "linestyle": dashes, "label": name}
        handles.append(Line2D([], [], **(own | look)))
    return handles


def legend_handles(points: pl.DataFrame, names: list[str]) -> list[Any]:
    """Return the legend's entries: series, the band if there is one, nulls, the chance line."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    grey = style.MUTED.light
    band = [Patch(facecolor=grey, alpha=0.25, label="± 1 SD over seeds")]
    return [
        *series_handles(names),
        *(band if points["sd"].count() else []),
        *null_handles(nulls_of(points)),
        Line2D([], [], color=grey, linewidth=1, linestyle=(0, (4, 3)), label="chance"),
    ]


def forest(effects: pl.DataFrame) -> Figure:
    """Draw posterior medians and 95% intervals of a model's effects, on the log-odds scale.

    Args:
        effects: :data:`poshgrid.report.frames.EFFECTS`, in the order of the rows.

    Returns:
        Filled marks where the interval excludes zero, hollow ones where it does not.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(style.WIDE, 0.75 + 0.27 * effects.height), layout="constrained")
    axes = figure.subplots()
    axes.axvline(0, color=style.MUTED.light, linewidth=1)
    places = list(range(effects.height))[::-1]
    for y, row in zip(places, effects.iter_rows(named=True), strict=True):
        sure = row["low"] > 0 or row["high"] < 0
        colour = style.MUTED.light
        if sure:
            colour = style.SERIES[0 if row["median"] > 0 else 1].light
        axes.plot([row["low"], row["high"]], [y, y], color=colour, linewidth=2.2)
        axes.plot(
            [row["median"]], [y], "o", color=colour, markersize=6, label=row["name"],
            markerfacecolor=colour if sure else style.PAGE.light,
        )  # fmt: skip
        value = f"{row['median']:+.2f} [{row['low']:.2f}, {row['high']:.2f}]".replace("-", "−")
        axes.annotate(
            value, (1, y), (4, 0), xycoords=("axes fraction", "data"),
            textcoords="offset points", fontsize=8, va="center", color=style.MUTED.light,
            annotation_clip=False,
        )  # fmt: skip
    axes.set_yticks(places, effects["name"].to_list())
    axes.tick_params(axis="y", labelcolor=style.INK.light, length=0)
    axes.set_ylim(-0.7, effects.height - 0.2)
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
    axes.set_xlabel("Log-odds (posterior median, 95% interval)")
    return figure


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
