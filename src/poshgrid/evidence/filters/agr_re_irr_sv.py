"""Agreement of listed nouns: one of the benchmark's nouns is a subject.

*The geese aren't here*: a learner sees these nouns in other places only, and must agree their verbs
from their number. The rule of FiCT (section 3.2.2)::

    _ >nsubj $agreement-nouns

The list (``resources/filters/agreement-nouns.yaml``) holds the subjects of the four paradigms,
names included, in both numbers. Case is not looked at, so that *bill* and *mark* count as well. The
published code lists all subjects of all of BLiMP and leaves passive subjects alone; the paper says
the four paradigms and nominal subjects, which include passive ones.
"""

from __future__ import annotations

from collections.abc import Sequence

from poshgrid.evidence.match import Match
from poshgrid.evidence.patterns import Pattern, first, possible
from poshgrid.parsing.tree import Tree

TARGETS: tuple[str, ...] = (
    "irregular_plural_subject_verb_agreement_1",
    "irregular_plural_subject_verb_agreement_2",
    "regular_plural_subject_verb_agreement_1",
    "regular_plural_subject_verb_agreement_2",
)
"""Paradigms of BLiMP."""
PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        "listed noun as subject",
        """
        {}=predicate >nsubj {word:$agreement-nouns}=subject
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
