"""The words for the templates' slots that are frequent in every corpus, and how slots are filled.

Words are used equally often, new sets of words are preferred, and nothing is made twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from poshgrid.benchmark.generation.templatefile import Filling, Pattern, TemplateFile, lexical_set
from poshgrid.benchmark.lexicon import Lexicon, Vocabulary, Word
from poshgrid.core.errors import PoshgridError

NAMED = 8  # words shown in an error message

Choices = Mapping[tuple[str, str], Sequence[Word]]
"""(template, slot) -> the words that may fill it."""


def choices(
    phenomenon: TemplateFile, lexicon: Lexicon, vocabulary: Vocabulary
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


_FRESH = 40  # draws in search of a new set of content words

Uses = Mapping[str, Counter[str]]
"""Slot -> citation form -> how often it has been used."""


def shares(items: int, templates: int) -> list[int]:
    """Return how many items each template makes: as equal as possible, the larger shares first."""
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
    """Yield a filling for each start, as long as the words allow new ones.

    New sets of content words are preferred.

    Args:
        where: name of the template, for messages.
        choices: slot -> its words.
        starts: slots whose words are already chosen -> these words, one start for each filling.
        draw: (start, uses so far, number of the draw) -> a filling; ``None`` if no words fit.
        made: filling -> what must not be made twice.
        seen: what has been made already; updated with each filling.
        tries: draws in search of a filling that makes something new.
        least: number of fillings that is enough if the words allow no more.
        kind: what is made, for messages: pairs or sets.

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
                f"use larger corpora, or request fewer {kind}"
            )


def least_used(words: Sequence[Word], times: Counter[str], slack: int = 0) -> list[Word]:
    """Return the words that are used least, or at most ``slack`` times more than the least used."""
    limit = min(times[word.lemma] for word in words) + slack
    return [word for word in words if times[word.lemma] <= limit]
