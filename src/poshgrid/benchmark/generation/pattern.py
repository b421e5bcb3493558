"""Texts with slots: ``{slot}`` is a word's citation form, ``{slot:form}`` another of its forms."""

from __future__ import annotations

import re
from typing import Generic, Self, TypeVar

from pydantic import model_validator

from poshgrid.benchmark.generation.slots import Filling, LexiconSlot, Part, Phrases

_SLOT = re.compile(r"\{(\w+)(?::(\w+))?\}")

AnySlot = TypeVar("AnySlot", bound=LexiconSlot | Phrases)


class Pattern(Part, Generic[AnySlot]):
    """A template: one or more texts, and the slots that they share."""

    name: str
    slots: dict[str, AnySlot]

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts, as they are written."""
        raise NotImplementedError

    @model_validator(mode="after")
    def _described(self) -> Self:
        used = {slot for text in self.texts for slot, _ in _SLOT.findall(text)}
        for slot in sorted(used ^ set(self.slots)):
            raise ValueError(
                f"template {self.name}: slot {slot!r} is "
                + ("used but not described" if slot in used else "described but not used")
            )
        for slot, form in self.uses():
            if form not in self.slots[slot].forms:
                raise ValueError(f"template {self.name}: slot {slot!r} has no form {form!r}")
        return self

    def uses(self) -> list[tuple[str, str]]:
        """Return the (slot, form) pairs of all texts, each once, in order."""
        found = [
            (slot, form or self.slots[slot].forms[0])
            for text in self.texts
            for slot, form in _SLOT.findall(text)
        ]
        return list(dict.fromkeys(found))

    def forms(self, slot: str) -> list[str]:
        """Return the names of the forms in which a slot's word occurs."""
        return [form for name, form in self.uses() if name == slot]

    def literals(self) -> set[str]:
        """Return the fixed words of all texts, lower-cased."""
        return set(re.findall(r"[a-z]{2,}", _SLOT.sub(" ", " ".join(self.texts)).lower()))

    def fill(self, text: str, filling: Filling) -> str:
        """Return a text, or a piece of one, with its words.

        Args:
            text: what is filled.
            filling: slot -> word.
        """
        return _SLOT.sub(lambda m: filling[m[1]].forms[m[2] or self.slots[m[1]].forms[0]], text)


def capitalized(text: str) -> str:
    """Return a text whose first letter is upper-case; the others stay."""
    return text[0].upper() + text[1:]
