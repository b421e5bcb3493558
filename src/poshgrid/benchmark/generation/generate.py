"""Filling templates: seeded, every word of a slot as often as the others, without duplicates.

Source: POSH-BENCH, section 3.2 and Table 13.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from poshgrid.benchmark.generation.templates import Phenomenon, Slot, Template
from poshgrid.benchmark.lexicon import TABLES, Lexicon, Vocabulary, Word
from poshgrid.errors import PoshgridError

_FRESH = 40  # draws in search of a set of content words that no pair has yet
_TRIES = 400  # draws in search of a pair that is not there yet
_EVEN = 10  # draws after which a word may be used once more than the least used ones, and so on
_NAMED = 8  # words that an error message names

Row = dict[str, str]
Filling = dict[str, Word]
Choices = Mapping[tuple[str, str], Sequence[Word]]
"""(template, slot) -> the words that may fill it."""


class Filled(NamedTuple):
    """A pair before it is chosen and numbered."""

    template: str
    lexical_set: str
    cell: str  # the words of the balanced slots, joined by "+"
    good: str
    bad: str


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
        choices: the words of each slot; none: :func:`slot_choices`.

    Returns:
        Rows with the columns of ``PAIRS``.

    Raises:
        PoshgridError: a slot has too few usable words, or the words allow too few pairs.
    """
    if choices is None:
        choices = slot_choices(phenomenon, lexicon, vocabulary)
    return rows(phenomenon, candidates(phenomenon, pairs, seed, choices))


def rows(phenomenon: Phenomenon, filled: Sequence[Filled]) -> list[Row]:
    """Return pairs as rows of ``PAIRS``, numbered in their order from 1."""
    return [
        {
            "item_id": f"{phenomenon.phenomenon}-{number:04}",
            "category": phenomenon.category,
            "phenomenon": phenomenon.phenomenon,
            "template": f"{phenomenon.phenomenon}-{pair.template}",
            "lexical_set": pair.lexical_set,
            "contrast": phenomenon.contrast,
            "good": pair.good,
            "bad": pair.bad,
        }
        for number, pair in enumerate(filled, start=1)
    ]


def candidates(
    phenomenon: Phenomenon, pairs: int, seed: int, choices: Choices, *, least: int | None = None
) -> list[Filled]:
    """Return different pairs, the templates in turn, in equal shares.

    The combinations of a template's balanced slots follow each other in rounds, each once a round.
    The other slots take one of the words used least so far that fit; ties are drawn. A new set of
    content words is preferred to one that is there.

    Args:
        phenomenon: the templates.
        pairs: how many pairs to make.
        seed: the same seed gives the same pairs.
        choices: the words of each slot, see :func:`slot_choices`.
        least: be content with so many where the words allow no more; none: ``pairs``.

    Raises:
        PoshgridError: the words allow fewer than ``least`` pairs.
    """
    made: list[Filled] = []
    seen: set[tuple[str, str]] = set()
    number_of = len(phenomenon.templates)
    for number, template in enumerate(phenomenon.templates):
        share, enough = (
            n // number_of + (number < n % number_of)
            for n in (pairs, pairs if least is None else min(least, pairs))
        )
        words = {slot: choices[template.name, slot] for slot in template.slots}
        found = _fillings(
            f"phenomenon {phenomenon.phenomenon}, template {template.name}",
            template,
            words,
            share=share,
            least=enough,
            rng=random.Random(f"{seed}/{phenomenon.phenomenon}/{template.name}"),
            seen=seen,
        )
        made.extend(_filled(template, filling) for filling in found)
    return made


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


def slot_choices(
    phenomenon: Phenomenon, lexicon: Lexicon, vocabulary: Vocabulary
) -> dict[tuple[str, str], list[Word]]:
    """Return (template, slot) -> the words that suit it and are frequent in every base.

    Args:
        phenomenon: the templates.
        lexicon: the words.
        vocabulary: which of them are frequent; every form that a template needs must be.

    Raises:
        PoshgridError: a slot has fewer words than it needs.
    """
    return {
        (template.name, slot): _usable(
            f"phenomenon {phenomenon.phenomenon}, template {template.name}",
            template,
            slot,
            lexicon,
            vocabulary,
        )
        for template in phenomenon.templates
        for slot in template.slots
    }


def _usable(
    place: str, template: Template, slot: str, lexicon: Lexicon, vocabulary: Vocabulary
) -> list[Word]:
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


def _filled(template: Template, filling: Filling) -> Filled:
    return Filled(
        template.name,
        lexical_set(filling),
        "+".join(word.lemma for slot, word in filling.items() if template.slots[slot].balanced),
        template.fill(template.good, filling),
        template.fill(template.bad, filling),
    )


def _fillings(
    place: str,
    template: Template,
    choices: Mapping[str, Sequence[Word]],
    *,
    share: int,
    least: int,
    rng: random.Random,
    seen: set[tuple[str, str]],
) -> Iterator[Filling]:
    """Yield up to ``share`` fillings whose pairs are not in ``seen``, and add them to it."""
    sets: set[str] = set()
    used: dict[str, Counter[str]] = {slot: Counter() for slot in choices}
    for number, fixed in enumerate(
        itertools.islice(_schedule(place, template, choices, rng), share)
    ):
        for attempt in range(_TRIES):
            filling = _draw(template, choices, fixed, used, attempt // _EVEN, rng)
            if filling is None:
                continue
            pair = template.fill(template.good, filling), template.fill(template.bad, filling)
            words = lexical_set(filling)
            if pair in seen or (words in sets and attempt < _FRESH):
                continue
            seen.add(pair)
            sets.add(words)
            for slot, word in filling.items():
                used[slot][word.lemma] += 1
            yield filling
            break
        else:
            if number >= least:
                return
            narrow = min((s for s in choices if s not in fixed), key=lambda s: len(choices[s]))
            raise PoshgridError(
                f"{place}: only {number} different pairs of {least} could be made; "
                f"slot {narrow!r} has {len(choices[narrow])} usable words "
                f"({', '.join(w.lemma for w in choices[narrow][:_NAMED])}); raise lexicon.top_k, "
                "use larger corpora, or ask for fewer pairs"
            )


def _schedule(
    place: str, template: Template, choices: Mapping[str, Sequence[Word]], rng: random.Random
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
    template: Template,
    choices: Mapping[str, Sequence[Word]],
    fixed: Filling,
    used: Mapping[str, Counter[str]],
    slack: int,
    rng: random.Random,
) -> Filling | None:
    """Fill the other slots with the least used words that fit, in the order of the file.

    Args:
        template: the slots.
        choices: their words.
        fixed: the balanced slots' words.
        used: slot -> word -> how often it has been used.
        slack: how many more uses than the least used word one that is drawn may have.
        rng: draws among them.

    Returns:
        Slot -> word; ``None`` where no words fit together.
    """
    names = [name for name in template.slots if name not in fixed]

    def fill(depth: int, filling: Filling, there: set[str]) -> Filling | None:
        if depth == len(names):
            return {name: filling[name] for name in template.slots}
        name = names[depth]
        # Forms, not citation forms: "draw" and "drawing" may not meet either.
        others = {slot: word for slot, word in filling.items() if _related(template, name, slot)}
        fitting = [
            word
            for word in choices[name]
            if there.isdisjoint(word.folded) and _agrees(template, name, word, others)
        ]
        for word in _least_used(fitting, used[name], slack, rng):
            content = word.folded if TABLES[word.category].content else frozenset[str]()
            found = fill(depth + 1, {**filling, name: word}, there | content)
            if found:
                return found
        return None

    return fill(0, dict(fixed), _content_forms(fixed.values()))


def _least_used(
    words: list[Word], times: Counter[str], slack: int, rng: random.Random
) -> Iterator[Word]:
    """Yield one of the least used words, and for those who come again the others in turn."""
    if not words:
        return
    limit = min(times[word.lemma] for word in words) + slack
    first = rng.choice([word for word in words if times[word.lemma] <= limit])
    yield first
    others = [word for word in words if word is not first]
    rng.shuffle(others)
    yield from sorted(others, key=lambda word: max(times[word.lemma], limit))


def _content_forms(words: Iterable[Word]) -> set[str]:
    return {form for word in words if TABLES[word.category].content for form in word.folded}


def _related(template: Template, one: str, other: str) -> bool:
    """Say whether one of two slots asks something of the other."""
    return any(
        b in template.slots[a].unlike
        or any(reference.partition(".")[0] == b for reference in template.slots[a].agree.values())
        for a, b in ((one, other), (other, one))
    )


def _agrees(template: Template, name: str, word: Word, filling: Filling) -> bool:
    """Say whether a word suits those that are there, as their slots and its own ask."""
    return _suits(template.slots[name], word, filling) and all(
        _suits(template.slots[other], there, {name: word}) for other, there in filling.items()
    )


def _consistent(template: Template, filling: Filling) -> bool:
    """Say whether the words agree and differ as their slots ask."""
    return all(_suits(template.slots[name], word, filling) for name, word in filling.items())


def _suits(slot: Slot, word: Word, filling: Filling) -> bool:
    for feature, reference in slot.agree.items():
        other, _, other_feature = reference.partition(".")
        if other in filling:
            theirs = filling[other].features[other_feature or feature]
            if word.features[feature].isdisjoint(theirs):
                return False
    return all(filling[o].lemma != word.lemma for o in slot.unlike if o in filling)
