"""Passives of listed verbs: *Jeffrey's sons are insulted by Tina*.

A learner must tell from other passives that these verbs have one. The rule of FiCT (section 3.2.2):
a verb that the benchmark uses in the passive "appears in passive voice"::

    $passive-participles >aux:pass _
    $passive-participles >nsubj:pass _
    $passive-participles with Voice=Pass <acl|advcl|conj _

The list (``resources/filters/passive-participles.yaml``) holds the participles of the two
paradigms. Relations alone miss a second conjunct and a reduced relative clause (*the man insulted
by Tina*), the feature is what parsers differ in: any of the three removes. A
participle before a noun (*a respected doctor*) does not.
"""

from __future__ import annotations

from collections.abc import Sequence

from poshgrid.evidence.match import Match
from poshgrid.evidence.patterns import Pattern, first, possible
from poshgrid.parsing.tree import Tree

TARGETS: tuple[str, ...] = (
    "passive_1",
    "passive_2",
)
"""Paradigms of BLiMP."""
PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        "passive auxiliary of a listed verb",
        """
        {word:$passive-participles}=verb >aux:pass {}=auxiliary
        """,
    ),
    Pattern(
        "passive subject of a listed verb",
        """
        {word:$passive-participles}=verb >nsubj:pass {}=subject
        """,
    ),
    Pattern(
        "listed verb as passive clause without auxiliary",
        """
        {word:$passive-participles;feats:Voice=Pass;rel:acl|advcl|conj}=verb
        """,
    ),
)


def screen(words: Sequence[str]) -> bool:
    """Say whether the filter may remove a sentence of these words."""
    return possible(PATTERNS, words)


def removed(tree: Tree) -> Match | None:
    """Return what removes a sentence, or ``None``."""
    return first(PATTERNS, tree)


evidence = removed
