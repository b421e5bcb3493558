"""What was removed, and what went with it: a table by condition and source, and a figure.

The counts are :mod:`poshgrid.evidence.collateral`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from poshgrid.evidence.collateral import ALL
from poshgrid.report.blocks import Block, Page
from poshgrid.report.sections.collateral import figures, tables
from poshgrid.report.sections.collateral.removal import (
    KINDS,
    Removal,
    alike,
    largest,
    read,
    together,
)
from poshgrid.report.sections.collateral.tables import PERCENT

TITLE, ORDER, AUDIENCE = "What was removed, and what went with it", 100, "reviewer"
_FEW = 3  # conditions that have a sentence each


def blocks(page: Page) -> list[Block] | None:
    """Return sentences, the figure and the table.

    ``None``: no condition of the target goes without anything, or nothing was counted.
    """
    cells = (cell.split("/") for cell in page.collected.spec.cells)
    folder = page.paths.collateral
    there = [each for c, s in cells if (each := read(c, s, Path(folder(c, s))))]
    if not there:
        return None
    shown = figures.bars(largest(there))
    caption = (
        "Share of each construction in the base that was removed, in percent. The line is the "
        "share of all words removed: a bar beyond it lost more than its share. Each condition is "
        "shown at its largest size, on its own scale, which its control shares. "
        f"{tables.known(largest(there))}"
    )
    return [
        *sentences(there),
        None
        if shown.is_empty()
        else page.shelf.picture("collateral", caption, figures.draw, shown),
        page.shelf.table(tables.table(there)),
    ]


def sentences(found: Sequence[Removal]) -> list[str]:
    """Say what share of the words went, and of the construction that was hit most.

    Constructions that are known of parsed sentences only are told apart: sentences that were not
    parsed hold no filter's words, so that the share removed of the others is too large.

    Args:
        found: conditions of a target; each is told of at its largest size.
    """
    known = [group for group in alike(largest(found)) if group[0].share(ALL, "words") is not None]
    if len(known) <= _FEW:
        return [_said(group) for group in known]
    gone = sorted(group[0].share(ALL, "words") or 0 for group in known)
    hit = max(known, key=lambda group: _worst(group[0])[1])
    return [
        f"{sum(map(len, known))} conditions, removed: {PERCENT(gone[0])} to "
        f"{PERCENT(gone[-1])}% of words.",
        f"Hit most: {_said(hit)}",
    ]


def _worst(each: Removal, *, partial: bool = False) -> tuple[str, float]:
    """Return the construction that lost most relative to words, and how many times as much.

    Args:
        each: a condition at a size.
        partial: of those known in parsed sentences only, or of the others.
    """
    gone = each.share(ALL, "words") or 0
    times = {
        name: share / gone
        for name in KINDS
        if gone and each.partial(name) == partial and (share := each.share(ALL, name)) is not None
    }
    return max(times.items(), key=lambda item: item[1], default=("", 0.0))


def _said(group: Sequence[Removal]) -> str:
    each = group[0]
    parts = [f"{PERCENT(each.share(ALL, 'words') or 0)}% of words"]
    for partial in (False, True):
        name, times = _worst(each, partial=partial)
        if times:
            share = PERCENT(each.share(ALL, name) or 0)
            parts.append(
                f"{share}% of {KINDS[name]} {'in parsed sentences ' if partial else ''}"
                f"({times:.1f} times the share of words)"
            )
    return f"{together(group)} at {each.size}, removed: {', '.join(parts)}."
