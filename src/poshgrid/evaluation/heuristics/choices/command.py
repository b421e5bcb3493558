"""Principle A: a reflexive is bound by the subject of its clause."""

from __future__ import annotations

from poshgrid.evaluation.heuristics.english import local_subject
from poshgrid.evaluation.heuristics.pair import Pair

SAYS = "binds a reflexive to the subject of its clause"
HIERARCHICAL = True


def prefers(pair: Pair) -> float | None:
    """Prefer the member whose reflexive agrees with the subject that c-commands it."""
    return pair.bound(local_subject)
