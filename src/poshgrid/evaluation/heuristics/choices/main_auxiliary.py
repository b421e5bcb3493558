"""A question fronts the auxiliary of the main clause."""

from __future__ import annotations

from poshgrid.evaluation.heuristics.english import in_relative
from poshgrid.evaluation.heuristics.pair import Pair

SAYS = "fronts the main clause’s auxiliary"
HIERARCHICAL = True


def prefers(pair: Pair) -> float | None:
    """Prefer the question whose fronted auxiliary does not come from a relative clause."""
    questions = pair.fronted
    if questions is None:
        return None
    early = min(questions.first, questions.second)
    wanted = max(questions.first, questions.second) if in_relative(questions.body, early) else early
    return float(questions.first == wanted)
