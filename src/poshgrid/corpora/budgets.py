"""How many words of each source a corpus needs: for each size, dev and test (paper, Table 2)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from poshgrid.config import Corpus
from poshgrid.config.sizes import words
from poshgrid.core.errors import PoshgridError, check_known


def budgets(corpus: Corpus, sizes: Sequence[str]) -> dict[str, dict[str, int]]:
    """Return source -> size (ascending) -> training words.

    Raises:
        PoshgridError: a source does not state its words for a size, has fewer words at a larger
            size, or no source has words at the smallest size.
    """
    ascending = sorted(sizes, key=words)
    if not ascending:
        raise PoshgridError(f"corpora: {corpus.name}: no sizes to mix; name one in an experiment")
    amounts_of: dict[str, dict[str, int]] = {}
    for portion in corpus.sources:
        where = f"corpora: {corpus.name}: sources: {portion.source}: words"
        for size in ascending:
            check_known(f"{where}: no size", size, portion.words)
        for small, large in itertools.pairwise(ascending):
            few, more = portion.words[small], portion.words[large]
            if more < few:
                raise PoshgridError(
                    f"{where}: {large} has {more:,} words, fewer than {small} with {few:,}; "
                    "sizes are nested: a larger one must not give a source fewer words"
                )
        amounts_of[portion.source] = {size: portion.words[size] for size in ascending}
    if not sum(amounts[ascending[0]] for amounts in amounts_of.values()):
        raise PoshgridError(
            f"corpora: {corpus.name}: size {ascending[0]} has no words from any source; give it "
            "some or leave it out of the experiments"
        )
    return amounts_of


def heldout(corpus: Corpus, sizes: Sequence[str]) -> dict[str, dict[str, int]]:
    """Return source -> dev, test -> words to hold out, by its share of the smallest size.

    With published splits the numbers are 0: their dev and test sets come as separate files.
    """
    if corpus.splits == "published":
        return {portion.source: {"dev": 0, "test": 0} for portion in corpus.sources}
    smallest = min(sizes, key=words)
    total = sum(portion.words[smallest] for portion in corpus.sources)
    return {
        portion.source: {
            "dev": round(corpus.dev_words * (portion.words[smallest] / total)),
            "test": round(corpus.test_words * (portion.words[smallest] / total)),
        }
        for portion in corpus.sources
    }


def check_enough(corpus: Corpus, source: str, needed: int, available: int, what: str) -> None:
    """Raise if a source has fewer words than a corpus needs.

    Raises:
        PoshgridError: says how many are missing.
    """
    if available < needed:
        raise PoshgridError(
            f"corpora: {corpus.name}: source {source!r} is too small: needs "
            f"{needed:,} words (for {what}), has {available:,}, short by {needed - available:,}; "
            "add text, or lower the source's words or the corpus's dev_words and test_words"
        )


def needed(corpus: Corpus, sizes: Sequence[str]) -> dict[str, int]:
    """Return source -> words that it must have: those of the largest size, dev and test.

    Raises:
        PoshgridError: as :func:`budgets`.
    """
    amounts_of = budgets(corpus, sizes)  # first: heldout() divides by its words
    held_out = heldout(corpus, sizes)
    return {
        source: max(amounts.values()) + sum(held_out[source].values())
        for source, amounts in amounts_of.items()
    }
