"""Agreement over an adjective: *Tracy praises those lucky guys*.

The rule of FiCT (section 3.2.1), "a demonstrative determiner followed by an adjective and a noun"::

    this|that|these|those <det NOUN      _ <++amod NOUN
    determiner $++ adjective

Words between them are allowed (*those very old cars*); other parts of speech than ADJ are allowed
for the ``amod`` (*those purple octopuses*, *this lost report*). The published code removes every
demonstrative that is not right before a noun; the paper, followed here, asks for an adjective.
"""

from __future__ import annotations

from collections.abc import Sequence

from poshgrid.evidence.match import Match
from poshgrid.evidence.patterns import Pattern, first, possible
from poshgrid.parsing.tree import Tree

TARGETS: tuple[str, ...] = (
    "determiner_noun_agreement_with_adjective_1",
    "determiner_noun_agreement_with_adj_2",
    "determiner_noun_agreement_with_adj_irregular_1",
    "determiner_noun_agreement_with_adj_irregular_2",
)
"""Paradigms of BLiMP."""
PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        "adjective between demonstrative and noun",
        """
        {word:this|that|these|those;rel:det}=determiner $++ {rel:amod}=adjective
        =adjective <++ {upos:NOUN|PROPN}=noun
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
