"""A reflexive agrees with the nearest noun before it."""

from __future__ import annotations

from poshgrid.evaluation.heuristics.english import Noun, Sentence
from poshgrid.evaluation.heuristics.pair import Pair

SAYS = "binds a reflexive to the nearest noun"


def prefers(pair: Pair) -> float | None:
    """Prefer the member whose reflexive agrees with the last noun before it."""
    return pair.bound(_nearest)


def _nearest(sentence: Sentence, index: int) -> Noun | None:
    return next((noun for noun in reversed(sentence.nouns) if noun.index < index), None)
