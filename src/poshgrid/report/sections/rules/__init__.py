"""Which rule explains what models choose: words, a figure and tables for each suite.

The numbers are :mod:`poshgrid.statistics.shares`'s.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from poshgrid.report.blocks import Block, Bullets, Heading, Page, drawer
from poshgrid.report.layout import Layout, groups
from poshgrid.report.sections.rules import figures, tables
from poshgrid.report.sections.rules.explained import Explained, Learner, learners, read
from poshgrid.report.shelf import Shelf
from poshgrid.rules.mixture import GUESSING, LEAST
from poshgrid.tables.words import listed, percent

TITLE, ORDER, AUDIENCE = "Which rule models follow", 30, "reader"


def blocks(page: Page) -> list[Block] | None:
    """Return, for each suite, sentences, figures and tables; ``None``: no rule was compared."""
    layout, shelf = page.layout, page.shelf
    found = read(page.paths.rule_shares(page.collected.spec.target))
    if found is None:
        return None
    made: list[Block] = []
    for suite in page.collected.spec.suites:
        mine = found.of(suite)
        if there := learners(mine, layout):
            made += [Heading(suite), *_suite(suite, mine, there, layout, shelf)]
    return [*made, drawer("The rules", shelf.table(tables.rules(found)))] if made else None


def _suite(
    suite: str, mine: Explained, there: list[Learner], layout: Layout, shelf: Shelf
) -> list[Block]:
    said = list(sentences(mine, there))
    caption = (
        "Share of the choices that follow a rule. Bars: 95% intervals over lexical sets; grey: "
        "guessing, which is right half of the time. Rules that say the same of every pair are one "
        "mark, and are named below it. Where most models have one size, each model is a row, and "
        f"rules with less than {figures.LEAST_DRAWN:.0%} are not drawn."
    )
    return [
        Bullets(said) if said else "No hierarchical rule has a say on these pairs.",
        *(
            shelf.picture(
                "-".join(filter(None, ("rules", suite, group.condition))),
                caption,
                figures.draw,
                marks,
            )
            for group in groups(layout)
            if not (marks := figures.marks(mine, layout, group)).is_empty()
        ),
        drawer("Rules by phenomenon and models", shelf.table(tables.mixture(suite, mine, there))),
        drawer("What each rule explains", shelf.table(tables.shares(suite, mine, there))),
        drawer(
            "Which rules the items tell apart", shelf.table(tables.identifiability(suite, mine))
        ),
    ]


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
        return "cannot be named (too few lexical sets)"
    if [row["rule"] for row in named] == [GUESSING]:
        off = named[0]["off"]
        if abs(off) <= LEAST:
            return "follows none of the rules"
        way = "the bad member" if off > 0 else "the good member"
        return f"follows none of the rules, but prefers {way}"
    if len(named) > 1:
        rules = [_other(row["rule"]) for row in named]
        return f"follows {' or '.join(rules)}: the choices do not tell which"
    (row,) = named
    between = f", {percent(row['low'])}–{percent(row['high'])}" if row["low"] is not None else ""
    kind = " (hierarchical)" if found.hierarchical(row["rule"]) else ""
    return f"follows {row['rule']}{kind} in {percent(row['weight'])}% of the choices{between}"


def _other(rule: str) -> str:
    return "none of the rules" if rule == GUESSING else rule
