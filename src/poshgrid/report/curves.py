"""Learning curves as in the paper's Figure 4, where a target's runs kept checkpoints."""

from __future__ import annotations

from typing import Any

import polars as pl

from poshgrid.files import Schema
from poshgrid.report import figures, style
from poshgrid.report.blocks import Page
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Layout, title
from poshgrid.report.shelf import Picture
from poshgrid.report.texts import say
from poshgrid.statistics.schema import RUN_AXES

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


def pictures(page: Page, suite: str) -> list[Picture]:
    """Draw the curves of a suite: by category, and by phenomenon where these are few."""
    layout = page.layout
    panels = {"category": [(title(c), suite, "category", c, "") for c in layout.categories[suite]]}
    if len(layout.categories[suite]) < len(layout.phenomena[suite]) <= FEW:
        panels["phenomenon"] = [(p, suite, "phenomenon", c, p) for c, p in layout.phenomena[suite]]
    drawn = (
        page.picture(
            f"curves-{suite}-{level}", say("curves", suite, level), draw,
            trajectories(page.collected, layout, of_level),
        )
        for level, of_level in panels.items()
    )  # fmt: skip
    return [picture for picture in drawn if picture]


def average_picture(page: Page) -> Picture | None:
    """Draw the suites' macro-averages (Figure 4, bottom); none without checkpoints."""
    panels = [(suite, suite, "average", "", "") for suite in page.collected.spec.suites]
    frame = trajectories(page.collected, page.layout, panels)
    return page.picture("curves-average", say("curves", "", "average"), draw, frame)


def trajectories(
    collected: Collected, layout: Layout, panels: list[tuple[str, str, str, str, str]]
) -> pl.DataFrame:
    """Return the curves of a figure (:data:`TRAJECTORIES`).

    Args:
        collected: all results.
        layout: order of arms and sizes.
        panels: (name, suite, level, category, phenomenon).
    """
    parts = []
    for size, arm in layout.places:
        point = dict(zip(RUN_AXES, layout.point(arm, size) or (), strict=True))
        mine = collected.curves.filter(**point)
        # A null at step 0 is no curve; a mean of other seeds than the rest is no point of it.
        if mine.filter(~pl.col("kept") & (pl.col("step") > 0)).is_empty():
            continue
        whole = mine.filter(pl.col("n_seeds") == pl.col("n_seeds").max())
        parts.append(whole.with_columns(facet=pl.lit(size), series=pl.lit(layout.series(arm))))
    if not parts or not panels:
        return pl.DataFrame(schema=TRAJECTORIES)
    rows = pl.concat(parts).with_columns(pl.col("mean", "sd") * 100)
    if rows["facet"].n_unique() == 1:
        rows = rows.with_columns(facet=pl.lit(""))
    order = {facet: i for i, facet in enumerate(rows["facet"].unique(maintain_order=True))}
    by_panel = (
        rows.filter(suite=suite, level=level, category=category, phenomenon=phenomenon)
        .with_columns(panel=pl.lit(name))
        .select(list(TRAJECTORIES))
        for name, suite, level, category, phenomenon in panels
    )
    by_facet = pl.col("facet").replace_strict(order)
    return pl.concat(by_panel).sort(by_facet, maintain_order=True)


def draw(marks: pl.DataFrame) -> style.Figure:
    """Draw accuracy by epoch: small multiples, a line for each series.

    Args:
        marks: :data:`TRAJECTORIES`.

    Returns:
        Means with a band of one SD over seeds, rings for the weights that were kept, the chance
        line. Runs without a bias are drawn heavier, as the baseline.
    """
    from matplotlib.ticker import MaxNLocator

    names = marks["series"].unique(maintain_order=True).to_list()
    figure, axes_of = style.facets(marks, 4, (0.85, 2.05), sharex=True)
    ends = figures.limits(marks.with_columns(pl.col("mean", "sd") / 100))
    last = max(marks["epoch"].drop_nulls(), default=0.0)
    for (facet, panel), axes in axes_of.items():
        _panel(axes, marks.filter(facet=facet, panel=panel), names)
        if facet:
            axes.set_title(f"{facet} words\n{panel}")
        style.percent_axis(axes, *ends)
        axes.set_xlim(0, 1.03 * last)
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=last >= 2, steps=[1, 2, 5, 10]))
        axes.tick_params(labelbottom=True)  # the panel below may be empty
        axes.set_xlabel("Epoch")
    handles: list[Any] = style.series_handles(names, markersize=3)
    for handle, name in zip(handles, names, strict=True):
        handle.set_linewidth(_width(marks.filter(series=name)))
    if marks["sd"].count():
        handles.append(style.patch("± 1 SD over seeds", alpha=0.25))
    ring = {"linestyle": "none", "marker": "o", "markersize": 7, "markerfacecolor": "none"}
    handles += [style.handle("weights kept", **ring), style.handle("chance", **style.CHANCE)]
    style.legend(figure, handles)
    return figure


def _panel(axes: style.Axes, marks: pl.DataFrame, names: list[str]) -> None:
    axes.axhline(50, **style.CHANCE)
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
