"""Where two sentences first differ, the function word that is more frequent in the text wins."""

from __future__ import annotations

from poshgrid.evaluation.heuristics.english import REFLEXIVES, difference, known
from poshgrid.evaluation.heuristics.pair import Pair

SAYS = "prefers the more frequent function word, where the two first differ"


def compares(pair: Pair) -> tuple[str, str] | None:
    """Return the first words that differ, if both are function words."""
    index = difference(pair.first.words, pair.second.words)
    if index is None:
        return None
    words = pair.first.words[index], pair.second.words[index]
    closed = known().function | known().auxiliaries | REFLEXIVES.keys()
    return words if closed.issuperset(words) else None
