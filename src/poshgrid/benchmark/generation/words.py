"""The words of templates' slots that every base knows well, and the rare ones that stay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from poshgrid.benchmark.generation.pattern import Pattern
from poshgrid.benchmark.generation.slots import LexiconSlot, Phrases
from poshgrid.benchmark.generation.templatefile import TemplateFile
from poshgrid.benchmark.lexicon import Lexicon, Vocabulary, Word
from poshgrid.errors import PoshgridError

NAMED = 8  # words that an error message names

Choices = Mapping[tuple[str, str], Sequence[Word]]
"""(template, slot) -> the words that may fill it."""


def choices(
    phenomenon: TemplateFile[Any], lexicon: Lexicon, vocabulary: Vocabulary
) -> dict[tuple[str, str], list[Word]]:
    """Return (template, slot) -> the words that suit it and are frequent in every base.

    Args:
        phenomenon: the templates.
        lexicon: the words.
        vocabulary: which of them are frequent; every form that a template needs must be, unless
            the slot has ``frequent: false``.

    Raises:
        PoshgridError: a slot has fewer words than it needs, or names one that there is not.
    """
    return {
        (template.name, slot): _usable(
            f"{phenomenon.place(template)}, slot {slot!r}", template, slot, lexicon, vocabulary
        )
        for template in phenomenon.templates
        for slot in template.slots
    }


def rare(
    phenomenon: TemplateFile[Any], lexicon: Lexicon, vocabulary: Vocabulary
) -> dict[str, list[str]]:
    """Return the words that make the construction and are rare -> the bases in which they are.

    These are the templates' literals and the words of slots with ``frequent: false`` (*wanna*,
    *herself*, *whether*), in the forms in which they occur, lower-cased. Without them there is no
    item, so they are reported and not refused.

    Raises:
        PoshgridError: a slot names a word that there is not.
    """
    found: set[str] = set()
    for template in phenomenon.templates:
        found |= template.literals()
        for slot, described in template.slots.items():
            if not described.frequent:
                place = f"{phenomenon.place(template)}, slot {slot!r}"
                found |= {
                    part
                    for word in _suitable(place, described, lexicon)
                    for form in template.forms(slot)
                    for part in word.forms[form].lower().split()
                }
    return {word: lacking for word in sorted(found) if (lacking := vocabulary.lacking(word))}


def _suitable(place: str, described: LexiconSlot | Phrases, lexicon: Lexicon) -> list[Word]:
    try:
        return described.suitable(lexicon)
    except ValueError as error:
        raise PoshgridError(
            f"{place}: {error}; mend the template or add the word to resources/lexicon"
        ) from error


def _usable(
    place: str, template: Pattern[Any], slot: str, lexicon: Lexicon, vocabulary: Vocabulary
) -> list[Word]:
    described = template.slots[slot]
    suitable = _suitable(place, described, lexicon)
    chosen: list[Word] = []
    missing: list[str] = []
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
        named = ", ".join(missing[:NAMED]) + (", ..." if len(missing) > NAMED else "")
        raise PoshgridError(
            f"{place}: {len(chosen)} usable of {len(suitable)} words, "
            f"{described.least} needed; not among the {vocabulary.top_k:,} most frequent: "
            f"{named or 'none'}; raise lexicon.top_k, use larger corpora, or extend "
            "resources/lexicon"
        )
    return chosen
