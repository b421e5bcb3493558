"""The sentence whose words' frequencies have the larger sum is the better one.

This is the word frequency baseline of Huebner, Sulem, Fisher and Roth, "BabyBERTa: Learning More
Grammar With Small-Scale Child-Directed Language" (CoNLL 2021), Figures 2 and 6 to 9. It favours
longer sentences; the unigram baseline, a sum of log-probabilities, favours shorter ones.
"""

from __future__ import annotations

from poshgrid.corpora.words import words
from poshgrid.evaluation.heuristics.pair import Pair

SAYS = "prefers the sentence whose words’ frequencies have the larger sum"


def compares(pair: Pair) -> tuple[list[str], list[str]]:
    """Return all words of each sentence. Words in both sentences cancel out."""
    return words(pair.first.text), words(pair.second.text)
