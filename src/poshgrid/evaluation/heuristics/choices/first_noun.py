"""A reflexive agrees with the first noun of the sentence."""

from __future__ import annotations

from poshgrid.evaluation.heuristics.pair import Pair

SAYS = "binds a reflexive to the first noun"


def prefers(pair: Pair) -> float | None:
    """Prefer the member whose reflexive agrees with the first noun."""
    return pair.bound(lambda sentence, index: next(iter(sentence.before(index)), None))
