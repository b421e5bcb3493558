"""A language without expletives: *there is a dog* becomes *is a dog*, *it 's raining* *is raining*.

Expletives are those of the tree (``expl``) and *it* with verbs of weather, which parsers call a
subject.
"""

from __future__ import annotations

from poshgrid.evidence.closed_classes import listed
from poshgrid.evidence.match import is_auxiliary
from poshgrid.evidence.rewriters._verbs import BE, dropped, lemma
from poshgrid.evidence.rewriting import UnsafeError, Word
from poshgrid.parsing.tree import Tree

ENGLISH = True
_WEATHER = frozenset({"drizzle", "hail", "pour", "rain", "snow", "thunder"})
_DEFINITE = listed(
    "the this that these those my your his her its our their he she it they me you him us them "
    "mine yours"
)
_EXISTS = frozenset({"appear", "exist", "happen", "remain", "seem", "use"})


def rewrite(tree: Tree) -> list[Word] | None:
    """Leave the expletives out; a contracted verb behind one is written in full.

    *There* without *be* or the like, or with a definite subject, may be a place: *there it goes*,
    *there 's Mommy*.
    """
    expletives = [word for word in range(1, len(tree) + 1) if _expletive(tree, word)]
    for word in expletives:
        if len(tree.subtree(word)) > 1:
            raise UnsafeError("an expletive that governs words")
        if tree.lower(word) == "there" and not _exists(tree, word):
            raise UnsafeError("there may be a place")
    return dropped(tree, expletives)


def _expletive(tree: Tree, word: int) -> bool:
    if tree.lower(word) not in ("it", "there"):
        return False
    if tree.relation(word) == "expl":
        return True
    verb = tree.head[word - 1]
    return bool(
        tree.lower(word) == "it"
        and tree.relation(word) == "nsubj"
        and tree.upos[verb - 1] == "VERB"
        and lemma(tree.lower(verb)) in _WEATHER
        and not any(tree.relation(child) == "obj" for child in tree.children(verb))
    )


def _exists(tree: Tree, word: int) -> bool:
    """Return whether *there* says that something exists, not where a known thing is."""
    clause = tree.head[word - 1]
    verbs = [clause, *(child for child in tree.children(clause) if is_auxiliary(tree, child))]
    if not any(tree.lower(verb) in BE or lemma(tree.lower(verb)) in _EXISTS for verb in verbs):
        return False
    named = [c for c in tree.children(clause) if tree.relation(c) == "nsubj"] or [clause]
    return not any(
        tree.upos[noun - 1] == "PROPN"
        or (tree.upos[noun - 1] == "PRON" and tree.lower(noun) in _DEFINITE)
        or any(tree.lower(child) in _DEFINITE for child in tree.children(noun))
        for noun in named
    )
