"""A reflexive agrees with the nearest noun that has a gender."""

from __future__ import annotations

from poshgrid.evaluation.heuristics.english import Noun, Sentence
from poshgrid.evaluation.heuristics.pair import Pair

SAYS = "binds a reflexive to the nearest noun that has a gender"


def prefers(pair: Pair) -> float | None:
    """Prefer the member whose reflexive agrees with the last masculine or feminine noun."""
    return pair.bound(_nearest)


def _nearest(sentence: Sentence, index: int) -> Noun | None:
    gendered = [noun for noun in sentence.before(index) if noun.genders in ({"m"}, {"f"})]
    return gendered[-1] if gendered else None
