"""Templates of factorial designs: several pairs, which share their words, make a set.

A set carries all cells of its design, and both polarities of a contrast: what is right in one pair
is wrong in another, so that a preference for a word is right as often as wrong. Where ``joint``,
the pairs are judged as one, as a difference in differences: (good - bad) of the cell that the
grammar rules out, less the same replacement where both members are sentences. All words cancel.

Source: Sprouse, Wagers & Phillips (2012), "A test of the relation between working memory capacity
and syntactic island effects"; Wilcox, Futrell & Levy (2024).
"""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from poshgrid import resources
from poshgrid.benchmark.generation import templatefile
from poshgrid.benchmark.generation.slots import Part
from poshgrid.benchmark.generation.templates import Pair, Paired, Slot

FACTORIAL = resources.ROOT / "factorial"


class Cell(Part):
    """A pair of a set."""

    cell: str = Field(min_length=1)  # two pairs of a set may share it: the polarities of a contrast
    good: str
    bad: str


class Design(Paired):
    """A set's pairs, and the slots that they share."""

    cells: list[Cell] = Field(min_length=2)

    @property
    def written(self) -> tuple[Pair, ...]:
        """The pairs, as they are written."""
        return tuple(Pair(each.cell, each.good, each.bad) for each in self.cells)


class Designed(templatefile.TemplateFile[Design]):
    """One file of designs."""

    contrast: str
    joint: bool = False  # the pairs of a set are judged as one
    # Named pieces that the templates repeat by YAML reference.
    shared: dict[str, Slot] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _cancelling(self) -> Self:
        for template in self.templates if self.joint else []:
            good, bad = (
                sorted(" ".join(getattr(pair, member) for pair in template.written).split())
                for member in ("good", "bad")
            )
            if good != bad:
                raise ValueError(
                    f"template {template.name}: the words of the good members are not those of "
                    "the bad ones, so that they do not cancel"
                )
        return self


def read(phenomenon: str, folder: Path = FACTORIAL) -> Designed:
    """Read and check the designs of a phenomenon; see :func:`templatefile.read`."""
    return templatefile.read(Designed, phenomenon, folder)
