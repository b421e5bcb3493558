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
from poshgrid.tables.table import Column, Table, text, without
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
    there = [each for c, s in cells if (each := read(c, s, Path(folder(c, s))))]
    if not there:
        return None
    shown = figures.bars(largest(there))
    caption = (
        "Share of each construction in the base that was removed, in percent. The line is the "
        "share of all words removed: a bar beyond it lost more than its share. Each condition is "
        "shown at its largest size, on its own scale, which its control shares. "
        f"{known(largest(there))}"
    )
    return [
        *sentences(there),
        page.picture("collateral", caption, figures.draw, shown),
        page.shelf.table(table(there)),
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


# ---- the table -----------------------------------------------------------------------------------


def table(found: Sequence[Removal]) -> Table:
    """Lay out what went: sources at each condition's largest size, all together at the others.

    Args:
        found: conditions and sizes, in the order of the rows.
    """
    most = largest(found)
    rows: list[list[Any]] = []
    totals = {}
    for each in found:
        sources = each.sources if each in most else [ALL]
        for source in sources:
            if source == ALL and len(sources) > 1:
                totals[len(rows)] = "total"
            rows.append([
                each.name, each.size, "all sources" if source == ALL else source,
                each.number(source, "sentences", "before"), each.number(source, "words", "before"),
                each.number(source, "words", "after"),
                *(each.share(source, "sentences", column)
                  for column in ("removed", "removed_by_rule", "removed_by_backstop")),
                *(each.share(source, measure) for measure in ("words", *KINDS)),
                each.divergence[source], each.parsed[source],
            ])  # fmt: skip
    columns = [
        *(text(name) for name in ("Condition", "Size", "Source")),
        Column("Sentences before", count), Column("Words before", count),
        Column("Words after", count), Column("Sentences (%)", PERCENT),
        Column("By rule (%)", PERCENT), Column("By words alone (%)", PERCENT),
        Column("Words (%)", PERCENT),
        *(Column(f"{name[0].upper()}{name[1:]} (%)", PERCENT) for name in KINDS.values()),
        Column("Divergence (bits)", decimals(5)), Column("Parsed (%)", decimals(1, 0.01)),
    ]  # fmt: skip
    caption = (
        "What was removed, in percent of what the base has at this size: sentences, by a filter’s "
        "rule and, further ones, for their words alone; words; and sentences with a construction. "
        f"{known(found)}Words after: what the learner sees, with all that was put back or "
        "refilled. Divergence: Jensen and Shannon’s, between the word forms of the base and of "
        "what the learner sees; 0: the same, 1: none is shared. Dashes: not known, none found, "
        "or, of a control, no rule."
    )
    gone = ["Parsed (%)"] if all(each.parsed[ALL] == 1 for each in found) else []
    return without(Table("collateral", caption, columns, rows, totals), gone)


def known(found: Sequence[Removal]) -> str:
    """Say which constructions are known of parsed sentences only; "" if all were parsed.

    Args:
        found: what is told of.
    """
    shares = sorted(each.parsed[ALL] or 0 for each in found if each.partial(BY_TREE[0]))
    if not shares:
        return ""
    low, high = (f"{100 * share:.1f}" for share in (shares[0], shares[-1]))
    named = listed([KINDS[name] for name in BY_TREE])
    return (
        f"{named[0].upper()}{named[1:]} are known of parsed sentences only, "
        f"{low if low == high else f'{low} to {high}'}% of the base’s; their percentages are of "
        "these, and what filters remove of all may be less. "
    )
