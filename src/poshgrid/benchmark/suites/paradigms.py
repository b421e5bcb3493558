"""Generated sets of filler x gap, from ``resources/paradigms`` and ``resources/lexicon``.

A template is one line of text, from which four sentences are made.

``{slot:form}`` is a word; ``<who|that>`` has the text with and without a filler; ``<|{name1}>`` is
the position of the first gap, which is filled if there is no filler; ``[{name2}]`` is the object
that the second gap leaves out. The critical region is that object, or the word in its position.

Sources: Lan, Chemla & Katzir (2024); Pistotti, Brown & Witbrock (2025), Table 1 and appendix A.
"""

from __future__ import annotations

import functools
import itertools
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pydantic import Field, model_validator

from poshgrid.benchmark.generation import templatefile
from poshgrid.benchmark.generation.templatefile import (
    Filling,
    Pattern,
    capitalized,
    lexical_set,
)
from poshgrid.benchmark.generation.words import Uses, fillings, least_used, shares
from poshgrid.benchmark.generation.words import choices as usable_choices
from poshgrid.benchmark.lexicon import Lexicon, Vocabulary, Word
from poshgrid.core import resources

if TYPE_CHECKING:
    from poshgrid.benchmark.schema import Context, Loaded

TASK = "paradigms"
CORPORA = True

PARADIGMS = resources.ROOT / "paradigms"
CELLS = tuple((filler, gap) for filler in (True, False) for gap in (True, False))
"""The sentences of a set as (filler, gap), in the order in which they are written."""

_FILLER = re.compile(r"<([^<>|]+)\|([^<>|]+)>")  # <with filler|without>
_FIRST = re.compile(r"<\|([^<>|]+)>")  # <|what fills the first gap>
_OBJECT = re.compile(r"\[([^\[\]]+)\]")  # [what fills the second gap]
_PLAIN = r"[^<>\[\]]*"
_MARKED = re.compile(
    rf"{_PLAIN}{_FILLER.pattern}{_PLAIN}{_FIRST.pattern}{_PLAIN}{_OBJECT.pattern} [{{\w]{_PLAIN}"
)

_TRIES = 1_000  # draws in search of a new set
_EVEN = 500  # draws that use words equally often; after them any word may be used


class Template(Pattern):
    """Four sentences in one line, and the slots that they share."""

    text: str
    ambiguous: bool = False  # "NAME's talking to": a clause as well as a noun phrase

    @property
    def texts(self) -> tuple[str, ...]:
        """The line of text."""
        return (self.text,)

    @model_validator(mode="after")
    def _marked(self) -> Self:
        for name, slot in self.slots.items():
            if slot.agree or slot.unlike or slot.balanced:
                raise ValueError(
                    f"template {self.name}: slot {name!r}: no agree, unlike or balanced"
                )
        if not _MARKED.fullmatch(self.text):
            raise ValueError(
                f"template {self.name}: the text must have <with filler|without>, then "
                "<|first object>, then [second object], once each, and a word after them: it is "
                "the critical region of the gap"
            )
        return self

    def sentence(self, filling: Filling, *, filler: bool, gap: bool) -> tuple[str, int, int]:
        """Return a sentence of the set and its critical region, [start, end) in characters.

        Args:
            filling: slot -> word.
            filler: "who" rather than "that".
            gap: without the second object.
        """
        text = _FILLER.sub(r"\1" if filler else r"\2", self.text)
        text = _FIRST.sub("" if filler else r"\1", text)
        before, held, after = (
            _joined(self.fill(part, filling)) for part in _OBJECT.split(text, maxsplit=1)
        )
        region = after.split(" ", 1)[0].rstrip(".,?!") if gap else held
        rest = after if gap else f"{held} {after}"
        start = len(before) + 1
        return capitalized(f"{before} {rest}"), start, start + len(region)


def _joined(text: str) -> str:
    """Return a text without the extra spaces around an empty position."""
    return re.sub(r" (?=[,.?!])", "", " ".join(text.split()))


class Phenomenon(templatefile.TemplateFile):
    """One file of templates."""

    templates: list[Template] = Field(min_length=1)
    # Every combination of words makes a set, so that sentences occur in several sets, except those
    # without filler and gap.
    crossed: bool = False


def generate(
    phenomenon: Phenomenon, sets: int, seed: int, lexicon: Lexicon, vocabulary: Vocabulary
) -> list[dict[str, Any]]:
    """Return the sets of one phenomenon, from its templates in equal shares.

    Every slot uses its words equally often, as far as possible, because no word may occur twice in
    a set. A crossed phenomenon makes all its sets.

    Args:
        phenomenon: the templates.
        sets: how many sets of four sentences to make, unless it is crossed.
        seed: the same seed gives the same sets; a template's sets do not depend on the others'.
        lexicon: the words.
        vocabulary: the words that are frequent enough in every corpus.

    Returns:
        Rows with the columns of ``PARADIGMS``, four for each set, in the order of ``CELLS``.

    Raises:
        PoshgridError: a slot has too few usable words, or the words allow too few sets.
    """
    choices = usable_choices(phenomenon, lexicon, vocabulary)
    rows: list[dict[str, Any]] = []
    for template, share in zip(
        phenomenon.templates, shares(sets, len(phenomenon.templates)), strict=True
    ):
        words = {slot: choices[template.name, slot] for slot in template.slots}
        if phenomenon.crossed:
            filled = _all_fillings(words)
        else:
            rng = random.Random(f"{seed}/{phenomenon.phenomenon}/{template.name}")
            filled = fillings(
                phenomenon.where(template),
                words,
                itertools.repeat({}, share),
                functools.partial(_draw, template, words, rng),
                functools.partial(_sentences, template),
                seen=set(),
                tries=_TRIES,
                least=share,
                kind="sets",
            )
        for filling in filled:
            rows += _rows(phenomenon, template, filling, len(rows) // len(CELLS) + 1)
    return rows


def _all_fillings(words: Mapping[str, Sequence[Word]]) -> Iterator[Filling]:
    """Yield every filling in which no word occurs twice, in the order of the words."""
    for combination in itertools.product(*words.values()):
        folded = [part for word in combination for part in word.folded]
        if len(set(folded)) == len(folded):
            yield dict(zip(words, combination, strict=True))


def _rows(
    phenomenon: Phenomenon, template: Template, filling: Filling, number: int
) -> list[dict[str, Any]]:
    rows = []
    for filler, gap in CELLS:
        text, start, end = template.sentence(filling, filler=filler, gap=gap)
        rows.append(
            {
                "item_id": f"{phenomenon.phenomenon}-{number:04}",
                "category": phenomenon.category,
                "phenomenon": phenomenon.phenomenon,
                "template": f"{phenomenon.phenomenon}-{template.name}",
                "lexical_set": lexical_set(filling),
                "ambiguous": template.ambiguous,
                "filler": filler,
                "gap": gap,
                "text": text,
                "start": start,
                "end": end,
            }
        )
    return rows


def _sentences(template: Template, filling: Filling) -> list[str]:
    return [template.sentence(filling, filler=f, gap=g)[0] for f, g in CELLS]


def _draw(
    template: Template,
    choices: Mapping[str, Sequence[Word]],
    rng: random.Random,
    start: Filling,
    used: Uses,
    attempt: int,
) -> Filling | None:
    """Fill the slots at random, least used words first; ``None`` if no words are left for a slot.

    No word occurs twice in a sentence, in any form; slots have no other relations.
    """
    filling = dict(start)
    taken: set[str] = set()
    # The slot with the fewest words chooses first, or the others would take them.
    for slot in sorted(choices, key=lambda name: len(choices[name])):
        fitting = [word for word in choices[slot] if taken.isdisjoint(word.folded)]
        if not fitting:
            return None
        filling[slot] = rng.choice(least_used(fitting, used[slot]) if attempt < _EVEN else fitting)
        taken |= filling[slot].folded
    return {slot: filling[slot] for slot in template.slots}


class Options(templatefile.Options):
    """Options of the reader ``paradigms``."""

    FOLDER, FILE = PARADIGMS, Phenomenon

    sets: int = Field(
        500,
        gt=0,
        le=9_999,
        description="Sets of each phenomenon, four sentences each; a crossed one makes all",
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
        rows += generate(phenomenon, options.sets, options.seed, words, vocabulary)
    items = pl.DataFrame(rows, schema=PARADIGMS)
    sets = items.unique("item_id")
    return Loaded(
        items,
        {
            "sets": sets.height,
            "ambiguous": int(sets["ambiguous"].sum()),
            "lexical_sets": sets["lexical_set"].n_unique(),
        },
    )
