"""Which rule explains what models choose: words, a figure and tables for each suite.

The numbers are :mod:`poshgrid.statistics.shares`'s.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from poshgrid.report.blocks import Block, Bullets, Heading, Page, drawer
from poshgrid.report.layout import groups
from poshgrid.report.sections.rules import figures, tables
from poshgrid.report.sections.rules.explained import Explained, Learner, learners, read
from poshgrid.report.texts import say
from poshgrid.rules.mixture import GUESSING, LEAST

TITLE, ORDER, AUDIENCE = "Which rule models follow", 30, "reader"


def blocks(page: Page) -> list[Block] | None:
    """Return, for each suite, sentences, figures and tables; ``None``: no rule was compared."""
    layout = page.layout
    explained = read(page.paths.rule_shares(page.collected.spec.target))
    if explained is None:
        return None
    made: list[Block] = []
    for suite in page.collected.spec.suites:
        mine = explained.of(suite)
        judged = learners(mine, layout)
        if not judged:
            continue
        said = list(sentences(mine, judged))
        made += [
            Heading(suite),
            Bullets(said) if said else "No hierarchical rule has a say on these pairs.",
            *(
                page.picture(
                    "-".join(filter(None, ("rules", suite, group.condition))),
                    say("rule_figure", figures.LEAST_DRAWN), figures.draw,
                    figures.marks(mine, layout, group),
                )
                for group in groups(layout)
            ),
            *(
                drawer(title, page.shelf.table(table))
                for title, table in (
                    ("Rules by phenomenon and models", tables.mixture(suite, mine, judged)),
                    ("What each rule explains", tables.shares(suite, mine, judged)),
                    ("Which rules the items tell apart", tables.identifiability(suite, mine)),
                )
            ),
        ]  # fmt: skip
    return [*made, drawer("The rules", page.table(tables.rules(explained)))] if made else None


def sentences(explained: Explained, judged: list[Learner]) -> Iterator[str]:
    """Say which rule each learner follows at its largest size, phenomenon by phenomenon.

    Args:
        explained: of a suite.
        judged: its learners, in the order of sizes.
    """
    largest = list({learner.label: learner for learner in judged}.values())
    for category, phenomenon in explained.phenomena(hierarchical=True):
        verdicts: dict[str, list[str]] = {}
        for learner in largest:
            if rows := explained.weights(learner, category, phenomenon):
                verdicts.setdefault(_verdict(explained, rows), []).append(learner.name)
        if verdicts:
            yield say("rules_followed", phenomenon, verdicts)


def _verdict(explained: Explained, rows: list[dict[str, Any]]) -> str:
    """Return what the weights of a learner's rules say, as the end of a sentence."""
    named = [row for row in rows if row["named"]]
    hierarchical = len(named) == 1 and explained.hierarchical(named[0]["rule"])
    return say("verdict", named, hierarchical, GUESSING, LEAST)
