"""Templates of minimal pairs: members, their slots, and what the slots ask of each other.

A template is one pair, or a factorial design: several pairs, which share their words, make a set. A
set carries all cells of its design, and both polarities of a contrast: what is right in one pair is
wrong in another, so that a preference for a word is right as often as wrong. Where ``joint``, the
pairs are judged as one, as a difference in differences: (good - bad) of the cell that the grammar
rules out, less the same replacement where both members are sentences. All words cancel.

Source: Sprouse, Wagers & Phillips (2012), "A test of the relation between working memory capacity
and syntactic island effects"; Wilcox, Futrell & Levy (2024).
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, Self

from pydantic import Field, model_validator

from poshgrid import resources
from poshgrid.benchmark.generation import templatefile
from poshgrid.benchmark.generation.templatefile import Filling, Part, Pattern, capitalized

TEMPLATES = resources.ROOT / "templates"
FACTORIAL = resources.ROOT / "factorial"


class Pair(NamedTuple):
    """A good and a bad member: with slots, or with their words."""

    cell: str  # of the design; "" where a template is one pair
    good: str
    bad: str


class Cell(Part):
    """A pair of a set."""

    cell: str = Field(min_length=1)  # two pairs of a set may share it: the polarities of a contrast
    good: str
    bad: str


class Template(Pattern):
    """A pair whose members differ in the contrast only, or the pairs of a design."""

    good: str = ""
    bad: str = ""
    cells: list[Cell] = Field([], min_length=2)

    @property
    def written(self) -> tuple[Pair, ...]:
        """The pairs, as they are written."""
        if self.cells:
            return tuple(Pair(each.cell, each.good, each.bad) for each in self.cells)
        return (Pair("", self.good, self.bad),)

    @property
    def texts(self) -> tuple[str, ...]:
        """All members."""
        return tuple(text for pair in self.written for text in (pair.good, pair.bad))

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not all(self.texts) or (self.cells and self.good + self.bad):
            raise ValueError(f"template {self.name}: give good and bad, or cells")
        for name, slot in self.slots.items():
            asked = [(f, *r.partition(".")[::2]) for f, r in slot.agree.items()]
            for own, other, feature in [*asked, *(("", other, "") for other in slot.unlike)]:
                if other not in self.slots:
                    raise ValueError(f"template {self.name}: slot {name!r}: no slot {other!r}")
                for key, of in ((own, slot), (feature, self.slots[other])):
                    if key and key not in of.features:
                        raise ValueError(f"template {self.name}: slot {name!r}: no {key!r} there")
        return self

    def pairs(self, filling: Filling) -> tuple[Pair, ...]:
        """Return the pairs with their words, the members' first letters upper-case."""
        return tuple(
            Pair(cell, *(capitalized(self.fill(member, filling)) for member in members))
            for cell, *members in self.written
        )


class Phenomenon(templatefile.TemplateFile):
    """One file of templates."""

    templates: list[Template] = Field(min_length=1)
    contrast: str
    joint: bool = False  # the pairs of a set are judged as one


def read(phenomenon: str, folder: Path = TEMPLATES) -> Phenomenon:
    """Read and check the templates of a phenomenon; see :func:`templatefile.read`."""
    return templatefile.read(Phenomenon, phenomenon, folder)
