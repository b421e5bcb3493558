"""Which rule explains what models choose: words, a figure and tables for each suite.

The numbers are :mod:`poshgrid.rules.shares`'s.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from poshgrid.grid.paths import Paths
from poshgrid.report import across
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Layout
from poshgrid.report.plain import listed, percent
from poshgrid.report.rules import figures, tables
from poshgrid.report.rules.explained import Explained, Learner, learners, read
from poshgrid.report.shelf import Shelf
from poshgrid.rules.mixture import GUESSING, LEAST


def section(
    collected: Collected, layout: Layout, shelf: Shelf, paths: Paths
) -> dict[str, Any] | None:
    """Return what html/rules.html shows; write its tables and figures.

    Returns:
        ``None`` where no rule was held against the target's models.
    """
    found = read(paths.rule_shares(collected.spec.target))
    if found is None:
        return None
    suites = []
    for suite in collected.spec.suites:
        mine = found.of(suite)
        there = learners(mine, layout)
        if not there:
            continue
        pictures = [
            shelf.picture(
                "-".join(filter(None, ("rules", suite, group.condition))),
                "Share of the choices that follow a rule, by size. Bars: 95% intervals over "
                "lexical sets; grey: guessing, which is right half of the time. Rules that say "
                "the same of every pair are one line.",
                figures.draw,
                marks,
            )
            for group in across.groups(layout)
            if not (marks := figures.marks(mine, layout, group)).is_empty()
        ]
        suites.append({
            "name": suite,
            "sentences": list(sentences(mine, there)),
            "figures": pictures,
            "mixture": shelf.plain(tables.mixture(suite, mine, there)),
            "shares": shelf.plain(tables.shares(suite, mine, there)),
            "identifiability": shelf.plain(tables.identifiability(suite, mine)),
        })  # fmt: skip
    return {"suites": suites, "rules": shelf.plain(tables.rules(found))} if suites else None


def sentences(found: Explained, there: list[Learner]) -> Iterator[str]:
    """Say which rule each learner follows at its largest size, phenomenon by phenomenon.

    Args:
        found: of a suite.
        there: its learners, in the order of sizes.
    """
    largest = list({each.label: each for each in there}.values())
    for category, phenomenon in found.phenomena(hierarchical=True):
        said: dict[str, list[str]] = {}
        for each in largest:
            rows = found.weights(each, category, phenomenon)
            if rows:
                said.setdefault(_verdict(found, rows), []).append(each.name)
        parts = [
            f"{listed(names)} {verdict.replace('follows', 'follow') if names[1:] else verdict}"
            for verdict, names in said.items()
        ]
        if parts:
            yield f"{phenomenon}: {'; '.join(parts)}."


def _verdict(found: Explained, rows: list[dict[str, Any]]) -> str:
    """Return what the weights of a learner's rules say, as the end of a sentence."""
    named = [row for row in rows if row["named"]]
    if not named:
        return "cannot be told (too few lexical sets)"
    if [row["rule"] for row in named] == [GUESSING]:
        off = named[0]["off"]
        if abs(off) <= LEAST:
            return "follows none of the rules"
        way = "the bad member" if off > 0 else "the good member"
        return f"follows none of the rules, yet prefers {way}"
    if len(named) > 1:
        rules = [_other(row["rule"]) for row in named]
        return f"follows {' or '.join(rules)}: the choices do not tell which"
    (row,) = named
    between = f", {percent(row['low'])}–{percent(row['high'])}" if row["low"] is not None else ""
    kind = " (hierarchical)" if found.hierarchical(row["rule"]) else ""
    return f"follows {row['rule']}{kind} in {percent(row['weight'])}% of the choices{between}"


def _other(rule: str) -> str:
    return "none of the rules" if rule == GUESSING else rule
