"""The words of templates' slots that every corpus knows well.

Slots are filled with them again and again: words evenly, new sets of words first, nothing twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from poshgrid.benchmark.generation.templatefile import Filling, Pattern, TemplateFile, lexical_set
from poshgrid.benchmark.lexicon import Lexicon, Vocabulary, Word
from poshgrid.errors import PoshgridError

NAMED = 8  # words that an error message names

Choices = Mapping[tuple[str, str], Sequence[Word]]
"""(template, slot) -> the words that may fill it."""


def choices(
    phenomenon: TemplateFile, lexicon: Lexicon, vocabulary: Vocabulary
) -> dict[tuple[str, str], list[Word]]:
    """Return (template, slot) -> the words that suit it and are frequent in every corpus.

    Args:
        phenomenon: the templates.
        lexicon: the words.
        vocabulary: which of them are frequent; every form that a template needs must be, unless
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
    where: str, template: Pattern, slot: str, lexicon: Lexicon, vocabulary: Vocabulary
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


_FRESH = 40  # draws in search of content words that are not there together yet

Uses = Mapping[str, Counter[str]]
"""Slot -> citation form -> how often it has been used."""


def shares(items: int, templates: int) -> list[int]:
    """Return how many items each template makes: as equal as can be, the larger shares first."""
    return [items // templates + (number < items % templates) for number in range(templates)]


def fillings(
    where: str,
    choices: Mapping[str, Sequence[Word]],
    starts: Iterable[Filling],
    draw: Callable[[Filling, Uses, int], Filling | None],
    made: Callable[[Filling], Iterable[object]],
    *,
    seen: set[object],
    tries: int,
    least: int,
    kind: str,
) -> Iterator[Filling]:
    """Yield a filling for each start, as far as the words allow new ones.

    A new set of content words is preferred to one that is there.

    Args:
        where: what an error message calls the template.
        choices: slot -> its words.
        starts: slots whose words are settled -> their words, one for each filling.
        draw: (start, uses so far, number of the draw) -> a filling; ``None`` where no words fit.
        made: filling -> what may be made once only.
        seen: what is made already; what the fillings make is added to it.
        tries: draws in search of a filling that makes something new.
        least: be content with so many where the words allow no more.
        kind: what the message calls what is made.

    Raises:
        PoshgridError: the words allow fewer than ``least``.
    """
    sets: set[str] = set()
    used: Uses = {slot: Counter() for slot in choices}
    for number, start in enumerate(starts):
        for attempt in range(tries):
            filling = draw(start, used, attempt)
            if filling is None:
                continue
            new, words = set(made(filling)), lexical_set(filling)
            if not new.isdisjoint(seen) or (words in sets and attempt < _FRESH):
                continue
            seen |= new
            sets.add(words)
            for slot, word in filling.items():
                used[slot][word.lemma] += 1
            yield filling
            break
        else:
            if number >= least:
                return
            narrow = min((s for s in choices if s not in start), key=lambda s: len(choices[s]))
            raise PoshgridError(
                f"{where}: only {number} different {kind} of {least} could be made; "
                f"slot {narrow!r} has {len(choices[narrow])} usable words "
                f"({', '.join(word.lemma for word in choices[narrow][:NAMED])}); "
                f"use larger corpora, or ask for fewer {kind}"
            )


def least_used(words: Sequence[Word], times: Counter[str], slack: int = 0) -> list[Word]:
    """Return the words that are used least, or at most ``slack`` times more than those."""
    limit = min(times[word.lemma] for word in words) + slack
    return [word for word in words if times[word.lemma] <= limit]
