"""The figure of rules: the weight of each, by phenomenon."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

import polars as pl

from poshgrid.files import Schema
from poshgrid.report import figures, style
from poshgrid.report.layout import Group, Layout
from poshgrid.report.sections.rules.explained import Explained, Learner
from poshgrid.rules.mixture import GUESSING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEAST_DRAWN = 0.02
"""Weight from which a rule is drawn where each model is a row."""
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
                axes = layout.point(arm, size)
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
    seen = (
        frame.group_by("series").agg(pl.col("weight").max()).filter(pl.col("weight") > LEAST_DRAWN)
    )
    return frame.filter(pl.col("series").is_in([*seen["series"], GUESSING]))


def draw(marks: pl.DataFrame) -> Figure:
    """Draw the weight of each rule: by size, or by arm where most arms have one size.

    Args:
        marks: :data:`MARKS`.

    Returns:
        Bars are 95% intervals.
    """
    sizes = marks.group_by("arm").agg(pl.col("size").n_unique())["size"]
    if (sizes == 1).sum() > sizes.len() / 2:
        return _by_arm(marks)
    return _by_size(marks)


def _by_size(marks: pl.DataFrame) -> Figure:
    """Draw a row of panels for each phenomenon, a panel for each arm, a line for each rule."""
    arms = marks["arm"].unique(maintain_order=True).to_list()
    panels = list(marks.select("phenomenon", "arm").unique(maintain_order=True).iter_rows())
    figure, flat, firsts = style.panels(len(panels), min(5, len(arms)), (0.75, 1.75), sharey=True)
    sizes, looks = figures.sizes_of(marks), _looks(marks)
    for axes, (phenomenon, arm) in zip(flat, panels, strict=True):
        here = marks.filter(phenomenon=phenomenon, arm=arm)
        for name, (colour, marker, dashes) in looks.items():
            mine = _percent(here.filter(series=name).sort("words"))
            x = mine["words"].to_list()
            if not x:
                continue
            if name != GUESSING:
                axes.vlines(x, mine["low"], mine["high"], color=colour, alpha=0.45, linewidth=2.5)
            single = "_" if len(x) == 1 and not marker else marker
            axes.plot(x, mine["weight"], color=colour, linestyle=dashes, marker=single)
        _title(axes, here, f"{phenomenon}\n{arm}")
        axes.set_ylim(-4, 104)
        figures.words_axis(axes, sizes, marks)
        axes.grid(visible=False, axis="x")
        if axes in firsts:
            axes.set_ylabel("Choices (%)")
    _legend(figure, looks)
    return figure


def _by_arm(marks: pl.DataFrame) -> Figure:
    """Draw a panel for each phenomenon, a row for each arm and size, a mark for each rule."""
    phenomena = marks["phenomenon"].unique(maintain_order=True).to_list()
    rows = list(marks.select("arm", "size").unique(maintain_order=True).iter_rows())
    figure, flat, _ = style.panels(
        len(phenomena), 3, (0.75, 0.7 + 0.15 * len(rows)),
        sharey=True,
    )  # fmt: skip
    looks = {
        name: (colour, marker or "|", "") for name, (colour, marker, _) in _looks(marks).items()
    }
    drawn = marks.filter(pl.col("weight") >= LEAST_DRAWN)
    for axes, phenomenon in zip(flat, phenomena, strict=True):
        here = drawn.filter(phenomenon=phenomenon)
        for name, (colour, marker, _) in looks.items():
            mine = _percent(here.filter(series=name))
            y = [rows.index(row) for row in mine.select("arm", "size").iter_rows()]
            if name != GUESSING:
                axes.hlines(y, mine["low"], mine["high"], color=colour, alpha=0.45, linewidth=2.5)
            axes.plot(mine["weight"], y, color=colour, linestyle="", marker=marker)
        _title(axes, here, phenomenon)
        axes.set_xlim(-4, 104)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_yticks(range(len(rows)), [f"{arm}, {size}" for arm, size in rows], fontsize=7)
    _legend(figure, looks)
    return figure


def _looks(marks: pl.DataFrame) -> dict[str, tuple[str, str, Any]]:
    """Return series -> colour, marker and dashes; guessing, which others are drawn over, first."""
    series = sorted(set(marks["series"]) - {GUESSING})
    guessing = (style.MUTED.light, "", (0, (2, 2)))
    return {GUESSING: guessing, **{name: style.series(i) for i, name in enumerate(series)}}


def _percent(marks: pl.DataFrame) -> pl.DataFrame:
    """Return marks in percent; an interval that is not known has no width."""
    weight = pl.col("weight")
    return marks.with_columns(
        weight * 100, *(pl.col(end).fill_null(weight) * 100 for end in ("low", "high"))
    )


def _title(axes: Axes, marks: pl.DataFrame, title: str) -> None:
    """Write a panel's title above it, and below it which rules are one mark."""
    axes.set_title(title, fontsize=8)
    same = [set(name.split(" = ")) for name in sorted(set(marks["same"]) - {""})]
    most = [" = ".join(sorted(one)) for one in same if not any(one < other for other in same)]
    axes.set_xlabel(
        "\n".join(fill(one, 40) for one in most), fontsize=6.5, color=style.MUTED.light, loc="left"
    )


def _legend(figure: Figure, looks: dict[str, tuple[str, str, Any]]) -> None:
    """Name the rules, guessing last."""
    from matplotlib.lines import Line2D

    names = [*list(looks)[1:], GUESSING]
    handles = [
        Line2D([], [], color=colour, marker=marker, linestyle=dashes, label=name)
        for name, (colour, marker, dashes) in ((name, looks[name]) for name in names)
    ]
    style.legend(figure, handles)
