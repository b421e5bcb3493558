"""The words for the templates' slots that are frequent in every corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from poshgrid.benchmark.generation.templatefile import Phenomenon, Template
from poshgrid.benchmark.lexicon import Lexicon, Vocabulary, Word
from poshgrid.core.errors import PoshgridError

NAMED = 8  # words shown in an error message

Choices = Mapping[tuple[str, str], Sequence[Word]]
"""(template, slot) -> the words that may fill it."""


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


def shares(items: int, templates: int) -> list[int]:
    """Return how many items each template makes: as equal as possible, the larger shares first."""
    return [items // templates + (number < items % templates) for number in range(templates)]
