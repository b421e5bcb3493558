"""Templates of minimal pairs, and how a suite is made from them.

A template is one pair, or a factorial design: several pairs with the same words, which make a set.
A set has all cells of its design, and both directions of a contrast: the word that is right in one
pair is wrong in another, so that a preference for a word is right as often as wrong. With
``joint``, the pairs are judged as one, as a difference in differences: (good - bad) of the
ungrammatical cell, minus the same replacement where both members are sentences. The effects of all
words cancel.

To make a suite, slots take words that are frequent in every corpus, candidates are made, and pairs
or sets are chosen.

Sources: POSH-BENCH, section 3.2, appendices F and G; Sprouse, Wagers & Phillips (2012), "A test of
the relation between working memory capacity and syntactic island effects"; Wilcox, Futrell & Levy
(2024).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from poshgrid.benchmark.generation import templatefile
from poshgrid.benchmark.generation.templatefile import Phenomenon
from poshgrid.core import resources
from poshgrid.core.errors import PoshgridError

if TYPE_CHECKING:
    from poshgrid.benchmark.generation.pairs import Filled, Row
    from poshgrid.benchmark.schema import Context, Loaded

TEMPLATES = resources.ROOT / "templates"
FACTORIAL = resources.ROOT / "factorial"


files, described = templatefile.files, templatefile.described


class Options(templatefile.Options):
    """Options of the readers that fill templates of pairs."""

    pool: int = Field(4, ge=1, le=1_000, description="Candidates made for each that is kept")


def load(path: Path | None, options: Any, context: Context) -> Loaded:  # noqa: ANN401
    """Make a suite from its templates, and raise if a pair has a fault.

    For each phenomenon: make more candidates than needed, drop those that occur in a corpus word
    for word, and choose among the rest so that n-gram models are at chance. A candidate is a pair,
    or the pairs of a design's set.

    Args:
        path: not used; the templates are part of the repository.
        options: options of the reader: which phenomena, how many ``pairs`` or ``sets``, and the
            seed.
        context: the words, sentences and n-gram models of the corpora.

    Returns:
        A table with the columns of ``PAIRS``; the number of pairs and candidates and, for each
        phenomenon, lexical sets and the balance reached.

    Raises:
        PoshgridError: too few usable words, or a pair with a fault.
    """
    import polars as pl

    from poshgrid.benchmark import lexicon, structure
    from poshgrid.benchmark.generation import pairs, selection, slot_words
    from poshgrid.benchmark.schema import PAIRS, Loaded

    known, vocabulary = lexicon.read(), context.vocabulary
    number = options.sets if hasattr(options, "sets") else options.pairs
    templates: list[Phenomenon] = described(options)
    prepared: list[list[Filled]] = []
    for phenomenon in templates:
        choices = slot_words.choices(phenomenon, known, vocabulary)
        wanted = options.pool * number
        prepared.append(pairs.candidates(phenomenon, wanted, options.seed, choices, least=number))
    # The corpora are large, so they are read once for all phenomena.
    heard = context.heard({m for made in prepared for filled in made for m in filled.members})
    rows: list[Row] = []
    phenomena: dict[str, dict[str, Any]] = {}
    for phenomenon, made in zip(templates, prepared, strict=True):
        where = f"phenomenon {phenomenon.phenomenon}"
        unheard = [filled for filled in made if heard.isdisjoint(filled.members)]
        if len(unheard) < number:
            raise PoshgridError(
                f"{where}: {len(unheard)} of {len(made)} candidates are not in the corpora, "
                f"{number} needed; request fewer or raise the option pool"
            )
        positions, reached = selection.choose(
            unheard,
            number,
            context.baselines,
            joint=phenomenon.joint,
            seed=options.seed,
            where=where,
        )
        chosen = [unheard[position] for position in positions]
        rows += pairs.rows(phenomenon, chosen)
        phenomena[phenomenon.phenomenon] = {
            **reached,
            "candidates": len(made),
            "heard": len(made) - len(unheard),
            "lexical_sets": len({filled.lexical_set for filled in chosen}),
        }
    items = pl.DataFrame(rows, schema=PAIRS)
    structure.refuse_faults(items, known, vocabulary)
    candidates = sum(map(len, prepared))
    return Loaded(items, {"pairs": items.height, "candidates": candidates, "generated": phenomena})
