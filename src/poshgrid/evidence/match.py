"""A filter's match in a sentence: the rule that matched, and the matched words.

Relations are those of Universal Dependencies, with subtypes (``acl:relcl``, ``nsubj:pass``) or
without (``acl``): parsers differ in that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from poshgrid.evidence.closed_classes import WH_WORDS
from poshgrid.parsing.tree import Tree

RELATIVE_PRONOUNS = frozenset({"who", "whom", "whose", "which", "that", "where", "when", "why"})


def is_subject(tree: Tree, word: int) -> bool:
    """Return whether a word is the nominal subject of a clause: ``nsubj`` and its subtypes."""
    return tree.relation(word) == "nsubj"


def is_auxiliary(tree: Tree, word: int) -> bool:
    """Return whether a word is the auxiliary or copula of a clause: ``aux``, ``cop``, subtypes."""
    return tree.relation(word) in ("aux", "cop")


def is_relative(tree: Tree, word: int) -> bool:
    """Return whether a word heads a relative clause.

    ``acl:relcl`` always does. Some parsers use a bare ``acl`` for every clause on a noun: it counts
    as a relative clause if it is finite. *The fact that he left* looks like one, and counts.
    """
    label = tree.deprel[word - 1]
    if label == "acl:relcl":
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
    """Return whether a word or a dependent, before a position, is a wh-word: *which book*."""
    return any(tree.lower(w) in WH_WORDS for w in (word, *tree.children(word)) if w < before)


@dataclass(frozen=True, slots=True)
class Match:
    """A filter's match in a tree.

    Attributes:
        rule: the rule that matched, in a few words.
        roles: role of each matched word (``"subject"``) -> its position, counted from 1.
    """

    rule: str
    roles: dict[str, int]

    @property
    def words(self) -> tuple[int, ...]:
        """The positions of the matched words, ascending."""
        return tuple(sorted(set(self.roles.values())))


Rule = Callable[[Tree], Match | None]
"""One reading of a filter: returns its match in a tree, or ``None``."""
