"""What was removed, and what went with it: a table by condition and source, and a figure.

The counts are :mod:`poshgrid.evidence.collateral`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from poshgrid.evidence.collateral import ALL
from poshgrid.grid.paths import Paths
from poshgrid.report.collateral import figures, tables
from poshgrid.report.collateral.removal import KINDS, Removal, alike, largest, read, together
from poshgrid.report.collateral.tables import PERCENT
from poshgrid.report.collect import Collected
from poshgrid.report.shelf import Shelf

_FEW = 3  # conditions that have a sentence each


def section(collected: Collected, shelf: Shelf, paths: Paths) -> dict[str, Any] | None:
    """Return what html/collateral.html shows; write its table and figure.

    Args:
        collected: all results.
        shelf: where table and figure are put.
        paths: of the results folder.

    Returns:
        ``None`` where no condition of the target goes without anything, or nothing was counted.
    """
    cells = (cell.split("/") for cell in collected.spec.cells)
    there = [each for c, s in cells if (each := read(c, s, Path(paths.collateral(c, s))))]
    if not there:
        return None
    shown = figures.bars(largest(there))
    caption = (
        "What was removed of each construction, in percent of the base’s; the line is the share of "
        "all words that was removed: a bar that passes it was hit more than its share. Each "
        "condition at its largest size, on a scale of its own, which its control shares. "
        f"{tables.known(largest(there))}"
    )
    return {
        "sentences": sentences(there),
        "table": shelf.plain(tables.table(there)),
        "figure": None
        if shown.is_empty()
        else shelf.picture("collateral", caption, figures.draw, shown),
    }


def sentences(found: Sequence[Removal]) -> list[str]:
    """Say what share of the words went, and which construction lost most beside them.

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
        f"{sum(map(len, known))} conditions go without {PERCENT(gone[0])} to {PERCENT(gone[-1])}% "
        "of their bases’ words.",
        f"One construction was hit hardest: {_said(hit)}",
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
    verb, whose = ("goes", "its") if len(group) == 1 else ("go", "their")
    gone = PERCENT(each.share(ALL, "words") or 0)
    text = f"{together(group)} at {each.size} {verb} without {gone}% of {whose} base’s words"
    name, times = _worst(each)
    if times > 1:
        text += f"; of {KINDS[name]} {_lost(each, name)} went, {times:.1f} times their share"
    elif times:
        text += (
            f"; nothing was hit more than its share (most: {_lost(each, name)} of {KINDS[name]})"
        )
    name, times = _worst(each, partial=True)
    if times:
        text += f"; of {KINDS[name]} in parsed sentences, {_lost(each, name)}"
    return f"{text}."


def _lost(each: Removal, name: str) -> str:
    return f"{PERCENT(each.share(ALL, name) or 0)}%"
