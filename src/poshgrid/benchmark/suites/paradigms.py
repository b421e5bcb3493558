"""Our own sets of filler x gap, generated from ``resources/paradigms`` and ``resources/lexicon``.

Sources: Lan, Chemla & Katzir (2024); Pistotti, Brown & Witbrock (2025), appendix A.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from poshgrid.benchmark.generation import paradigms, templatefile

if TYPE_CHECKING:
    from pathlib import Path

    from poshgrid.benchmark.schema import Context, Loaded

TASK = "paradigms"
CORPORA = True


class Options(templatefile.Options):
    """Options of the reader ``paradigms``."""

    FOLDER, FILE = paradigms.PARADIGMS, paradigms.Phenomenon

    sets: int = Field(
        500,
        gt=0,
        le=9_999,
        description="Sets of each phenomenon, four sentences each; crossed ones make all there are",
    )


files = templatefile.files


def load(path: Path, options: Options, context: Context) -> Loaded:
    """Generate the sets.

    Args:
        path: not used; the templates are part of the repository.
        options: how many, which, and the seed.
        context: the words that are frequent in every corpus.

    Returns:
        Rows of ``PARADIGMS``, four for each set, and the facts: sets, ambiguous sets and lexical
        sets of each phenomenon.

    Raises:
        PoshgridError: too few usable words.
    """
    import polars as pl

    from poshgrid.benchmark import lexicon
    from poshgrid.benchmark.schema import PARADIGMS, Loaded

    words, vocabulary = lexicon.read(), context.vocabulary
    rows: list[dict[str, Any]] = []
    for phenomenon in templatefile.described(options):
        rows += paradigms.generate(phenomenon, options.sets, options.seed, words, vocabulary)
    items = pl.DataFrame(rows, schema=PARADIGMS)
    each = items.unique("item_id")
    return Loaded(
        items,
        {
            "sets": each.height,
            "ambiguous": int(each["ambiguous"].sum()),
            "lexical_sets": each["lexical_set"].n_unique(),
        },
    )
