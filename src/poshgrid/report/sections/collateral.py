"""What was removed, and what went with it: a table by condition and source, and a figure.

The counts are :mod:`poshgrid.evidence.collateral`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from poshgrid.config.sizes import words
from poshgrid.evidence.collateral import ALL, LONG, OVER, PARSED
from poshgrid.evidence.constructions import CONSTRUCTIONS
from poshgrid.evidence.schema import BY_TREE, COLLATERAL
from poshgrid.files import Schema, read_table
from poshgrid.report import style
from poshgrid.report.blocks import Block, Page
from poshgrid.report.texts import say
from poshgrid.tables.table import Column, Table, numbers, texts, without
from poshgrid.tables.words import count, decimals, listed

TITLE, ORDER, AUDIENCE = "What was removed, and what went with it", 100, "reviewer"
PERCENT = decimals(2, 0.01)
KINDS = {
    name: {"wh_question": "wh-questions", "relative": "relative clauses",
           OVER: f"sentences over {LONG} words"}.get(name, f"{name.replace('_', ' ')}s")
    for name in (*CONSTRUCTIONS, OVER)
}  # fmt: skip
"""Measure -> its plural for people, in the order of the columns."""
OF_PARSED = "of parsed sentences"
BARS: Schema = {
    "panel": pl.String,  # conditions that go without the same, and their size
    "row": pl.String,  # construction
    "share": pl.Float64,  # removed, of those in the base; null: not known, or none in the base
    "words": pl.Float64,  # the same of all words
    "note": pl.String,  # why there is no share, or that it is of parsed sentences
}
"""The figure: a row for each bar."""


def blocks(page: Page) -> list[Block] | None:
    """Return the figure and the table.

    ``None``: no condition of the target goes without anything, or nothing was counted.
    """
    removals = [
        Removal(condition, size, statistics.get("control"), read_table(path, COLLATERAL))
        for (condition, size), statistics in page.collected.conditions.items()
        if (path := Path(page.paths.collateral(condition, size), "collateral.parquet")).is_file()
    ]
    if not removals:
        return None
    caption = f"{say('collateral_figure')} {known(largest(removals))}".strip()
    return [
        page.picture("collateral", caption, draw, bars(largest(removals))),
        page.table(table(removals)),
    ]


# ---- what the stage counted ----------------------------------------------------------------------


@dataclass(frozen=True)
class Removal:
    """What went when one condition was made at one size."""

    condition: str
    size: str
    control: str | None
    table: pl.DataFrame  # COLLATERAL

    @property
    def name(self) -> str:
        """The condition in words."""
        return f"{self.condition} (control of {self.control})" if self.control else self.condition

    @property
    def sources(self) -> list[str]:
        """The sources that give sentences to this size, and all together; one is no sum."""
        there = self.table.filter(pl.col("before") > 0, measure="sentences")["source"].to_list()
        return there if len(there) > 2 else [ALL]

    def number(self, source: str, measure: str, column: str) -> int | None:
        """Return a count; ``None``: not known."""
        number: int | None = self.table.filter(source=source, measure=measure)[column].item()
        return number

    def share(self, source: str, measure: str, column: str = "removed") -> float | None:
        """Return what was removed, as a share of what the base has; ``None``: not known."""
        before, gone = (self.number(source, measure, name) for name in ("before", column))
        return None if not before or gone is None else gone / before

    def parsed(self, source: str) -> float | None:
        """Return the share of the base's sentences that were parsed."""
        sentences = self.number(source, "sentences", "before")
        return (self.number(source, PARSED, "before") or 0) / sentences if sentences else None

    def partial(self, measure: str) -> bool:
        """Say whether a construction is known of some of the base's sentences only."""
        return measure in BY_TREE and (self.parsed(ALL) or 0) < 1


def largest(removals: Iterable[Removal]) -> list[Removal]:
    """Return each condition at its largest size, in the order given."""
    kept: dict[str, Removal] = {}
    for removal in removals:
        other = kept.setdefault(removal.condition, removal)
        if words(removal.size) > words(other.size):
            kept[removal.condition] = removal
    return list(kept.values())


def alike(removals: Iterable[Removal]) -> list[list[Removal]]:
    """Return conditions that go without the same of the same, though not put back the same."""
    groups: dict[object, list[Removal]] = {}
    for removal in removals:
        gone = removal.table.select("source", "measure", "before", "removed")
        groups.setdefault((removal.size, removal.control, *gone.iter_rows()), []).append(removal)
    return list(groups.values())


def _together(group: Sequence[Removal]) -> str:
    if len(group) > 2:
        return f"{group[0].name} and {len(group) - 1} others"
    return listed([removal.name for removal in group])


# ---- table ---------------------------------------------------------------------------------------


def table(removals: Sequence[Removal]) -> Table:
    """Lay out what went: sources at each condition's largest size, all together at the others.

    Args:
        removals: conditions and sizes, in the order of the rows.
    """
    most = largest(removals)
    rows: list[list[Any]] = []
    totals = {}
    for removal in removals:
        sources = removal.sources if removal in most else [ALL]
        for source in sources:
            if source == ALL and len(sources) > 1:
                totals[len(rows)] = "total"
            rows.append([
                removal.name, removal.size, "all sources" if source == ALL else source,
                removal.number(source, "sentences", "before"),
                *(removal.number(source, "words", when) for when in ("before", "after")),
                *(removal.share(source, "sentences", column)
                  for column in ("removed", "removed_by_rule", "removed_by_backstop")),
                *(removal.share(source, measure) for measure in ("words", *KINDS)),
                removal.parsed(source),
            ])  # fmt: skip
    kinds = (f"{name[0].upper()}{name[1:]} (%)" for name in KINDS.values())
    columns = [
        *texts("Condition", "Size", "Source"),
        *numbers(count, "Sentences before", "Words before", "Words after"),
        *numbers(PERCENT, "Sentences (%)", "By rule (%)", "By words alone (%)", "Words (%)"),
        *numbers(PERCENT, *kinds),
        Column("Parsed (%)", decimals(1, 0.01)),
    ]  # fmt: skip
    laid_out = Table("collateral", say("collateral", known(removals)), columns, rows, totals)
    whole = all(removal.parsed(ALL) == 1 for removal in removals)
    return without(laid_out, ["Parsed (%)"] if whole else [])


def known(removals: Sequence[Removal]) -> str:
    """Say which constructions are known of parsed sentences only; "" if all were parsed."""
    shares = sorted(r.parsed(ALL) or 0 for r in removals if r.partial(BY_TREE[0]))
    kinds = listed([KINDS[name] for name in BY_TREE])
    return say("parsed_only", kinds, shares) if shares else ""


# ---- figure --------------------------------------------------------------------------------------


def bars(removals: Sequence[Removal]) -> pl.DataFrame:
    """Return the figure's :data:`BARS`.

    Args:
        removals: conditions, one size of each; one whose removal is not known has no panel.
    """
    rows = []
    for group in alike(removals):
        removal = group[0]
        gone = removal.share(ALL, "words")
        for name, kind in KINDS.items() if gone is not None else ():
            share = removal.share(ALL, name)
            note = OF_PARSED if removal.partial(name) else ""
            if share is None:
                before = removal.number(ALL, name, "before")
                note = "not parsed" if before is None else "none found"
            panel = f"{_together(group)}, {removal.size}"
            rows.append((panel, kind, share, gone, note))
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
    longest = 100 * max([*bars["share"].drop_nulls(), *bars["words"], 1e-4])
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
        axes.set_xlim(0, 1.2 * longest)  # room for the numbers
        axes.set_xlabel("Removed (%)")
        style.names_axis(axes, kinds)
    handles: list[Any] = [
        style.patch("more than its share", facecolor=more),
        style.patch("no more than its share", facecolor=less),
        style.handle("share of all words", color=style.INK.light, linestyle=(0, (4, 3))),
    ]
    if OF_PARSED in set(bars["note"]):
        handles.append(style.patch(OF_PARSED, hatch="////", edgecolor=style.PAGE.light))
    style.legend(figure, handles)
    return figure
