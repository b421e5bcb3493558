"""Case and reflexives: a pronoun subject of a clause, a reflexive before a participle.

*Tara thinks that she sounded like Wayne* (a subject is no reflexive), *Anna imagines herself
praising this boy* (a reflexive takes no finite verb). FiCT gives no rule but the benchmarks'
contexts, "narrowly construed" (section 3.2.1). Ours::

    VERB >ccomp _ >nsubj he|she|they
    $reflexives . VERB in -ing
    VERB > $reflexives $++ VERB in -ing, which is the VERB's xcomp or ccomp

The pronouns are those of the first paradigm. The second and third rule differ where words stand
between (*herself slowly opening*) and in what parsers make of the construction.
"""

from __future__ import annotations

from collections.abc import Sequence

from poshgrid.evidence.match import Match
from poshgrid.evidence.patterns import Pattern, first, possible
from poshgrid.parsing.tree import Tree

TARGETS: tuple[str, ...] = (
    "principle_A_case_1",
    "principle_A_case_2",
)
"""Paradigms of BLiMP."""
PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        "pronoun as subject of a complement clause",
        """
        {upos:VERB}=verb >ccomp {}=clause
        =clause >nsubj {word:he|she|they}=pronoun
        """,
    ),
    Pattern(
        "reflexive right before a participle",
        """
        {word:$reflexives}=reflexive . {upos:VERB;word:/ing$/}=participle
        """,
    ),
    Pattern(
        "reflexive and participle of one verb",
        """
        {word:$reflexives}=reflexive $++ {upos:VERB;word:/ing$/;rel:xcomp|ccomp}=participle
        =reflexive < {upos:VERB}=verb
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
