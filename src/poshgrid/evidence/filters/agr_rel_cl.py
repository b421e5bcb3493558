"""Agreement over a relative clause: a subject noun with a relative clause.

*Boys that aren't disturbing Natalie suffer*: the verb agrees with *boys*, not with *Natalie*. The
rule of FiCT (section 3.2.1), but for the last part of speech::

    VERB >nsubj NOUN >acl:relcl _

The paper prints ADJ for the head of the relative clause. Its own example and 94.4% of the items,
which it says are targeted, have a verb there, so that any head will do here. Names count as nouns.
The published code also removes relative clauses on a modifier of the subject (*the story about
Monet that ...*) and asks for no parts of speech; the paper does not.
"""

from __future__ import annotations

from poshgrid.evidence.match import Match
from poshgrid.evidence.patterns import Pattern, first
from poshgrid.parsing.tree import Tree

TARGETS: tuple[str, ...] = ("distractor_agreement_relative_clause",)
"""Paradigms of BLiMP."""
PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        "relative clause on a subject",
        """
        {upos:VERB}=verb >nsubj {upos:NOUN|PROPN}=subject
        =subject >acl:relcl {}=relative
        """,
    ),
)


def removed(tree: Tree) -> Match | None:
    """Return what removes a sentence, or ``None``."""
    return first(PATTERNS, tree)


evidence = removed
