"""Agreement over a prepositional phrase: a subject noun with a noun behind a preposition.

*A sketch of lights doesn't appear*: the verb agrees with *sketch*, not with the nearer *lights*.
The rule of FiCT (section 3.2.1)::

    VERB >nsubj NOUN >nmod NOUN >case ADP

Names count as nouns: in half of the targets a name stands in the prepositional phrase (*movies
about Galileo*), and the paper says that 99.5% of the items are targeted. The published code asks
for no parts of speech and no preposition, but for the phrase to stand between subject and
predicate; the rule in the paper, followed here, does not say where it stands.
"""

from __future__ import annotations

from poshgrid.evidence.match import Match
from poshgrid.evidence.patterns import Pattern, first
from poshgrid.parsing.tree import Tree

TARGETS: tuple[str, ...] = ("distractor_agreement_relational_noun",)
"""Paradigms of BLiMP."""
PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        "prepositional phrase on a subject",
        """
        {upos:VERB}=verb >nsubj {upos:NOUN|PROPN}=subject
        =subject >nmod {upos:NOUN|PROPN}=modifier
        =modifier >case {upos:ADP}=preposition
        """,
    ),
)


def removed(tree: Tree) -> Match | None:
    """Return what removes a sentence, or ``None``."""
    return first(PATTERNS, tree)


evidence = removed
