"""The figure of rules: the weight of each, by phenomenon."""

from __future__ import annotations

from textwrap import fill
from typing import Any

import polars as pl

from poshgrid.files import Schema
from poshgrid.report import figures, style
from poshgrid.report.layout import Group, Layout
from poshgrid.report.sections.rules.explained import Explained, Learner
from poshgrid.rules.mixture import GUESSING

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


def marks(explained: Explained, layout: Layout, group: Group) -> pl.DataFrame:
    """Return the rows of a figure: phenomena in which a hierarchical rule has a say.

    Args:
        explained: of a suite.
        layout: order of sizes.
        group: whose choices.
    """
    rows = []
    for category, phenomenon in explained.phenomena(hierarchical=True):
        for name, arm in group.arms:
            for size in layout.sizes:
                axes = layout.point(arm, size)
                if axes is None:
                    continue
                for row in explained.weights(Learner(name, axes), category, phenomenon):
                    equal = row["rule"].split(" = ")
                    rows.append({
                        "phenomenon": phenomenon, "arm": name, "size": size,
                        "series": min(equal, key=lambda rule: not explained.hierarchical(rule)),
                        "same": row["rule"] if len(equal) > 1 else "",
                        "words": layout.read(arm.condition, size),
                        **{key: row[key] for key in ("weight", "low", "high")},
                    })  # fmt: skip
    frame = pl.DataFrame(rows, schema=MARKS)
    # Rules that explain nothing anywhere would be lines on top of each other
    largest = frame.group_by("series").agg(pl.col("weight").max())
    seen = largest.filter(pl.col("weight") > LEAST_DRAWN)["series"]
    return frame.filter(pl.col("series").is_in([*seen, GUESSING]))


def draw(marks: pl.DataFrame) -> style.Figure:
    """Draw the weight of each rule: by size, or by arm where most arms have one size.

    Args:
        marks: :data:`MARKS`.

    Returns:
        Bars are 95% intervals; one that is not known has no width.
    """
    weight = pl.col("weight")
    ends = (pl.col(end).fill_null(weight) for end in ("low", "high"))
    shown = marks.with_columns(*ends).with_columns(pl.col("weight", "low", "high") * 100)
    series = sorted(set(marks["series"]) - {GUESSING})
    looks = {
        GUESSING: (style.MUTED.light, "", (0, (2, 2))),  # others are drawn over it
        **{name: style.series(i) for i, name in enumerate(series)},
    }
    sizes = marks.group_by("arm").agg(pl.col("size").n_unique())["size"]
    if (sizes == 1).sum() > sizes.len() / 2:
        looks = {name: (colour, marker or "|", "") for name, (colour, marker, _) in looks.items()}
        figure = _by_arm(shown, looks)
    else:
        figure = _by_size(shown, looks)
    style.legend(figure, [
        style.handle(name, color=looks[name][0], marker=looks[name][1], linestyle=looks[name][2])
        for name in (*series, GUESSING)
    ])  # fmt: skip
    return figure


def _by_size(marks: pl.DataFrame, looks: dict[str, tuple[str, str, Any]]) -> style.Figure:
    """Draw a row of panels for each phenomenon, a panel for each arm, a line for each rule."""
    arms = marks["arm"].n_unique()
    panels = list(marks.select("phenomenon", "arm").unique(maintain_order=True).iter_rows())
    figure, flat, firsts = style.panels(len(panels), min(5, arms), (0.75, 1.75), sharey=True)
    sizes = figures.sizes_of(marks)
    for axes, (phenomenon, arm) in zip(flat, panels, strict=True):
        panel = marks.filter(phenomenon=phenomenon, arm=arm)
        for name, (colour, marker, dashes) in looks.items():
            mine = panel.filter(series=name).sort("words")
            x = mine["words"].to_list()
            if not x:
                continue
            if name != GUESSING:
                axes.vlines(x, mine["low"], mine["high"], color=colour, alpha=0.45, linewidth=2.5)
            single = "_" if len(x) == 1 and not marker else marker
            axes.plot(x, mine["weight"], color=colour, linestyle=dashes, marker=single)
        _title(axes, panel, f"{phenomenon}\n{arm}")
        axes.set_ylim(-4, 104)
        figures.words_axis(axes, sizes, marks)
        axes.grid(visible=False, axis="x")
        if axes in firsts:
            axes.set_ylabel("Choices (%)")
    return figure


def _by_arm(marks: pl.DataFrame, looks: dict[str, tuple[str, str, Any]]) -> style.Figure:
    """Draw a panel for each phenomenon, a row for each arm and size, a mark for each rule."""
    phenomena = marks["phenomenon"].unique(maintain_order=True).to_list()
    rows = list(marks.select("arm", "size").unique(maintain_order=True).iter_rows())
    height = 0.7 + 0.15 * len(rows)
    figure, flat, _ = style.panels(len(phenomena), 3, (0.75, height), sharey=True)
    drawn = marks.filter(pl.col("weight") >= 100 * LEAST_DRAWN)
    for axes, phenomenon in zip(flat, phenomena, strict=True):
        panel = drawn.filter(phenomenon=phenomenon)
        for name, (colour, marker, _) in looks.items():
            mine = panel.filter(series=name)
            y = [rows.index(row) for row in mine.select("arm", "size").iter_rows()]
            if name != GUESSING:
                axes.hlines(y, mine["low"], mine["high"], color=colour, alpha=0.45, linewidth=2.5)
            axes.plot(mine["weight"], y, color=colour, linestyle="", marker=marker)
        _title(axes, panel, phenomenon)
        axes.set_xlim(-4, 104)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_yticks(range(len(rows)), [f"{arm}, {size}" for arm, size in rows], fontsize=7)
    return figure


def _title(axes: style.Axes, marks: pl.DataFrame, title: str) -> None:
    """Write a panel's title above it, and below it which rules are one mark."""
    axes.set_title(title, fontsize=8)
    same = [set(name.split(" = ")) for name in sorted(set(marks["same"]) - {""})]
    most = [" = ".join(sorted(one)) for one in same if not any(one < other for other in same)]
    axes.set_xlabel(
        "\n".join(fill(one, 40) for one in most), fontsize=6.5, color=style.MUTED.light, loc="left"
    )
