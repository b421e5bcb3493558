"""A question begins with a form of *do*."""

from __future__ import annotations

from poshgrid.evaluation.heuristics.english import DO
from poshgrid.evaluation.heuristics.pair import Pair, prefer

SAYS = "fronts a form of do"


def prefers(pair: Pair) -> float | None:
    """Prefer the yes/no question that begins with *do*, if the other has another auxiliary."""
    if pair.fronted is None:
        return None
    return prefer(pair.first.words[0] in DO, pair.second.words[0] in DO)
