"""The domain of binding: a pronoun or reflexive below the subject of a complement clause.

*Carlos said that Lori helped him*, *Mark imagines Erin might admire herself*: a reflexive is bound
in its own clause, a pronoun is not. FiCT gives no rule but the benchmarks' contexts, "narrowly
construed" (section 3.2.1). Ours, with the pronouns of the first paradigm::

    VERB >ccomp _ >nsubj _ $++ him|her|them|$reflexives, which is obj, iobj or obl

The paper's table can be read as if principle_A_domain_1 belonged to binding-case; its published
results put it here, as its name does.
"""

from __future__ import annotations

from collections.abc import Sequence

from poshgrid.evidence.match import Match
from poshgrid.evidence.patterns import Pattern, first, possible
from poshgrid.parsing.tree import Tree

TARGETS: tuple[str, ...] = (
    "principle_A_domain_1",
    "principle_A_domain_2",
    "principle_A_domain_3",
)
"""Paradigms of BLiMP."""
PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        "pronoun below the subject of a complement clause",
        """
        {rel:nsubj}=subject $++ {word:him|her|them|$reflexives;rel:obj|iobj|obl}=pronoun
        =subject < {rel:ccomp}=clause
        =clause < {upos:VERB}=verb
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
