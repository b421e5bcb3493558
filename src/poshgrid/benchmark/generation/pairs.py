"""Fill templates with words that are frequent in every corpus: seeded, evenly, without duplicates.

Source: POSH-BENCH, section 3.2 and Table 13.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from poshgrid.benchmark.generation.templates import (
    Filling,
    Pair,
    Phenomenon,
    Slot,
    Template,
    is_content,
    lexical_set,
)
from poshgrid.benchmark.lexicon import Lexicon, Vocabulary, Word
from poshgrid.core.errors import PoshgridError

NAMED = 8  # words shown in an error message
_TRIES = 400  # draws in search of a new pair
_FRESH = 40  # draws in search of a new set of content words
_EVEN = 10  # after each so many draws, a word may be used once more than the least used ones

Choices = Mapping[tuple[str, str], Sequence[Word]]
"""(template, slot) -> the words that may fill it."""
Row = dict[str, str | bool]
Uses = Mapping[str, Counter[str]]
"""Slot -> citation form -> how often it has been used."""


class Filled(NamedTuple):
    """A filled template, before it is chosen and its pairs are numbered."""

    template: str
    lexical_set: str
    combination: str  # the words of the balanced slots, joined by "+"
    pairs: tuple[Pair, ...]

    @property
    def members(self) -> tuple[str, ...]:
        """The good and bad sentences of all pairs."""
        return tuple(text for pair in self.pairs for text in (pair.good, pair.bad))

    @property
    def words(self) -> list[str]:
        """The content words."""
        return self.lexical_set.split("+")


# ---- words -----------------------------------------------------------------------------------


def choices(
    phenomenon: Phenomenon, lexicon: Lexicon, vocabulary: Vocabulary
) -> dict[tuple[str, str], list[Word]]:
    """Return (template, slot) -> the words that fit it and are frequent in every corpus.

    Args:
        phenomenon: the templates.
        lexicon: the words.
        vocabulary: the frequent words; every form that a template needs must be frequent, unless
            the slot has ``frequent: false``.

    Raises:
        PoshgridError: a slot has fewer words than it needs.
    """
    return {
        (template.name, slot): _usable(
            f"{phenomenon.where(template)}, slot {slot!r}", template, slot, lexicon, vocabulary
        )
        for template in phenomenon.templates
        for slot in template.slots
    }


def _usable(
    where: str, template: Template, slot: str, lexicon: Lexicon, vocabulary: Vocabulary
) -> list[Word]:
    described = template.slots[slot]
    least = 1 if described.words else described.least
    suitable = described.suitable(lexicon)
    chosen: list[Word] = []
    missing: list[str] = []
    for word in suitable:
        lacking = sorted(
            {
                (word.forms[form], corpus)
                for form in template.forms(slot)
                for corpus in vocabulary.lacking(word.forms[form])
                if described.frequent and not described.words
            }
        )
        missing.extend(f"{form} in {corpus}" for form, corpus in lacking)
        if not lacking:
            chosen.append(word)
    if len(chosen) < least:
        named = ", ".join(missing[:NAMED]) + (", ..." if len(missing) > NAMED else "")
        raise PoshgridError(
            f"{where}: {len(chosen)} usable of {len(suitable)} words, "
            f"{least} needed; not among the {vocabulary.top_k:,} most frequent: "
            f"{named or 'none'}; use larger corpora, or extend "
            "resources/lexicon"
        )
    return chosen


# ---- fillings --------------------------------------------------------------------------------


def shares(items: int, templates: int) -> list[int]:
    """Return how many items each template makes: as equal as possible, the larger shares first."""
    return [items // templates + (number < items % templates) for number in range(templates)]


def rows(phenomenon: Phenomenon, filled: Sequence[Filled]) -> list[Row]:
    """Return the pairs of filled templates as rows of ``PAIRS``, numbered from 1."""
    pairs = [(filling, pair) for filling in filled for pair in filling.pairs]
    return [
        {
            "item_id": f"{phenomenon.phenomenon}-{number:04}",
            "category": phenomenon.category,
            "phenomenon": phenomenon.phenomenon,
            "template": f"{phenomenon.phenomenon}-{filling.template}",
            "lexical_set": filling.lexical_set,
            "cell": pair.cell,
            "joint": phenomenon.joint,
            "contrast": phenomenon.contrast,
            "good": pair.good,
            "bad": pair.bad,
        }
        for number, (filling, pair) in enumerate(pairs, start=1)
    ]


def candidates(
    phenomenon: Phenomenon,
    number: int,
    seed: int,
    choices: Choices,
    *,
    least: int | None = None,
) -> list[Filled]:
    """Return filled templates: every template in turn, in equal shares, each filled differently.

    The combinations of a template's balanced slots are used in rounds, each combination once per
    round. The other slots take one of the least used words that fit; ties are drawn at random. New
    sets of content words are preferred; in a factorial design, every set must be new.

    Args:
        phenomenon: the templates, of one pair or of a design's pairs.
        number: how many to make.
        seed: the same seed gives the same candidates.
        choices: the words of each slot.
        least: number of candidates that is enough if the words allow no more; default: ``number``.

    Raises:
        PoshgridError: the words allow fewer than ``least``.
    """
    made: list[Filled] = []
    seen: set[object] = set()
    number_of = len(phenomenon.templates)
    enough = number if least is None else min(least, number)
    for template, share, at_least in zip(
        phenomenon.templates, shares(number, number_of), shares(enough, number_of), strict=True
    ):
        words = {slot: choices[template.name, slot] for slot in template.slots}
        rng = random.Random(f"{seed}/{phenomenon.phenomenon}/{template.name}")
        filled = _fillings(phenomenon.where(template), template, words, rng, share, at_least, seen)
        made.extend(_filled(template, filling) for filling in filled)
    return made


def _fillings(
    where: str,
    template: Template,
    choices: Mapping[str, Sequence[Word]],
    rng: random.Random,
    number: int,
    least: int,
    seen: set[object],
) -> Iterator[Filling]:
    """Yield fillings of a template, as long as its words allow new ones.

    Args:
        where: name of the template, for messages.
        template: the slots.
        choices: slot -> its words.
        rng: draws the words.
        number: of fillings.
        least: number of fillings that is enough if the words allow no more.
        seen: what has been made already; updated with each filling.

    Raises:
        PoshgridError: the words allow fewer than ``least``.
    """
    sets: set[str] = set()
    used: Uses = {slot: Counter() for slot in choices}
    starts = itertools.islice(_schedule(where, template, choices, rng), number)
    for done, start in enumerate(starts):
        for attempt in range(_TRIES):
            filling = _draw(template, choices, rng, start, used, attempt)
            if filling is None:
                continue
            new, words = set(_once(template, filling)), lexical_set(filling)
            if not new.isdisjoint(seen) or (words in sets and attempt < _FRESH):
                continue
            seen |= new
            sets.add(words)
            for slot, word in filling.items():
                used[slot][word.lemma] += 1
            yield filling
            break
        else:
            if done >= least:
                return
            kind = "sets" if template.cells else "pairs"
            narrow = min((s for s in choices if s not in start), key=lambda s: len(choices[s]))
            raise PoshgridError(
                f"{where}: only {done} different {kind} of {least} could be made; "
                f"slot {narrow!r} has {len(choices[narrow])} usable words "
                f"({', '.join(word.lemma for word in choices[narrow][:NAMED])}); "
                f"use larger corpora, or request fewer {kind}"
            )


def _once(template: Template, filling: Filling) -> list[object]:
    """Return what must not be made twice: each pair, and each set of words of a design.

    The pairs of a set are identified by its words, so each set of a template has different words.
    """
    pairs = template.pairs(filling)
    members: list[object] = [(pair.good, pair.bad) for pair in pairs]
    return members if len(pairs) == 1 else [*members, (template.name, lexical_set(filling))]


def _filled(template: Template, filling: Filling) -> Filled:
    balanced = (word.lemma for slot, word in filling.items() if template.slots[slot].balanced)
    return Filled(template.name, lexical_set(filling), "+".join(balanced), template.pairs(filling))


def _schedule(
    where: str, template: Template, choices: Mapping[str, Sequence[Word]], rng: random.Random
) -> Iterator[Filling]:
    """Yield the combinations of balanced slots without end: all in a random order, then again."""
    slots = [name for name, slot in template.slots.items() if slot.balanced]
    combinations = [
        filling
        for words in itertools.product(*(choices[slot] for slot in slots))
        if _consistent(template, filling := dict(zip(slots, words, strict=True)))
    ]
    if not combinations:
        raise PoshgridError(
            f"{where}: no combination of the slots {', '.join(slots)} is possible; extend "
            "resources/lexicon"
        )
    while True:
        yield from rng.sample(combinations, len(combinations))


def _draw(
    template: Template,
    choices: Mapping[str, Sequence[Word]],
    rng: random.Random,
    fixed: Filling,
    used: Uses,
    attempt: int,
) -> Filling | None:
    """Fill the other slots with the least used words that fit, in the order of the file.

    Args:
        template: the slots.
        choices: their words.
        rng: draws among the least used.
        fixed: the balanced slots' words.
        used: how often each word has been used.
        attempt: number of failed draws; the more, the more uses a word may have.

    Returns:
        Slot -> word; ``None`` if no words fit together.
    """
    names = [name for name in template.slots if name not in fixed]

    def fill(depth: int, filling: dict[str, Word], there: set[str]) -> Filling | None:
        if depth == len(names):
            return {name: filling[name] for name in template.slots}
        name = names[depth]
        # Forms, not citation forms: "draw" and "drawing" must not occur together either.
        others = {slot: word for slot, word in filling.items() if _related(template, name, slot)}
        fitting = [
            word
            for word in choices[name]
            if there.isdisjoint(word.folded) and _agrees(template, name, word, others)
        ]
        for word in _in_turn(fitting, used[name], attempt // _EVEN, rng):
            content = word.folded if is_content(word) else frozenset[str]()
            whole = fill(depth + 1, {**filling, name: word}, there | content)
            if whole:
                return whole
        return None

    content = (word.folded for word in fixed.values() if is_content(word))
    return fill(0, dict(fixed), set().union(*content))


def _in_turn(
    words: list[Word], times: Counter[str], slack: int, rng: random.Random
) -> Iterator[Word]:
    """Yield one of the least used words, then the other words, least used first."""
    if not words:
        return
    limit = min(times[word.lemma] for word in words) + slack
    least = [word for word in words if times[word.lemma] <= limit]
    first = rng.choice(least)
    yield first
    others = [word for word in words if word is not first]
    rng.shuffle(others)
    # The least used words count as equal and stay in random order.
    limit = max(times[word.lemma] for word in least)
    yield from sorted(others, key=lambda word: max(times[word.lemma], limit))


def _related(template: Template, one: str, other: str) -> bool:
    """Return whether one of two slots restricts the words of the other."""
    return any(
        b in template.slots[a].unlike
        or any(reference.partition(".")[0] == b for reference in template.slots[a].agree.values())
        for a, b in ((one, other), (other, one))
    )


def _agrees(template: Template, name: str, word: Word, filling: Filling) -> bool:
    """Return whether a word fits the words already chosen, by the rules of both slots."""
    return _suits(template.slots[name], word, filling) and all(
        _suits(template.slots[other], there, {name: word}) for other, there in filling.items()
    )


def _consistent(template: Template, filling: Filling) -> bool:
    """Return whether all words agree and differ as their slots require."""
    return all(_suits(template.slots[name], word, filling) for name, word in filling.items())


def _suits(slot: Slot, word: Word, filling: Filling) -> bool:
    for feature, reference in slot.agree.items():
        other, _, other_feature = reference.partition(".")
        if other in filling:
            theirs = filling[other].features[other_feature or feature]
            if word.features[feature].isdisjoint(theirs):
                return False
    return all(filling[o].lemma != word.lemma for o in slot.unlike if o in filling)
