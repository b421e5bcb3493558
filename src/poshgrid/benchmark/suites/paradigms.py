"""Our own sets of filler x gap, generated from ``resources/paradigms`` and ``resources/lexicon``.

Sources: Lan, Chemla & Katzir (2024); Pistotti, Brown & Witbrock (2025), appendix A.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from poshgrid.benchmark.generation import paradigms, templatefile

if TYPE_CHECKING:
    from pathlib import Path

    from poshgrid.benchmark.context import Context, Loaded

TASK = "paradigms"
CORPORA = True


class Options(templatefile.Options):
    """Options of the reader ``paradigms``."""

    FOLDER = paradigms.PARADIGMS

    sets: int = Field(
        500,
        gt=0,
        le=9_999,
        description="Sets of each phenomenon, four sentences each; crossed ones make all there are",
    )


def files(path: Path, options: Options) -> list[Path]:
    """Return the templates and the lexicon; ``path`` is not used."""
    return templatefile.watched(_chosen(options), paradigms.PARADIGMS)


def load(path: Path, options: Options, context: Context) -> Loaded:
    """Generate the sets.

    Args:
        path: not used; the templates are part of the repository.
        options: how many, which, and the seed.
        context: the words that are frequent in every base.

    Returns:
        Rows of ``PARADIGMS``, four for each set, and the facts: sets, ambiguous sets and lexical
        sets of each phenomenon, and the rare words that they need.

    Raises:
        PoshgridError: too few usable words.
    """
    import polars as pl

    from poshgrid.benchmark import lexicon
    from poshgrid.benchmark.context import Loaded
    from poshgrid.benchmark.generation.words import rare
    from poshgrid.benchmark.schema import PARADIGMS

    words, vocabulary = lexicon.read(), context.vocabulary
    rows: list[dict[str, Any]] = []
    rare_words: dict[str, list[str]] = {}
    for name in _chosen(options):
        phenomenon = paradigms.read(name)
        rare_words |= rare(phenomenon, words, vocabulary)
        rows += paradigms.generate(phenomenon, options.sets, options.seed, words, vocabulary)
    items = pl.DataFrame(rows, schema=PARADIGMS)
    each = items.unique("item_id")
    return Loaded(
        items,
        {
            "sets": each.height,
            "ambiguous": int(each["ambiguous"].sum()),
            "lexical_sets": each["lexical_set"].n_unique(),
            "rare_words": dict(sorted(rare_words.items())),
        },
    )


def _chosen(options: Options) -> list[str]:
    files = templatefile.names(paradigms.PARADIGMS)
    return sorted(options.phenomena or [n for n in files if not paradigms.read(n).crossed])
