"""The figure of what was removed: bars for constructions, a panel for each condition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from poshgrid.evidence.collateral import ALL
from poshgrid.files import Schema
from poshgrid.report import style
from poshgrid.report.sections.collateral.removal import KINDS, Removal, alike, together

PARSED = "of parsed sentences"
BARS: Schema = {
    "panel": pl.String,  # conditions that go without the same, and their size
    "scale": pl.String,  # the condition whose axis it has: a control has its condition's
    "row": pl.String,  # construction
    "share": pl.Float64,  # removed, of those in the base; null: not known, or none in the base
    "words": pl.Float64,  # the same of all words
    "note": pl.String,  # why there is no share, or that it is of parsed sentences
}
"""The figure: a row for each bar."""


def bars(found: Sequence[Removal]) -> pl.DataFrame:
    """Return the figure's :data:`BARS`.

    Args:
        found: conditions, one size of each; one whose removal is not known has no panel.
    """
    rows = []
    groups = alike(found)
    first = {each.condition: group[0].condition for group in groups for each in group}
    for each, *others in groups:
        gone = each.share(ALL, "words")
        if gone is None:
            continue
        for name, kind in KINDS.items():
            share = each.share(ALL, name)
            note = PARSED if each.partial(name) else ""
            if share is None:
                before = each.number(ALL, name, "before")
                note = "not parsed" if before is None else "none found"
            panel = f"{together([each, *others])}, {each.size}"
            scale = first.get(each.control or "", each.condition)
            rows.append((panel, scale, kind, share, gone, note))
    return pl.DataFrame(rows, schema=BARS, orient="row")


def draw(bars: pl.DataFrame) -> style.Figure:
    """Draw what was removed of each construction, a panel for each condition.

    Args:
        bars: :data:`BARS`.

    Returns:
        Bars that pass the line, the share of all words, have a colour of their own; hatched ones
        are of parsed sentences only.
    """
    panels = bars["panel"].unique(maintain_order=True).to_list()
    kinds = bars["row"].unique(maintain_order=True).to_list()
    height = 0.7 + 0.24 * len(kinds)
    figure, flat, _ = style.panels(len(panels), 3, (0.9, height), sharey=True)
    more, less = style.SERIES[1].light, style.SERIES[0].light
    for axes, panel in zip(flat, panels, strict=True):
        mine = bars.filter(panel=panel)
        line = 100 * mine["words"][0]
        for y, row in enumerate(mine.iter_rows(named=True)):
            share = 100 * (row["share"] or 0)
            axes.barh(
                y, share, height=0.66, color=more if share > line else less,
                hatch="////" if row["note"] else None, edgecolor=style.PAGE.light, linewidth=0,
            )  # fmt: skip
            text = row["note"] if row["share"] is None else f"{share:.2f}"
            axes.annotate(
                text, (max(share, line), y), (3, 0), textcoords="offset points", va="center",
                fontsize=7.5, color=style.MUTED.light,
            )  # fmt: skip
        axes.axvline(line, color=style.INK.light, linewidth=1.2, linestyle=(0, (4, 3)))
        axes.set_title(panel)
        scale = bars.filter(scale=mine["scale"][0])
        longest = 100 * max([*scale["share"].drop_nulls(), *scale["words"], 1e-4])
        axes.set_xlim(0, 1.2 * longest)  # room for the numbers
        axes.set_xlabel("Removed (%)")
        style.names_axis(axes, kinds)
    handles: list[Any] = [
        style.patch("more than its share", facecolor=more),
        style.patch("no more than its share", facecolor=less),
        style.handle("share of all words", color=style.INK.light, linestyle=(0, (4, 3))),
    ]
    if PARSED in set(bars["note"]):
        handles.append(style.patch(PARSED, hatch="////", edgecolor=style.PAGE.light))
    style.legend(figure, handles)
    return figure
