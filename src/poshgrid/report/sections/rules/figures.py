"""The figure of rules: the weight of each by size, a panel for each phenomenon and condition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from poshgrid.files import Schema
from poshgrid.report import figures, style
from poshgrid.report.layout import Group, Layout
from poshgrid.report.sections.rules.explained import Explained, Learner, axes_of
from poshgrid.rules.mixture import GUESSING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARKS: Schema = {
    "phenomenon": pl.String,
    "arm": pl.String,
    "series": pl.String,  # the rule, one of those that say the same; or guessing
    "same": pl.String,  # all of them; "" where it is alone
    "size": pl.String,
    "words": pl.UInt64,
    "weight": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
}
"""The figure: one row per mark."""


def marks(found: Explained, layout: Layout, group: Group) -> pl.DataFrame:
    """Return the rows of a figure: phenomena in which a hierarchical rule has a say.

    Args:
        found: of a suite.
        layout: order of sizes.
        group: whose choices.
    """
    rows = []
    for category, phenomenon in found.phenomena(hierarchical=True):
        for name, arm in group.arms:
            for size in layout.sizes:
                axes = axes_of(layout, arm, size)
                if axes is None:
                    continue
                for row in found.weights(Learner(name, axes), category, phenomenon):
                    equal = row["rule"].split(" = ")
                    rows.append({
                        "phenomenon": phenomenon, "arm": name, "size": size,
                        "series": min(equal, key=lambda rule: not found.hierarchical(rule)),
                        "same": row["rule"] if len(equal) > 1 else "",
                        "words": layout.read(arm.condition, size),
                        **{key: row[key] for key in ("weight", "low", "high")},
                    })  # fmt: skip
    frame = pl.DataFrame(rows, schema=MARKS)
    # Rules that explain nothing anywhere would be lines on top of each other
    seen = frame.group_by("series").agg(pl.col("weight").max()).filter(pl.col("weight") > 0.02)
    return frame.filter(pl.col("series").is_in([*seen["series"], GUESSING]))


def draw(marks: pl.DataFrame, *, narrow: bool = False) -> Figure:
    """Draw the weight of each rule by size.

    Args:
        marks: :data:`MARKS`.
        narrow: for a telephone: two panels side by side.

    Returns:
        A row for each phenomenon, a panel for each arm; bars are 95% intervals.
    """
    from matplotlib.lines import Line2D

    arms = marks["arm"].unique(maintain_order=True).to_list()
    panels = list(marks.select("phenomenon", "arm").unique(maintain_order=True).iter_rows())
    series = sorted(set(marks["series"]) - {GUESSING})
    figure, flat, firsts = style.panels(
        len(panels), 2 if narrow else min(5, len(arms)), (0.75, 1.65), narrow=narrow, sharey=True
    )
    sizes = figures.sizes_of(marks)
    grey = style.MUTED.light
    for axes, (phenomenon, arm) in zip(flat, panels, strict=True):
        here = marks.filter(phenomenon=phenomenon, arm=arm)
        for name in [GUESSING, *series]:
            mine = here.filter(series=name).sort("words")
            if mine.is_empty():
                continue
            colour, marker, dashes = (
                (grey, "", (0, (2, 2))) if name == GUESSING else style.series(series.index(name))
            )
            x, y = mine["words"].to_list(), [100 * v for v in mine["weight"]]
            if name != GUESSING:
                low = [
                    100 * (v if v is not None else w)
                    for v, w in zip(mine["low"], mine["weight"], strict=True)
                ]
                high = [
                    100 * (v if v is not None else w)
                    for v, w in zip(mine["high"], mine["weight"], strict=True)
                ]
                axes.vlines(x, low, high, color=colour, alpha=0.45, linewidth=2.5)
            single = len(x) == 1
            axes.plot(
                x,
                y,
                color=colour,
                linestyle=dashes,
                marker="_" if single and not marker else marker,
            )
        same = sorted(set(here["same"]) - {""})
        axes.set_title(f"{phenomenon}\n{arm}", fontsize=8)
        if same:
            axes.annotate(
                "\n".join(same), (0.03, 0.97), xycoords="axes fraction", va="top", fontsize=6.5,
                color=grey,
            )  # fmt: skip
        axes.set_ylim(-4, 104)
        figures.words_axis(axes, sizes, marks)
        axes.grid(visible=False, axis="x")
        if axes in firsts:
            axes.set_ylabel("Choices (%)")
    handles = [
        Line2D([], [], color=c, marker=m, linestyle=d, label=name)
        for name, (c, m, d) in ((n, style.series(i)) for i, n in enumerate(series))
    ]
    handles.append(Line2D([], [], color=grey, linestyle=(0, (2, 2)), label=GUESSING))
    style.legend(figure, handles)
    return figure
