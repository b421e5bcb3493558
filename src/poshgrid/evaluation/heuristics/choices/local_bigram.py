"""Where two sentences first differ, the pair of neighbours that is more frequent wins."""

from __future__ import annotations

from poshgrid.corpora.words import words
from poshgrid.evaluation.heuristics.english import difference
from poshgrid.evaluation.heuristics.pair import Pair
from poshgrid.models.kneser_ney import END, SPECIALS, START

SAYS = "prefers the more frequent pair of neighbours, where the two first differ"


def compares(pair: Pair) -> tuple[str, str] | None:
    """Return the first words that differ, each with the word before it."""
    first, second = (
        [SPECIALS[START], *words(sentence.text), SPECIALS[END]]
        for sentence in (pair.first, pair.second)
    )
    index = difference(first, second)
    if index is None:
        return None
    return " ".join(first[index - 1 : index + 1]), " ".join(second[index - 1 : index + 1])
