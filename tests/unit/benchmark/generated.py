"""Pairs of one phenomenon, filled and numbered, without counterbalancing and without a choice."""

from __future__ import annotations

from poshgrid.benchmark.generation.pairs import Row, candidates, rows
from poshgrid.benchmark.generation.templates import Phenomenon
from poshgrid.benchmark.generation.words import Choices
from poshgrid.benchmark.generation.words import choices as usable_choices
from poshgrid.benchmark.lexicon import Lexicon, Vocabulary


def generate(
    phenomenon: Phenomenon,
    pairs: int,
    seed: int,
    lexicon: Lexicon,
    vocabulary: Vocabulary,
    choices: Choices | None = None,
) -> list[Row]:
    """Return the minimal pairs of one phenomenon, the templates in turn, in equal shares.

    Args:
        phenomenon: the templates.
        pairs: how many pairs to make.
        seed: the same seed gives the same pairs; a phenomenon's do not depend on the others'.
        lexicon: the words.
        vocabulary: the words that are frequent enough in every base.
        choices: the words of each slot; none: those of :mod:`.words`.

    Returns:
        Rows with the columns of ``PAIRS``.

    Raises:
        PoshgridError: a slot has too few usable words, or the words allow too few pairs.
    """
    if choices is None:
        choices = usable_choices(phenomenon, lexicon, vocabulary)
    return rows(phenomenon, candidates(phenomenon, pairs, seed, choices))
