"""Weak quantifiers below existential *there*: *There are many people here*.

The rule of FiCT (section 3.2.1), where ARE is any form of *be* and WEAK-Q is one of the benchmark's
five: *a(n)*, *no*, *some*, *few*, *many*::

    there <expl be      be >nsubj _ > a|an|no|some|few|many

The published code takes ten quantifiers, strong ones among them (*all*, *every*); the paper's five
are followed here. Where a parser makes the noun the predicate, with *be* below it as copula, the
rule does not apply: Universal Dependencies for English make *be* govern both.
"""

from __future__ import annotations

from collections.abc import Sequence

from poshgrid.evidence.match import Match
from poshgrid.evidence.patterns import Pattern, first, possible
from poshgrid.parsing.tree import Tree

TARGETS: tuple[str, ...] = ("existential_there_quantifiers_1",)
"""Paradigms of BLiMP."""
PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        "weak quantifier below there",
        """
        {word:am|is|are|was|were|be|been|being|'s|'re|ai}=be >expl {word:there}=there
        =be >nsubj {}=subject
        =subject > {word:a|an|no|some|few|many}=quantifier
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
