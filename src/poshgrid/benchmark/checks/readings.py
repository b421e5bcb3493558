"""Words of a sentence: whether they are known and frequent, and their readings in the grammar."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from poshgrid.benchmark.lexicon import Lexicon, Vocabulary

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_IRREGULAR = {"can't": "can", "won't": "will", "shan't": "shall"}


def split(sentence: str) -> list[str]:
    """Return the lower-cased words; *'s* and *n't* belong to the word before them."""
    return [word.replace("’", "'") for word in _WORD.findall(sentence.lower())]


def bare(word: str) -> str:
    """Return a word without possessive *'s* or negative *n't*: *can't* becomes *can*."""
    return _IRREGULAR.get(word, word.removesuffix("'s").removesuffix("n't"))


def negated(auxiliary: str) -> str:
    """Return an auxiliary with *n't*: the inverse of :func:`bare`."""
    irregular = {plain: form for form, plain in _IRREGULAR.items()}
    return irregular.get(auxiliary, f"{auxiliary}n't")


def outside(words: Sequence[str], lexicon: Lexicon, vocabulary: Vocabulary | None) -> list[str]:
    """Return a reason for each word that a generated pair must not have.

    Function words make the constructions, so they may be rare; content words may not.

    Args:
        words: lower-cased words.
        lexicon: the words that a pair may use.
        vocabulary: the words that are frequent in every corpus; None: frequency is not checked.
    """
    reasons = []
    for word in dict.fromkeys(map(bare, words)):
        if word in lexicon.function_forms:
            continue
        if word not in lexicon.content_lemmas:
            reasons.append(f"{word!r} is not in the lexicon")
        elif vocabulary and (lacking := vocabulary.lacking(word)):
            reasons.append(f"{word!r} is rare in {', '.join(lacking)}")
    return reasons


WH_ADJUNCTS = frozenset({"when", "how", "why", "where"})
WH_ARGUMENTS = frozenset({"who", "what"})
REFLEXIVES = {"himself": "m", "herself": "f", "themselves": ""}
"""Reflexive -> the gender of its binder; "" for plurals, which have any gender."""
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
    """One way to read a form."""

    category: str  # as in the lexicon
    form: str  # name of the form: singular, past ...
    lemma: str
    features: Mapping[str, frozenset[str]]


class Readings(dict[str, list[Reading]]):
    """Case-folded form -> its readings."""

    @cached_property
    def things(self) -> frozenset[str]:
        """All kinds of nouns in the lexicon except persons."""
        kinds = (r.features.get("kinds", ()) for readings in self.values() for r in readings)
        return frozenset(kind for names in kinds for kind in names) - {"person"}


def readings(lexicon: Lexicon) -> Readings:
    """Return the readings of each form in a lexicon."""
    by_form: dict[str, list[Reading]] = defaultdict(list)
    for word in lexicon.words:
        for name, form in word.forms.items():
            reading = Reading(word.category, name, word.lemma, word.features)
            by_form[form.casefold()].append(reading)
            if word.category == "auxiliary":
                by_form[negated(form.casefold())].append(reading)
    return Readings(by_form)


def genders(reading: Reading) -> frozenset[str]:
    """Return the genders of the reflexives that a noun or name may bind; *doctor* binds both."""
    if reading.category == "noun" and not reading.features["kinds"] & ANIMATE:
        return frozenset()
    marked = reading.features["gender"]
    return frozenset("mf") if "n" in marked else marked
