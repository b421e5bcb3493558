"""Why a filter took a sentence: the rule that fired, and the words that it matched.

Relations are those that filters ask for, in the vocabularies that parsers use: Universal
Dependencies with subtypes (``acl:relcl``, ``nsubj:pass``), without (``acl``), and the labels of
spaCy's own English pipelines (``relcl``, ``nsubjpass``, ``auxpass``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from poshgrid.evidence.screening.closed_classes import WH_WORDS
from poshgrid.parsing.tree import Tree

RELATIVE_PRONOUNS = frozenset({"who", "whom", "whose", "which", "that", "where", "when", "why"})
_SUBJECTS = frozenset({"nsubj", "nsubjpass"})
_AUXILIARY_RELATIONS = frozenset({"aux", "auxpass", "cop"})


def is_subject(tree: Tree, word: int) -> bool:
    """Say whether a word is the nominal subject of a clause: ``nsubj`` and its subtypes."""
    return tree.relation(word) in _SUBJECTS


def is_auxiliary(tree: Tree, word: int) -> bool:
    """Say whether a word is the auxiliary or copula of a clause: ``aux``, ``cop``, subtypes."""
    return tree.relation(word) in _AUXILIARY_RELATIONS


def is_relative(tree: Tree, word: int) -> bool:
    """Say whether a word heads a relative clause.

    ``acl:relcl`` and ``relcl`` always do. A bare ``acl`` is what some parsers call every clause on
    a noun: it is a relative clause if finite. *The fact that he left* looks like one, and counts.
    """
    label = tree.deprel[word - 1]
    if label in ("acl:relcl", "relcl"):
        return True
    if label != "acl":
        return False
    children = tree.children(word)
    if any(tree.lower(c) == "to" and tree.relation(c) in ("mark", "aux") for c in children):
        return False
    return any(
        is_subject(tree, child)
        or tree.relation(child) == "mark"
        or (child < word and tree.lower(child) in RELATIVE_PRONOUNS)
        for child in children
    )


def has_wh(tree: Tree, word: int, before: int) -> bool:
    """Say whether a wh-phrase that ends before a place is headed by a word: *which book*."""
    return any(tree.lower(w) in WH_WORDS for w in (word, *tree.children(word)) if w < before)


@dataclass(frozen=True, slots=True)
class Match:
    """What a filter found in a tree.

    Attributes:
        rule: the rule that fired, in a few words.
        roles: role of each matched word (``"subject"``) -> its place, counted from 1.
    """

    rule: str
    roles: dict[str, int]

    @property
    def words(self) -> tuple[int, ...]:
        """The places of the matched words, ascending."""
        return tuple(sorted(set(self.roles.values())))


Rule = Callable[[Tree], Match | None]
"""One reading of a filter: what it finds in a tree, or ``None``."""
