"""Pairs of one phenomenon, filled from the whole lexicon: not chosen from."""

from __future__ import annotations

from poshgrid.benchmark import lexicon
from poshgrid.benchmark.generation.pairs import Row, candidates, choices, rows
from poshgrid.benchmark.generation.templates import Phenomenon

WORDS = lexicon.read()
KNOWN = lexicon.Vocabulary(9, {"a": frozenset(f for w in WORDS.words for f in w.folded)})
"""A corpus that knows every word of the lexicon."""


def generate(phenomenon: Phenomenon, pairs: int, seed: int) -> list[Row]:
    """Return minimal pairs, as rows with the columns of ``PAIRS``."""
    return rows(phenomenon, candidates(phenomenon, pairs, seed, choices(phenomenon, WORDS, KNOWN)))
