"""A gap is filled as early as possible."""

from __future__ import annotations

from poshgrid.evaluation.heuristics.pair import Pair

SAYS = "leaves the gap as early as possible"


def prefers(pair: Pair) -> float | None:
    """Prefer the question whose gap comes first (the active-filler strategy; Frazier 1987)."""
    return None if pair.gap is None else float(pair.gap.first_early)
