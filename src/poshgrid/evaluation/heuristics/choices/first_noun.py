"""A reflexive agrees with the first noun of the sentence."""

from __future__ import annotations

from poshgrid.evaluation.heuristics.english import Noun, Sentence
from poshgrid.evaluation.heuristics.pair import Pair

SAYS = "binds a reflexive to the first noun"


def prefers(pair: Pair) -> float | None:
    """Prefer the member whose reflexive agrees with the first noun."""
    return pair.bound(_first)


def _first(sentence: Sentence, index: int) -> Noun | None:
    return next((noun for noun in sentence.nouns if noun.index < index), None)
