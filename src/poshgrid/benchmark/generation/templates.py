"""Templates of minimal pairs: two members, their slots, and what the slots ask of each other."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, NamedTuple, Self

from pydantic import Field, model_validator

from poshgrid import resources
from poshgrid.benchmark.generation import templatefile
from poshgrid.benchmark.generation.slots import Filling, LexiconSlot
from poshgrid.benchmark.generation.templatefile import Pattern, capitalized
from poshgrid.benchmark.lexicon import TABLES

TEMPLATES = resources.ROOT / "templates"


class Slot(LexiconSlot):
    """A slot of words of the lexicon, and what it asks of the other slots' words."""

    # Own feature -> "slot.feature" that shares a value with it.
    agree: dict[str, str] = Field(default_factory=dict)
    unlike: list[str] = Field(default_factory=list)  # slots that hold another word
    balanced: bool = False  # every word (and combination of balanced slots) equally often

    @model_validator(mode="after")
    def _agreeing(self) -> Self:
        for feature in self.agree:
            if feature not in TABLES[self.category].features:
                raise ValueError(f"unknown feature {feature!r} of a {self.category}")
        return self


class Pair(NamedTuple):
    """A good and a bad member: with slots, or with their words."""

    cell: str  # of the design; "" where a template is one pair
    good: str
    bad: str


class Paired(Pattern[Slot]):
    """A template of one pair or more, which share their slots' words."""

    @property
    def written(self) -> tuple[Pair, ...]:
        """The pairs, as they are written."""
        raise NotImplementedError

    @property
    def texts(self) -> tuple[str, ...]:
        """All members."""
        return tuple(text for pair in self.written for text in (pair.good, pair.bad))

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for name, slot in self.slots.items():
            others = [reference.partition(".") for reference in slot.agree.values()]
            for other, _, feature in [*others, *((o, "", "") for o in slot.unlike)]:
                if other not in self.slots:
                    raise ValueError(f"template {self.name}: slot {name!r}: no slot {other!r}")
                if feature and feature not in TABLES[self.slots[other].category].features:
                    raise ValueError(
                        f"template {self.name}: slot {name!r}: {other!r} has no {feature!r}"
                    )
        return self

    def pairs(self, filling: Filling) -> tuple[Pair, ...]:
        """Return the pairs with their words, the members' first letters upper-case."""
        return tuple(
            Pair(cell, *(capitalized(self.fill(member, filling)) for member in members))
            for cell, *members in self.written
        )


class Template(Paired):
    """Two members that differ in the contrast only, and the slots that they share."""

    good: str
    bad: str

    @property
    def written(self) -> tuple[Pair, ...]:
        """The one pair."""
        return (Pair("", self.good, self.bad),)


class Phenomenon(templatefile.TemplateFile[Template]):
    """One file of templates."""

    joint: ClassVar[bool] = False  # each pair is judged by itself

    contrast: str
    default: bool = True  # false: made only where the option ``phenomena`` names it
    # Named pieces that the templates repeat by YAML reference.
    shared: dict[str, Slot] = Field(default_factory=dict)


def names(folder: Path = TEMPLATES) -> list[str]:
    """Return the phenomena that are made where none is named, sorted.

    Raises:
        PoshgridError: a file breaks the rules of a template.
    """
    return [name for name in templatefile.names(folder) if read(name, folder).default]


def read(phenomenon: str, folder: Path = TEMPLATES) -> Phenomenon:
    """Read and check the templates of a phenomenon; see :func:`templatefile.read`."""
    return templatefile.read(Phenomenon, phenomenon, folder)
