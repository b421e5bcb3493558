"""A reflexive agrees with the nearest noun before it."""

from __future__ import annotations

from poshgrid.evaluation.heuristics.pair import Pair

SAYS = "binds a reflexive to the nearest noun"


def prefers(pair: Pair) -> float | None:
    """Prefer the member whose reflexive agrees with the last noun before it."""
    return pair.bound(lambda sentence, index: next(reversed(sentence.before(index)), None))
