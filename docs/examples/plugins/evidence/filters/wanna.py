"""Contracted *want to*: ``wan`` followed by ``na``."""

from collections.abc import Sequence

from poshgrid.evidence.match import Match
from poshgrid.parsing.tree import Tree

QUESTIONS = {"paper": "Are want and to contracted?"}
MISSPELT = {"wana", "wonna"}


def misspelt(words: Sequence[str]) -> tuple[int, ...] | None:
    """Return the place of a *wanna* that the parsers do not cut in two."""
    return next(((i,) for i, word in enumerate(words, 1) if word.lower() in MISSPELT), None)


BACKSTOPS = {"paper": misspelt}


def candidates(words: Sequence[str]) -> tuple[int, ...] | None:
    """Return the places of words in *-na*: *gon na*, *wana*."""
    return tuple(i for i, word in enumerate(words, 1) if word.lower().endswith("na")) or None


def paper(tree: Tree) -> Match | None:
    """Return the two halves of *wanna*, or ``None``."""
    for word in range(1, len(tree)):
        if tree.lower(word) == "wan" and tree.lower(word + 1) == "na":
            return Match("wan before na", {"want": word, "to": word + 1})
    return None


def direct(tree: Tree) -> Match | None:
    """Return the two halves where the verb after them is theirs: *I wan na go*."""
    match = paper(tree)
    return match if match and any(rel == "xcomp" for rel in tree.deprel) else None


READINGS = {"paper": paper, "direct": direct}
NEEDS = {"direct": ("xcomp",)}
