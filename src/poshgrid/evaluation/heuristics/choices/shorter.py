"""The shorter sentence is the better one."""

from __future__ import annotations

from poshgrid.evaluation.heuristics.pair import Pair, prefer

ANY_LANGUAGE = True
SAYS = "prefers the shorter sentence"


def prefers(pair: Pair) -> float | None:
    """Prefer the member with fewer words."""
    return prefer(len(pair.first) < len(pair.second), len(pair.second) < len(pair.first))
