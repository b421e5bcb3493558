"""Learning curves as in the paper's Figure 4, where a target's runs kept checkpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from poshgrid.files import Schema
from poshgrid.report import figures, style
from poshgrid.report.blocks import Page
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Layout, title
from poshgrid.report.shelf import Picture
from poshgrid.statistics.schema import RUN_AXES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TRAJECTORIES: Schema = {
    "facet": pl.String,  # the size, where curves of several sizes are there; "" otherwise
    "panel": pl.String,  # a category, a phenomenon, or a suite
    "series": pl.String,  # the arm
    "bias": pl.String,  # "none": the baseline
    "step": pl.UInt32,  # null: what was kept
    "epoch": pl.Float64,  # passes over the training split; mean over seeds
    "mean": pl.Float64,  # percent of pairs
    "sd": pl.Float64,  # over seeds, the same unit; null with one seed
    "n_seeds": pl.UInt32,
    "kept": pl.Boolean,  # the weights that training kept, not a checkpoint
}
"""A figure of learning curves: one row per mark."""

FEW = 24
"""Phenomena of a suite that have a panel each; of a larger suite, its categories have."""


def trajectories(
    collected: Collected, layout: Layout, suite: str, level: str = "category"
) -> pl.DataFrame:
    """Return the curves of a suite (:data:`TRAJECTORIES`; Figure 4, top).

    Args:
        collected: all results.
        layout: order of arms, sizes, categories and phenomena.
        suite: of minimal pairs.
        level: what has a panel each: ``category`` or ``phenomenon``.
    """
    panels = {
        "category": [(title(c), c, "") for c in layout.categories[suite]],
        "phenomenon": [(p, c, p) for c, p in layout.phenomena[suite]],
    }[level]
    return _marks(collected, layout, [(name, suite, level, c, p) for name, c, p in panels])


def averages(collected: Collected, layout: Layout) -> pl.DataFrame:
    """Return the curves of every suite's macro-average (:data:`TRAJECTORIES`; Figure 4, bottom)."""
    suites = collected.spec.suites
    return _marks(collected, layout, [(suite, suite, "average", "", "") for suite in suites])


def pictures(page: Page, suite: str) -> list[Picture]:
    """Draw the curves of a suite: by category, and by phenomenon where these are few."""
    layout = page.layout
    levels = ["category"]
    if len(layout.categories[suite]) < len(layout.phenomena[suite]) <= FEW:
        levels.append("phenomenon")
    caption = f"Accuracy on {suite} by {{}} in the course of training. {_KEY}"
    found = (
        page.picture(
            f"curves-{suite}-{level}", caption.format(level), draw,
            trajectories(page.collected, layout, suite, level),
        )
        for level in levels
    )  # fmt: skip
    return [picture for picture in found if picture]


def average_picture(page: Page) -> Picture | None:
    """Draw the suites' macro-averages; none without checkpoints."""
    caption = (
        "Accuracy in the course of training, for each suite the mean of its phenomena "
        f"(macro-average). {_KEY}"
    )
    return page.picture("curves-average", caption, draw, averages(page.collected, page.layout))


_KEY = (
    "Lines: means over seeds at each checkpoint that all seeds reached; bands: ± 1 SD; rings: the "
    "weights that training kept, at their mean epoch; dashed: 50%."
)


def draw(marks: pl.DataFrame) -> Figure:
    """Draw accuracy by epoch: small multiples, a line for each series.

    Args:
        marks: :data:`TRAJECTORIES`.

    Returns:
        Means with a band of one SD over seeds, rings for the weights that were kept, the chance
        line. Runs without a bias are drawn heavier, as the baseline.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator, MultipleLocator

    facets = marks["facet"].unique(maintain_order=True).to_list()
    panels = marks["panel"].unique(maintain_order=True).to_list()
    names = marks["series"].unique(maintain_order=True).to_list()
    columns = min(4, max(2, len(panels)))
    per_facet = -(-len(panels) // columns)  # rows; each facet starts one of its own
    rows = per_facet * len(facets)
    figure = Figure(figsize=(style.WIDE, 0.85 + 2.05 * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    flat = [axes for row in grid for axes in row]
    low, high = _limits(marks)
    last = max(marks["epoch"].drop_nulls(), default=0.0)
    for f, facet in enumerate(facets):
        for p in range(per_facet * columns):
            axes = flat[f * per_facet * columns + p]
            if p >= len(panels):
                axes.set_axis_off()
                continue
            here = marks.filter(facet=facet, panel=panels[p])
            _panel(axes, here, names)
            axes.set_title(f"{facet} words\n{panels[p]}" if facet else panels[p])
            axes.set_ylim(low, high)
            axes.set_xlim(0, 1.03 * last)
            axes.yaxis.set_major_locator(MultipleLocator(10 if high - low <= 60 else 20))
            axes.xaxis.set_major_locator(MaxNLocator(6, integer=last >= 2, steps=[1, 2, 5, 10]))
            axes.tick_params(labelbottom=True)  # the panel below may be empty
            axes.set_xlabel("Epoch")
    for row in grid:
        row[0].set_ylabel("Accuracy (%)")
    _legend(figure, marks, names)
    return figure


def _panel(axes: Axes, marks: pl.DataFrame, names: list[str]) -> None:
    axes.axhline(50, color=style.MUTED.light, linewidth=1, linestyle=(0, (4, 3)))
    for index, name in enumerate(names):
        colour, marker, dashes = style.series(index)
        mine = marks.filter(series=name)
        line = mine.filter(~pl.col("kept")).sort("epoch")
        if line.is_empty():
            continue
        x, mean = line["epoch"].to_numpy(), line["mean"].to_numpy()
        spread = line["sd"].fill_null(0).to_numpy()
        axes.fill_between(x, mean - spread, mean + spread, color=colour, alpha=0.16, linewidth=0)
        axes.plot(x, mean, color=colour, linestyle=dashes, linewidth=_width(line), label=name,
                  marker=marker, markersize=3)  # fmt: skip
        kept = mine.filter("kept")
        axes.plot(kept["epoch"], kept["mean"], linestyle="none", marker="o", markersize=7,
                  color=colour, markerfacecolor="none", label=f"kept {name}")  # fmt: skip


def _width(marks: pl.DataFrame) -> float:
    return 2.2 if marks["bias"][0] == "none" else 1.3


def _legend(figure: Figure, marks: pl.DataFrame, names: list[str]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = figures.series_handles(names, markersize=3)
    for handle, name in zip(handles, names, strict=True):
        handle.set_linewidth(_width(marks.filter(series=name)))
    grey = style.MUTED.light
    if marks["sd"].null_count() < marks.height:
        handles.append(Patch(facecolor=grey, alpha=0.25, label="± 1 SD over seeds"))
    handles += [
        Line2D([], [], linestyle="none", marker="o", markersize=7, color=grey,
               markerfacecolor="none", label="weights kept"),
        Line2D([], [], color=grey, linewidth=1, linestyle=(0, (4, 3)), label="chance"),
    ]  # fmt: skip
    style.legend(figure, handles)


def _limits(marks: pl.DataFrame) -> tuple[float, float]:
    """Return limits of the percentage axis that hold every band, ring and the chance line."""
    sd = pl.col("sd").fill_null(0)
    low = min(40.0, marks.select((pl.col("mean") - sd).min()).item())
    high = max(60.0, marks.select((pl.col("mean") + sd).max()).item())
    return max(-2.0, low - 2), min(102.0, high + 2)


def _marks(
    collected: Collected, layout: Layout, panels: list[tuple[str, str, str, str, str]]
) -> pl.DataFrame:
    """Return the rows of a figure; panels: (name, suite, level, category, phenomenon)."""
    parts = []
    for size, arm in layout.places:
        point = dict(zip(RUN_AXES, layout.point(arm, size) or (), strict=True))
        mine = collected.curves.filter(**point)
        # A null at step 0 is no curve; a mean of other seeds than the rest is no point of it.
        if mine.filter(~pl.col("kept") & (pl.col("step") > 0)).is_empty():
            continue
        whole = mine.filter(pl.col("n_seeds") == pl.col("n_seeds").max())
        names = {"facet": pl.lit(size), "series": pl.lit(layout.series(arm))}
        parts.append(whole.with_columns(**names))
    if not parts:
        return pl.DataFrame(schema=TRAJECTORIES)
    rows = pl.concat(parts).with_columns(pl.col("mean", "sd") * 100)
    if rows["facet"].n_unique() == 1:
        rows = rows.with_columns(facet=pl.lit(""))
    found = [
        rows.filter(
            suite=suite, level=level, category=category, phenomenon=phenomenon
        ).with_columns(panel=pl.lit(name))
        for name, suite, level, category, phenomenon in panels
    ]
    if not found:
        return pl.DataFrame(schema=TRAJECTORIES)
    order = {facet: i for i, facet in enumerate(rows["facet"].unique(maintain_order=True))}
    return (
        pl.concat(found)
        .select(list(TRAJECTORIES))
        .sort(pl.col("facet").replace_strict(order), maintain_order=True)
    )
