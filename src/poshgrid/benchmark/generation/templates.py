"""Templates of minimal pairs, and how a suite is made from them.

A template is one pair, or a factorial design: several pairs with the same words, which make a set.
A set has all cells of its design, and both directions of a contrast: the word that is right in one
pair is wrong in another, so that a preference for a word is right as often as wrong. With
``joint``, the pairs are judged as one, as a difference in differences: (good - bad) of the
ungrammatical cell, minus the same replacement where both members are sentences. The effects of all
words cancel.

To make a suite, words are counterbalanced over the corpora, candidates are made, and pairs or sets
are chosen.

Sources: POSH-BENCH, section 3.2, appendices F and G; Zorro (Huebner et al. 2021, Appendix B);
Sprouse, Wagers & Phillips (2012), "A test of the relation between working memory capacity and
syntactic island effects"; Wilcox, Futrell & Levy (2024).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from poshgrid.benchmark.generation import templatefile
from poshgrid.benchmark.generation.templatefile import Phenomenon
from poshgrid.config.base import Count
from poshgrid.core import resources
from poshgrid.core.errors import PoshgridError

if TYPE_CHECKING:
    from poshgrid.benchmark.generation.pairs import Filled, Row
    from poshgrid.benchmark.generation.words import Choices
    from poshgrid.benchmark.lexicon import Lexicon, Vocabulary, Word
    from poshgrid.benchmark.schema import Context, Loaded

TEMPLATES = resources.ROOT / "templates"
FACTORIAL = resources.ROOT / "factorial"


files, described = templatefile.files, templatefile.described


class Options(templatefile.Options):
    """Options of the readers that fill templates of pairs."""

    pool: int = Field(4, ge=1, le=1_000, description="Candidates made for each that is kept")
    balanced: bool = Field(True, description="Counterbalance a slot's words over the corpora")
    occurrences: Count = Field(
        1_000, description="Occurrences by which two corpora's totals may always differ"
    )


def load(path: Path | None, options: Any, context: Context) -> Loaded:  # noqa: ANN401
    """Make a suite from its templates, and raise if a pair has a fault.

    For each phenomenon: counterbalance the words of its slots over the corpora, make more
    candidates than needed, drop those that occur in a corpus word for word, and choose among the
    rest so that n-gram models are at chance. A candidate is a pair, or the pairs of a design's set.

    Args:
        path: not used; the templates are part of the repository.
        options: options of the reader: which phenomena, how many ``pairs`` or ``sets``, the seed,
            and the tolerances.
        context: the words, sentences and n-gram models of the corpora.

    Returns:
        A table with the columns of ``PAIRS``; the number of pairs and candidates and, for each
        phenomenon, lexical sets, words left out and the balance reached.

    Raises:
        PoshgridError: too few usable words, or a pair with a fault.
    """
    import polars as pl

    from poshgrid.benchmark import lexicon, structure
    from poshgrid.benchmark.generation import pairs, selection
    from poshgrid.benchmark.schema import PAIRS, Loaded

    words, vocabulary = lexicon.read(), context.vocabulary
    number = options.sets if hasattr(options, "sets") else options.pairs
    templates: list[Phenomenon] = described(options)
    prepared = [
        _prepared(phenomenon, number, options, words, vocabulary) for phenomenon in templates
    ]
    # The corpora are large, so they are read once for all phenomena.
    heard = context.heard({m for made, _ in prepared for filled in made for m in filled.members})
    rows: list[Row] = []
    phenomena: dict[str, dict[str, Any]] = {}
    for phenomenon, (made, facts) in zip(templates, prepared, strict=True):
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
            **facts,
        }
    items = pl.DataFrame(rows, schema=PAIRS)
    structure.refuse_faults(items, words, vocabulary)
    candidates = sum(len(made) for made, _ in prepared)
    return Loaded(items, {"pairs": items.height, "candidates": candidates, "generated": phenomena})


def _prepared(
    phenomenon: Phenomenon,
    number: int,
    options: Options,
    lexicon: Lexicon,
    vocabulary: Vocabulary,
) -> tuple[list[Filled], dict[str, Any]]:
    """Return a phenomenon's candidates, and facts: "template.slot" -> words that were left out."""
    from poshgrid.benchmark.generation import pairs, words

    choices = words.choices(phenomenon, lexicon, vocabulary)
    left_out: dict[str, list[str]] = {}
    if options.balanced:
        choices, left_out = _counterbalanced(phenomenon, choices, options, vocabulary)
    made = pairs.candidates(phenomenon, options.pool * number, options.seed, choices, least=number)
    return made, {"left_out": left_out}


def _counterbalanced(
    phenomenon: Phenomenon, choices: Choices, options: Options, vocabulary: Vocabulary
) -> tuple[dict[tuple[str, str], list[Word]], dict[str, list[str]]]:
    """Return the words that are kept, and "template.slot" -> words that are left out.

    Function words and words that make the construction are kept, even if they are rare. If a slot
    agrees in gender, each gender is balanced separately, because half of the pairs have each
    gender. Equally many names of both genders are kept: with 2 female names and 14 male ones a
    single word would identify the pairs of a gender.
    """
    from poshgrid.benchmark.generation.balance import counterbalance
    from poshgrid.benchmark.generation.templatefile import is_content

    def gender(word: Word) -> str:
        return "".join(sorted(word.features["gender"]))

    kept: dict[tuple[str, str], list[Word]] = {}
    out: dict[str, list[str]] = {}
    for template in phenomenon.templates:
        for slot, described in template.slots.items():
            words = choices[template.name, slot]
            kept[template.name, slot] = list(words)
            if not is_content(words[0]) or not described.frequent:
                continue
            grouped = "gender" in described.agree
            stay = counterbalance(
                words,
                template.forms(slot),
                vocabulary,
                occurrences=options.occurrences,
                least=1 if grouped else described.least,  # of each gender
                where=f"{phenomenon.where(template)}, slot {slot!r}",
                groups=gender if grouped else None,
                equal=grouped and described.category == "name",
            )
            kept[template.name, slot] = stay
            gone = [word.lemma for word in words if word not in stay]
            if gone:
                out[f"{template.name}.{slot}"] = gone
    return kept, out
