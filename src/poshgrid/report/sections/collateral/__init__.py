"""What was removed, and what went with it: a table by condition and source, and a figure.

The counts are :mod:`poshgrid.evidence.collateral`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from poshgrid.evidence.collateral import ALL
from poshgrid.evidence.schema import BY_TREE
from poshgrid.report.blocks import Block, Page
from poshgrid.report.sections.collateral import figures
from poshgrid.report.sections.collateral.removal import (
    KINDS,
    Removal,
    alike,
    largest,
    read,
    together,
)
from poshgrid.report.texts import say
from poshgrid.tables.table import Column, Table, numbers, texts, without
from poshgrid.tables.words import count, decimals, listed

TITLE, ORDER, AUDIENCE = "What was removed, and what went with it", 100, "reviewer"
PERCENT = decimals(2, 0.01)
_FEW = 3  # conditions that have a sentence each


def blocks(page: Page) -> list[Block] | None:
    """Return sentences, the figure and the table.

    ``None``: no condition of the target goes without anything, or nothing was counted.
    """
    cells = (cell.split("/") for cell in page.collected.spec.cells)
    folder = page.paths.collateral
    removals = [r for c, s in cells if (r := read(c, s, Path(folder(c, s))))]
    if not removals:
        return None
    caption = f"{say('collateral_figure')} {known(largest(removals))}".strip()
    return [
        *sentences(removals),
        page.picture("collateral", caption, figures.draw, figures.bars(largest(removals))),
        page.table(table(removals)),
    ]


def sentences(removals: Sequence[Removal]) -> list[str]:
    """Say what share of the words went, and of the construction that was hit most.

    Constructions that are known of parsed sentences only are told apart: sentences that were not
    parsed hold no filter's words, so that the share removed of the others is too large.

    Args:
        removals: conditions of a target; each is told of at its largest size.
    """
    groups = [g for g in alike(largest(removals)) if g[0].share(ALL, "words") is not None]
    if len(groups) <= _FEW:
        return [_said(group) for group in groups]
    gone = sorted(group[0].share(ALL, "words") or 0 for group in groups)
    hit = max(groups, key=lambda group: _worst(group[0])[1])
    number = sum(map(len, groups))
    return [say("removals", number, PERCENT(gone[0]), PERCENT(gone[-1])), f"Hit most: {_said(hit)}"]


def _worst(removal: Removal, *, partial: bool = False) -> tuple[str, float]:
    """Return the construction that lost most relative to words, and how many times as much.

    Args:
        removal: a condition at a size.
        partial: of those known in parsed sentences only, or of the others.
    """
    gone = removal.share(ALL, "words") or 0
    times = {
        name: share / gone
        for name in KINDS
        if gone
        and removal.partial(name) == partial
        and (share := removal.share(ALL, name)) is not None
    }
    return max(times.items(), key=lambda item: item[1], default=("", 0.0))


def _said(group: Sequence[Removal]) -> str:
    removal = group[0]
    worst = [
        (KINDS[name], PERCENT(removal.share(ALL, name) or 0), times, partial)
        for partial in (False, True)
        for name, times in [_worst(removal, partial=partial)]
        if times
    ]
    words = PERCENT(removal.share(ALL, "words") or 0)
    return say("removal", together(group), removal.size, words, worst)


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
                removal.divergence[source], removal.parsed[source],
            ])  # fmt: skip
    kinds = (f"{name[0].upper()}{name[1:]} (%)" for name in KINDS.values())
    columns = [
        *texts("Condition", "Size", "Source"),
        *numbers(count, "Sentences before", "Words before", "Words after"),
        *numbers(PERCENT, "Sentences (%)", "By rule (%)", "By words alone (%)", "Words (%)"),
        *numbers(PERCENT, *kinds),
        Column("Divergence (bits)", decimals(5)), Column("Parsed (%)", decimals(1, 0.01)),
    ]  # fmt: skip
    laid_out = Table("collateral", say("collateral", known(removals)), columns, rows, totals)
    whole = all(removal.parsed[ALL] == 1 for removal in removals)
    return without(laid_out, ["Parsed (%)"] if whole else [])


def known(removals: Sequence[Removal]) -> str:
    """Say which constructions are known of parsed sentences only; "" if all were parsed."""
    shares = sorted(r.parsed[ALL] or 0 for r in removals if r.partial(BY_TREE[0]))
    kinds = listed([KINDS[name] for name in BY_TREE])
    return say("parsed_only", kinds, shares) if shares else ""
