"""The sentence whose words' frequencies have the larger sum is the better one.

That is the word frequency baseline of Huebner, Sulem, Fisher and Roth, "BabyBERTa: Learning More
Grammar With Small-Scale Child-Directed Language" (CoNLL 2021), Figures 2 and 6 to 9. A longer
sentence has the larger sum, where the unigram baseline, a sum of logarithms, prefers the shorter
one.
"""

from __future__ import annotations

from poshgrid.corpora.words import words
from poshgrid.heuristics.pair import Pair

SAYS = "prefers the sentence whose words’ frequencies have the larger sum"


def compares(pair: Pair) -> tuple[list[str], list[str]]:
    """Return all words of each sentence, cut as they are counted; those that both have cancel."""
    return words(pair.first.text), words(pair.second.text)
