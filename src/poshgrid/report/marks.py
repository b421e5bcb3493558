"""Shares of items or sets with their intervals: a mark a model and a place, a panel a measure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from poshgrid.report import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D


def draw(
    found: pl.DataFrame, measures: Mapping[str, str], label: str, *, narrow: bool = False
) -> Figure:
    """Draw shares.

    Args:
        found: suite, phenomenon, model, null (hollow), measure, accuracy, low, high (shares), in
            the order of places and models; chance: of a place, null where there is none; without
            this column it is one half.
        measures: measure -> title of its panel.
        label: of the axis of shares.
        narrow: for a telephone: panels stand below each other.
    """
    from matplotlib.figure import Figure

    places = found.select("suite", "phenomenon").unique(maintain_order=True).rows()
    models = found["model"].unique(maintain_order=True).to_list()
    shape = (len(measures), 1) if narrow else (1, len(measures))
    width, each = (style.NARROW, 2.6) if narrow else (style.WIDE, 1.0)
    figure = Figure(figsize=(width, each * shape[0] + 1.9), layout="constrained")
    panels = figure.subplots(*shape, sharey=True, squeeze=False).ravel()
    colours = {model: style.series(number)[0] for number, model in enumerate(models)}
    for axes, (measure, title) in zip(panels, measures.items(), strict=True):
        axes.set_title(title)
        if "chance" not in found.columns:
            axes.axhline(50, linestyle=":", color="0.5", linewidth=1)
        for number, model in enumerate(models):
            here = found.filter(pl.col("model") == model, pl.col("measure") == measure)
            shift = (number - (len(models) - 1) / 2) * 0.7 / max(len(models), 1)
            for row in here.iter_rows(named=True):
                place = places.index((row["suite"], row["phenomenon"]))
                share, colour = 100 * row["accuracy"], colours[model]
                # An interval that ends at its share may end a rounding error beyond it.
                ends = [share - 100 * row["low"], 100 * row["high"] - share]
                axes.errorbar(
                    place + shift, share,
                    yerr=[[max(end, 0.0)] for end in ends],
                    fmt="o", markersize=5, color=colour, capsize=2, linewidth=1,
                    markerfacecolor="white" if row["null"] else colour,
                )  # fmt: skip
                if row.get("chance") is not None:
                    axes.hlines(
                        100 * row["chance"], place - 0.45, place + 0.45, linestyle=":", color="0.5",
                        linewidth=1,
                    )  # fmt: skip
        suites = {suite for suite, _ in places}
        names = [p if len(suites) == 1 and p else f"{s}\n{p}".strip() for s, p in places]
        axes.set_xticks(range(len(places)), names, rotation=20 if narrow else 0, fontsize=7)
        axes.set_xlim(-0.6, len(places) - 0.4)
        axes.set_ylim(0, 100)
    panels[0].set_ylabel(label)
    nulls = dict(found.select("model", "null").iter_rows())
    style.legend(figure, [_mark(model, colours[model], hollow=nulls[model]) for model in models])
    return figure


def _mark(label: str, colour: str, *, hollow: bool) -> Line2D:
    from matplotlib.lines import Line2D

    return Line2D(
        [], [], linestyle="", marker="o", color=colour, label=label,
        markerfacecolor="white" if hollow else colour,
    )  # fmt: skip
