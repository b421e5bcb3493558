"""Agreement of demonstratives with listed nouns: *Craig explored that grocery store*.

The rule of FiCT (section 3.2.2): one of the benchmark's nouns with a demonstrative determiner
"directly adjacent"::

    this|that|these|those <+det $det-nouns
    this|that|these|those <det _ . _ <+compound $det-nouns

The list (``resources/filters/det-nouns.yaml``) holds the nouns of the four paradigms in both
numbers. The second rule is for the paradigms' own *that grocery store*, the listed noun of which is
*store*. The published code does not ask for adjacency; the paper does.
"""

from __future__ import annotations

from collections.abc import Sequence

from poshgrid.evidence.match import Match
from poshgrid.evidence.patterns import Pattern, first, possible
from poshgrid.parsing.tree import Tree

TARGETS: tuple[str, ...] = (
    "determiner_noun_agreement_1",
    "determiner_noun_agreement_2",
    "determiner_noun_agreement_irregular_1",
    "determiner_noun_agreement_irregular_2",
)
"""Paradigms of BLiMP."""
PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        "demonstrative before a listed noun",
        """
        {word:this|that|these|those}=determiner <+det {upos:NOUN|PROPN;word:$det-nouns}=noun
        """,
    ),
    Pattern(
        "demonstrative before a compound with a listed noun",
        """
        {word:this|that|these|those;rel:det}=determiner . {}=first
        =first <+compound {upos:NOUN|PROPN;word:$det-nouns}=noun
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
