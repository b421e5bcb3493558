"""Sets of four sentences, filler x gap: filling templates, each slot's words in equal shares."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from poshgrid.benchmark.generation.paradigms import CELLS, Phenomenon, Template
from poshgrid.benchmark.generation.slots import Filling, lexical_set
from poshgrid.benchmark.generation.words import Uses, fillings, least_used, shares
from poshgrid.benchmark.generation.words import choices as usable_choices
from poshgrid.benchmark.lexicon import Lexicon, Vocabulary, Word

_TRIES = 1_000  # draws in search of a set that is not there yet
_EVEN = 500  # draws that keep the shares equal; where they make nothing new, any word will do


def generate(
    phenomenon: Phenomenon, sets: int, seed: int, lexicon: Lexicon, vocabulary: Vocabulary
) -> list[dict[str, Any]]:
    """Return the sets of one phenomenon, the templates in turn, in equal shares.

    Every slot takes its words equally often, as far as no word may occur twice in a set. Of a
    phenomenon that is crossed every set is made.

    Args:
        phenomenon: the templates.
        sets: how many sets of four sentences to make, unless it is crossed.
        seed: the same seed gives the same sets; a template's sets do not depend on the others'.
        lexicon: the words.
        vocabulary: the words that are frequent enough in every base.

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
            for filling in _every(words):
                rows += _rows(phenomenon, template, filling, _item(phenomenon, rows))
            continue
        rng = random.Random(f"{seed}/{phenomenon.phenomenon}/{template.name}")
        for filling in fillings(
            phenomenon.place(template),
            words,
            itertools.repeat({}, share),
            functools.partial(_draw, template, words, rng),
            functools.partial(_sentences, template),
            seen=set(),
            tries=_TRIES,
            least=share,
            kind="sets",
        ):
            rows += _rows(phenomenon, template, filling, _item(phenomenon, rows))
    return rows


def _item(phenomenon: Phenomenon, rows: list[dict[str, Any]]) -> str:
    """Return the id of the set that comes after these rows."""
    return f"{phenomenon.phenomenon}-{len(rows) // len(CELLS) + 1:04}"


def _every(words: Mapping[str, Sequence[Word]]) -> Iterator[Filling]:
    """Yield every filling in which no word stands twice, in the order of the words."""
    for each in itertools.product(*words.values()):
        folded = [part for word in each for part in word.folded]
        if len(set(folded)) == len(folded):
            yield dict(zip(words, each, strict=True))


def _rows(
    phenomenon: Phenomenon, template: Template, filling: Filling, item: str
) -> list[dict[str, Any]]:
    rows = []
    for filler, gap in CELLS:
        text, start, end = template.sentence(filling, filler=filler, gap=gap)
        rows.append(
            {
                "item_id": item,
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
    """Fill the slots at random, the least used words first; ``None`` at a dead end.

    No word stands twice in a sentence, in whatever form; no slot asks anything else of another.
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
