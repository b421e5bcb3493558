"""A question fronts the first auxiliary of the statement."""

from __future__ import annotations

from poshgrid.evaluation.heuristics.pair import Pair

SAYS = "fronts the first auxiliary"


def prefers(pair: Pair) -> float | None:
    """Prefer the question whose fronted auxiliary comes from further left."""
    questions = pair.fronted
    return None if questions is None else float(questions.first < questions.second)
