"""What the words of the lexicon may be, for the grammar that judges members."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from poshgrid.benchmark.checks.words import negated
from poshgrid.benchmark.lexicon import Lexicon

WH_ADJUNCTS = frozenset({"when", "how", "why", "where"})
WH_ARGUMENTS = frozenset({"who", "what"})
REFLEXIVES = {"himself": "m", "herself": "f", "themselves": ""}
"""Reflexive -> the gender of its binder; "" is a plural's, of any gender."""
PRONOUNS = {  # subject pronouns: number for agreement, genders
    "he": ("singular", "m"),
    "she": ("singular", "f"),
    "it": ("singular", ""),
    "they": ("plural", ""),
    "we": ("plural", ""),
    "you": ("plural", ""),
    "i": ("plural", ""),
}
ANIMATE = frozenset({"person", "animal"})


class Reading(NamedTuple):
    """What a form may be."""

    category: str  # as in the lexicon
    form: str  # name of the form: singular, past ...
    lemma: str
    features: Mapping[str, frozenset[str]]


Readings = Mapping[str, Sequence[Reading]]


def readings(lexicon: Lexicon) -> dict[str, list[Reading]]:
    """Return case-folded form -> what it may be."""
    found: dict[str, list[Reading]] = defaultdict(list)
    for word in lexicon.words:
        for name, form in word.forms.items():
            reading = Reading(word.category, name, word.lemma, word.features)
            found[form.casefold()].append(reading)
            if word.category == "auxiliary":
                found[negated(form.casefold())].append(reading)
    return dict(found)


def genders(reading: Reading) -> frozenset[str]:
    """Return the genders of the reflexives that a noun or name may bind; *doctor* binds both."""
    if reading.category == "noun" and not reading.features["kinds"] & ANIMATE:
        return frozenset()
    marked = reading.features["gender"]
    return frozenset("mf") if "n" in marked else marked
