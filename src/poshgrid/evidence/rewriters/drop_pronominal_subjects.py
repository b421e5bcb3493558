"""A language that drops pronominal subjects: *she sings* becomes *sings*, *I 'm here* *am here*."""

from __future__ import annotations

from poshgrid.evidence.match import is_subject
from poshgrid.evidence.rewriters._verbs import dropped
from poshgrid.evidence.rewriting import UnsafeError, Word
from poshgrid.parsing.tree import Tree

ENGLISH = True
_PRONOUNS = frozenset({"i", "you", "ya", "he", "she", "it", "we", "they"})


def rewrite(tree: Tree) -> list[Word] | None:
    """Leave personal pronouns out that are subjects; contracted verbs are written in full.

    One that governs words is unsafe: *you guys*, *he and I*.
    """
    subjects = [
        word
        for word in range(1, len(tree) + 1)
        if tree.lower(word) in _PRONOUNS and is_subject(tree, word)
    ]
    if any(len(tree.subtree(word)) > 1 for word in subjects):
        raise UnsafeError("a pronoun that governs words")
    return dropped(tree, subjects)
