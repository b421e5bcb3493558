"""Filling templates: seeded, balanced over function words, without duplicates."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

from poshgrid.benchmark.lexicon import TABLES, Lexicon, Vocabulary, Word
from poshgrid.benchmark.templates import Phenomenon, Slot, Template
from poshgrid.errors import PoshgridError

_FRESH = 40  # draws in search of a set of content words that no pair has yet
_TRIES = 1_000  # draws in search of a pair that is not there yet
_NAMED = 8  # words that an error message names

Row = dict[str, str]
Filling = dict[str, Word]


def generate(
    phenomenon: Phenomenon, pairs: int, seed: int, lexicon: Lexicon, vocabulary: Vocabulary
) -> list[Row]:
    """Return the minimal pairs of one phenomenon, the templates in turn, in equal shares.

    Args:
        phenomenon: the templates.
        pairs: how many pairs to make.
        seed: the same seed gives the same pairs; a template's pairs do not depend on the others'.
        lexicon: the words.
        vocabulary: the words that are frequent enough in every base.

    Returns:
        Rows with the columns of ``ITEMS``.

    Raises:
        PoshgridError: a slot has too few usable words, or the words allow too few pairs.
    """
    rows: list[Row] = []
    seen: set[tuple[str, str]] = set()
    for number, template in enumerate(phenomenon.templates):
        place = f"phenomenon {phenomenon.phenomenon}, template {template.name}"
        share = pairs // len(phenomenon.templates) + (number < pairs % len(phenomenon.templates))
        choices = {
            slot: _choices(place, template, slot, lexicon, vocabulary) for slot in template.slots
        }
        rng = random.Random(f"{seed}/{phenomenon.phenomenon}/{template.name}")
        for filling in _fillings(place, template, choices, share=share, rng=rng, seen=seen):
            rows.append(
                {
                    "item_id": f"{phenomenon.phenomenon}-{len(rows) + 1:04}",
                    "category": phenomenon.category,
                    "phenomenon": phenomenon.phenomenon,
                    "template": f"{phenomenon.phenomenon}-{template.name}",
                    "lexical_set": lexical_set(filling),
                    "contrast": phenomenon.contrast,
                    "good": template.fill(template.good, filling),
                    "bad": template.fill(template.bad, filling),
                }
            )
    return rows


def lexical_set(filling: Filling) -> str:
    """Return the citation forms of the content words, sorted and joined by ``+``."""
    return "+".join(sorted(w.lemma for w in filling.values() if TABLES[w.category].content))


def rare_fixed(
    phenomenon: Phenomenon, lexicon: Lexicon, vocabulary: Vocabulary
) -> dict[str, list[str]]:
    """Return the words that make the construction and are rare -> the bases in which they are.

    These are the templates' literals and the words of slots with ``frequent: false`` (*wanna*,
    *herself*, *whether*). Without them there is no item, so they are reported and not refused.
    """
    words = {word for template in phenomenon.templates for word in template.literals()}
    words |= {
        word.lemma
        for template in phenomenon.templates
        for slot in template.slots.values()
        if not slot.frequent
        for word in lexicon.of(slot.category)
        if slot.takes(word)
    }
    return {word: lacking for word in sorted(words) if (lacking := vocabulary.lacking(word))}


def _choices(
    place: str, template: Template, slot: str, lexicon: Lexicon, vocabulary: Vocabulary
) -> list[Word]:
    """Return the words for a slot whose every needed form is frequent in every base."""
    described = template.slots[slot]
    suitable = [word for word in lexicon.of(described.category) if described.takes(word)]
    chosen, missing = [], []
    for word in suitable:
        lacking = sorted(
            {
                (word.forms[form], base)
                for form in template.forms(slot)
                for base in vocabulary.lacking(word.forms[form])
                if described.frequent
            }
        )
        missing.extend(f"{form} in {base}" for form, base in lacking)
        if not lacking:
            chosen.append(word)
    if len(chosen) < described.least:
        named = ", ".join(missing[:_NAMED]) + (", ..." if len(missing) > _NAMED else "")
        raise PoshgridError(
            f"{place}, slot {slot!r}: {len(chosen)} usable of {len(suitable)} words, "
            f"{described.least} needed; not among the {vocabulary.top_k:,} most frequent: "
            f"{named or 'none'}; raise lexicon.top_k, use larger corpora, or extend "
            "resources/lexicon"
        )
    return chosen


def _fillings(
    place: str,
    template: Template,
    choices: dict[str, list[Word]],
    *,
    share: int,
    rng: random.Random,
    seen: set[tuple[str, str]],
) -> Iterator[Filling]:
    sets: set[str] = set()
    for number, fixed in enumerate(
        itertools.islice(_schedule(place, template, choices, rng), share)
    ):
        for attempt in range(_TRIES):
            filling = _draw(template, choices, fixed, rng)
            if filling is None:
                continue
            pair = template.fill(template.good, filling), template.fill(template.bad, filling)
            words = lexical_set(filling)
            if pair in seen or (words in sets and attempt < _FRESH):
                continue
            seen.add(pair)
            sets.add(words)
            yield filling
            break
        else:
            narrow = min((s for s in choices if s not in fixed), key=lambda s: len(choices[s]))
            raise PoshgridError(
                f"{place}: only {number} different pairs of {share} could be made; "
                f"slot {narrow!r} has {len(choices[narrow])} usable words "
                f"({', '.join(w.lemma for w in choices[narrow][:_NAMED])}); raise lexicon.top_k, "
                "use larger corpora, or ask for fewer pairs"
            )


def _schedule(
    place: str, template: Template, choices: dict[str, list[Word]], rng: random.Random
) -> Iterator[Filling]:
    """Yield the combinations of balanced slots for ever: all once, in a new order, then again."""
    slots = [name for name, slot in template.slots.items() if slot.balanced]
    combinations = [
        filling
        for words in itertools.product(*(choices[slot] for slot in slots))
        if _consistent(template, filling := dict(zip(slots, words, strict=True)))
    ]
    if not combinations:
        raise PoshgridError(
            f"{place}: no combination of the slots {', '.join(slots)} suits; raise lexicon.top_k"
        )
    while True:
        yield from rng.sample(combinations, len(combinations))


def _draw(
    template: Template, choices: dict[str, list[Word]], fixed: Filling, rng: random.Random
) -> Filling | None:
    """Fill the other slots at random, in the order of the file; ``None`` at a dead end."""
    filling = dict(fixed)
    for name in template.slots:
        if name in filling:
            continue
        # Forms, not citation forms: "draw" and "drawing" may not meet either.
        used = {f for w in filling.values() if TABLES[w.category].content for f in w.folded}
        fitting = [
            word
            for word in choices[name]
            if not (used & word.folded) and _consistent(template, {**filling, name: word})
        ]
        if not fitting:
            return None
        filling[name] = rng.choice(fitting)
    return {name: filling[name] for name in template.slots}


def _consistent(template: Template, filling: Filling) -> bool:
    """Say whether the words so far agree and differ as their slots ask."""
    return all(_suits(template.slots[name], name, filling) for name in filling)


def _suits(slot: Slot, name: str, filling: Filling) -> bool:
    word = filling[name]
    for feature, reference in slot.agree.items():
        other, _, other_feature = reference.partition(".")
        if other in filling:
            theirs = filling[other].features[other_feature or feature]
            if not word.features[feature] & theirs:
                return False
    return all(filling[o].lemma != word.lemma for o in slot.unlike if o in filling)
