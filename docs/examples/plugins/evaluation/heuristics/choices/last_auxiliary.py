"""A question fronts the last auxiliary of the statement."""

from poshgrid.evaluation.heuristics.pair import Pair

SAYS = "fronts the last auxiliary"


def prefers(pair: Pair) -> float | None:
    """Prefer the question whose fronted auxiliary was taken from further right."""
    places = pair.fronted
    return None if places is None else float(places.first > places.second)
