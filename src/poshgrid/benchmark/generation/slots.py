"""Slots of templates, and the words that suit them: the lexicon's, or the template's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from poshgrid.benchmark.lexicon import TABLES, Lexicon, Word
from poshgrid.errors import did_you_mean

_REPEATABLE = frozenset({"about", "are", "is", "of", "that", "the", "to", "who"})

Filling = Mapping[str, Word]
"""Slot -> the word that fills it."""


class Part(BaseModel):
    """A piece of a file of templates: no other keys, never changed."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class LexiconSlot(Part):
    """A slot of words of the lexicon.

    A value ``m|f`` is satisfied by either; all listed values must hold.
    """

    category: Literal[
        "noun", "name", "verb", "adjective", "determiner", "auxiliary", "function"
    ]  # table of the lexicon
    where: dict[str, list[str]] = {}  # feature -> values that the word must have
    without: dict[str, list[str]] = {}  # feature -> values that the word must not have
    distinct: list[str] = []  # forms of the word that must be spelt differently
    frequent: bool = True  # false: the word makes the construction, and may be rare in a base
    least: int = Field(2, ge=1)  # fewer usable words than this are an error

    @model_validator(mode="after")
    def _known(self) -> Self:
        table = TABLES[self.category]
        named = [(f, v) for group in (self.without, self.where) for f, v in group.items()]
        wanted = [(f, one) for f, values in named for value in values for one in value.split("|")]
        for feature, value in wanted:
            known = table.features.get(feature, frozenset())
            if value not in known:
                near = did_you_mean(value, known) or did_you_mean(feature, table.features)
                raise ValueError(f"unknown {feature} {value!r} of a {self.category}{near}")
        for form in set(self.distinct) - set(table.forms):
            near = did_you_mean(form, table.forms)
            raise ValueError(f"unknown form {form!r} of a {self.category}{near}")
        return self

    @property
    def forms(self) -> tuple[str, ...]:
        """Names of the forms of its words; the first is the citation form, that of ``{slot}``."""
        return TABLES[self.category].forms

    def takes(self, word: Word) -> bool:
        """Say whether a word suits the slot, whatever the other slots hold."""
        forms = [word.forms[name] for name in self.distinct]
        return (
            word.category == self.category
            and all(
                word.features[feature] & set(value.split("|"))
                for feature, values in self.where.items()
                for value in values
            )
            and not any(word.features[f] & set(values) for f, values in self.without.items())
            and len(set(forms)) == len(forms)
        )

    def suitable(self, lexicon: Lexicon) -> list[Word]:
        """Return the words that suit, whatever the corpora hold, in the order of the lexicon."""
        return [word for word in lexicon.of(self.category) if self.takes(word)]


@dataclass(frozen=True)
class Phrase(Word):
    """A word, or a few, that a template brings; no entry of the lexicon."""

    content: bool = False  # counts for the lexical set

    @classmethod
    def of(cls, text: str, *, content: bool) -> Self:
        """Return a phrase: its citation form and its only form are the text."""
        return cls("phrase", text, {"": text}, {}, content)

    @cached_property
    def folded(self) -> frozenset[str]:
        """Its words that may not occur twice in a sentence, case-folded."""
        return frozenset(self.lemma.casefold().split()) - _REPEATABLE


class Phrases(Part):
    """A slot of words that the template brings; they make the construction and may be rare."""

    forms: ClassVar[tuple[str, ...]] = ("",)
    frequent: ClassVar[bool] = False
    least: ClassVar[int] = 1

    words: list[Annotated[str, StringConstraints(pattern=r"^[A-Za-z]+(?: [A-Za-z]+)*$")]] = Field(
        min_length=1
    )
    content: bool = False  # counts for the lexical set

    def suitable(self, lexicon: Lexicon) -> list[Word]:
        """Return the words, whatever the lexicon holds."""
        return [Phrase.of(text, content=self.content) for text in self.words]


def is_content(word: Word) -> bool:
    """Say whether a word is a content word."""
    return word.content if isinstance(word, Phrase) else TABLES[word.category].content


def lexical_set(filling: Filling) -> str:
    """Return the citation forms of the content words, sorted and joined by ``+``.

    A phrase counts under its first word.
    """
    return "+".join(sorted(w.lemma.split()[0] for w in filling.values() if is_content(w)))
