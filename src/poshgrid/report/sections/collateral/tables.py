"""The table of what was removed, by condition and source; the terminal prints it, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from poshgrid.evidence.collateral import ALL
from poshgrid.evidence.constructions import BY_TREE
from poshgrid.report.sections.collateral.removal import KINDS, Removal, largest
from poshgrid.tables.table import Column, Table, text
from poshgrid.tables.words import count, decimals, listed

PERCENT = decimals(2, 0.01)


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
    if all(each.parsed[ALL] == 1 for each in found):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    return Table("collateral", caption, columns, rows, totals)


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
