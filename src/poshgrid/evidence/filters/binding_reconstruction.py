"""Reconstruction: a clefted reflexive, *It's herself who Karen criticized*.

The reflexive is bound where it would stand in the clause. FiCT gives no rule but the benchmark's
context (section 3.2.1). Ours takes a reflexive that is a predicate with a clause, whatever the
parser calls that clause::

    $reflexives >cop be      $reflexives >acl|advcl|ccomp|csubj _

Reflexives of all persons count, and so do relations with subtypes (``acl:relcl``).
"""

from __future__ import annotations

from collections.abc import Sequence

from poshgrid.evidence.match import Match
from poshgrid.evidence.patterns import Pattern, first, possible
from poshgrid.parsing.tree import Tree

TARGETS: tuple[str, ...] = ("principle_A_reconstruction",)
"""Paradigms of BLiMP."""
PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        "clefted reflexive",
        """
        {word:$reflexives}=reflexive >cop {}=copula
        =reflexive >acl|advcl|ccomp|csubj {}=clause
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
