"""A question fronts the auxiliary of the main clause."""

from __future__ import annotations

from poshgrid.heuristics.pair import Pair
from poshgrid.heuristics.words import in_relative

SAYS = "fronts the main clause’s auxiliary"
HIERARCHICAL = True


def prefers(pair: Pair) -> float | None:
    """Prefer the question whose fronted auxiliary was not taken from a relative clause."""
    found = pair.fronted
    if found is None:
        return None
    early = min(found.first, found.second)
    wanted = max(found.first, found.second) if in_relative(found.body, early) else early
    return float(found.first == wanted)
