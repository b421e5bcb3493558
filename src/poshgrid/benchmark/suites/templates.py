"""Our own suite: minimal pairs generated from ``resources/templates`` and ``resources/lexicon``.

Source: POSH-BENCH, section 3.2, appendices F and G, Table 13; words counterbalanced over the bases
as in Zorro (Huebner et al. 2021, Appendix B).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import Field, field_validator

from poshgrid import plugins
from poshgrid.benchmark.generation import templatefile, templates
from poshgrid.errors import PoshgridError

if TYPE_CHECKING:
    from pathlib import Path

    from poshgrid.benchmark.context import Context, Loaded
    from poshgrid.benchmark.generation.pairs import Filled, Row
    from poshgrid.benchmark.generation.words import Choices
    from poshgrid.benchmark.lexicon import Lexicon, Vocabulary, Word

CORPORA = True  # items are made from the corpora


class Options(plugins.Options):
    """Options of the reader ``templates``."""

    pairs: int = Field(500, gt=0, le=9_999, description="Pairs of each phenomenon")
    seed: int = Field(42, ge=0, description="The same seed gives the same pairs")
    phenomena: list[str] | None = Field(None, description="Default: the paper's nine")
    pool: int = Field(4, ge=1, description="Candidates made for each pair that is kept")
    balanced: bool = Field(True, description="Counterbalance a slot's words over the bases")
    relative: float = Field(
        0.01, ge=0, description="Difference of two bases' totals that is near enough, of their mean"
    )
    occurrences: int = Field(
        1_000, ge=0, description="Difference of two bases' totals that is never too large, words"
    )
    null_tolerance: float = Field(
        0.02, ge=0, le=0.5, description="Distance from one half of what an n-gram model gets right"
    )

    @field_validator("phenomena")
    @classmethod
    def _known(cls, value: list[str] | None) -> list[str] | None:
        return templatefile.chosen(value, templates.TEMPLATES)


def files(path: Path, options: Options) -> list[Path]:
    """Return the templates and the lexicon; ``path`` is not used."""
    return templatefile.watched(_chosen(options), templates.TEMPLATES)


def load(path: Path | None, options: Options, context: Context) -> Loaded:
    """Generate the pairs and hold them to the gate of the structural checks.

    For each phenomenon: counterbalance the words of its slots over the bases, make more candidates
    than are needed, drop those that a base holds word by word, and choose the pairs among the rest
    so that n-gram models are at chance.

    Args:
        path: not used; the templates are part of the repository.
        options: how many, which, the seed, and the tolerances.
        context: the words, sentences and n-gram models of the bases.

    Returns:
        A table with the columns of ``PAIRS``; pairs, candidates and, for each phenomenon, lexical
        sets, words left out, rare words and what the choice reached.

    Raises:
        PoshgridError: too few usable words, or a pair with a fault.
    """
    import polars as pl

    from poshgrid.benchmark import lexicon
    from poshgrid.benchmark.checks import structure
    from poshgrid.benchmark.context import Loaded
    from poshgrid.benchmark.schema import PAIRS

    words = lexicon.read()
    rows: list[Row] = []
    phenomena: dict[str, dict[str, Any]] = {}
    prepared = [
        _prepared(templates.read(name), options, words, context.vocabulary)
        for name in _chosen(options)
    ]
    # The corpora are long: they are gone through once for all phenomena.
    heard = context.heard({m for each in prepared for pair in each.made for m in pair.members})
    for each in prepared:
        made, phenomena[each.phenomenon.phenomenon] = _selected(each, heard, options, context)
        rows += made
    items = pl.DataFrame(rows, schema=PAIRS)
    structure.hold(items, words, context.vocabulary)
    candidates = sum(facts["candidates"] for facts in phenomena.values())
    return Loaded(items, {"pairs": items.height, "candidates": candidates, "generated": phenomena})


def _chosen(options: Options) -> list[str]:
    return sorted(options.phenomena or templates.names())


class _Prepared(NamedTuple):
    """A phenomenon's candidates."""

    phenomenon: templates.Phenomenon
    made: list[Filled]
    left_out: dict[str, list[str]]  # "template.slot" -> words that counterbalancing leaves out
    rare: dict[str, list[str]]  # words that make the construction -> bases that hardly have them


def _prepared(
    phenomenon: templates.Phenomenon, options: Options, lexicon: Lexicon, vocabulary: Vocabulary
) -> _Prepared:
    """Return the candidates of a phenomenon, from counterbalanced words."""
    from poshgrid import logs
    from poshgrid.benchmark.generation import pairs, words

    rare = words.rare(phenomenon, lexicon, vocabulary)
    for word, bases in rare.items():
        log = logs.get(__name__)
        log.warning("%s: %r is rare in %s", phenomenon.phenomenon, word, ", ".join(bases))
    choices = words.choices(phenomenon, lexicon, vocabulary)
    left_out: dict[str, list[str]] = {}
    if options.balanced:
        choices, left_out = _counterbalanced(phenomenon, choices, options, vocabulary)
    made = pairs.candidates(
        phenomenon, options.pool * options.pairs, options.seed, choices, least=options.pairs
    )
    return _Prepared(phenomenon, made, left_out, rare)


def _selected(
    prepared: _Prepared, heard: set[str], options: Options, context: Context
) -> tuple[list[Row], dict[str, Any]]:
    """Return the pairs of a phenomenon and the facts for the manifest."""
    from poshgrid.benchmark.generation import pairs, selection

    phenomenon, made, left_out, rare = prepared
    name = phenomenon.phenomenon
    unheard = [pair for pair in made if heard.isdisjoint(pair.members)]
    if len(unheard) < options.pairs:
        raise PoshgridError(
            f"phenomenon {name}: {len(unheard)} of {len(made)} candidates are not in the corpora, "
            f"{options.pairs} needed; ask for fewer pairs or raise the option pool"
        )
    positions, facts = selection.choose(
        [
            selection.Candidate(c.good, c.bad, c.template, c.cell, tuple(c.lexical_set.split("+")))
            for c in unheard
        ],
        options.pairs,
        context.nulls,
        tolerance=options.null_tolerance,
        seed=options.seed,
        place=f"phenomenon {name}",
    )
    chosen = [unheard[position] for position in positions]
    return pairs.rows(phenomenon, chosen), {
        **facts,
        "candidates": len(made),
        "heard": len(made) - len(unheard),
        "lexical_sets": len({pair.lexical_set for pair in chosen}),
        "left_out": left_out,
        "rare": rare,
    }


def _counterbalanced(
    phenomenon: templates.Phenomenon, choices: Choices, options: Options, vocabulary: Vocabulary
) -> tuple[dict[tuple[str, str], list[Word]], dict[str, list[str]]]:
    """Return the words that stay, and "template.slot" -> those that go.

    Function words stay, and so do the words that make the construction, which may be rare. Where
    a slot agrees in gender each gender is balanced by itself: pairs are halved between them.
    """
    from poshgrid.benchmark.generation.balance import counterbalance
    from poshgrid.benchmark.lexicon import TABLES

    kept: dict[tuple[str, str], list[Word]] = {}
    out: dict[str, list[str]] = {}
    for template in phenomenon.templates:
        for slot, described in template.slots.items():
            words = choices[template.name, slot]
            kept[template.name, slot] = list(words)
            if not TABLES[described.category].content or not described.frequent:
                continue
            grouped = "gender" in described.agree
            stay = counterbalance(
                words,
                template.forms(slot),
                vocabulary,
                relative=options.relative,
                occurrences=options.occurrences,
                least=1 if grouped else described.least,  # of each gender
                place=f"{phenomenon.place(template)}, slot {slot!r}",
                groups=_gender if grouped else None,
            )
            kept[template.name, slot] = stay
            gone = [word.lemma for word in words if word not in stay]
            if gone:
                out[f"{template.name}.{slot}"] = gone
    return kept, out


def _gender(word: Word) -> str:
    return "".join(sorted(word.features["gender"]))
