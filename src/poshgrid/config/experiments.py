"""Sections on experiments: which runs the grid has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

from pydantic import Field, field_validator, model_validator

from poshgrid.config.base import Name, Section, Seed, Size, mistake, refusal
from poshgrid.config.corpora import Rate
from poshgrid.config.names import RULES, repeated

DOSE = "+"
"""Between the name of a condition and the rate at which its evidence is put back."""


class SizedLearner(Section):
    """A learner that takes part at some sizes only (gpt2-mini at 10M, gpt2-small above)."""

    learner: Name
    sizes: list[Size] = Field(min_length=1)


class Exclusion(Section):
    """Points of the grid that are left out: all that match every axis given."""

    condition: Name | None = None
    size: Size | None = None
    learner: Name | None = None
    bias: Name | None = None
    seed: Seed | None = None

    @model_validator(mode="after")
    def _some(self) -> Self:
        if not self.model_dump(exclude_none=True):
            raise ValueError("names no axis, and would leave out every point; name one or more")
        return self


class Experiment(Section):
    """A full factorial over its axes, less the exclusions; its name is a target of the workflow."""

    name: Name
    default: bool = Field(True, description="Part of the target `all`")
    conditions: list[Name] = Field(min_length=1)
    doses: list[Rate] = Field(
        [], description="Each condition with so much of its evidence put back: [0, natural, 0.01]"
    )
    sizes: list[Size] = Field(min_length=1)
    learners: list[Name | SizedLearner] = Field(min_length=1)
    regimen: Name
    biases: list[Name] = Field(["none"], min_length=1)
    seeds: list[Seed] = Field([42, 53, 76], min_length=1)
    exclude: list[Exclusion] = Field([], description="Points that are left out")

    @field_validator("name")
    @classmethod
    def _no_rule(cls, value: str) -> str:
        if value in RULES:
            raise ValueError(
                f"{value!r} is a rule of the workflow, and each experiment is one more: rename it"
            )
        return value

    @field_validator("conditions", "doses", "sizes", "biases", "seeds")
    @classmethod
    def _once(cls, value: list[Any]) -> list[Any]:
        if repeated(value):
            raise ValueError(f"{_joined(repeated(value))} twice: its runs would count twice")
        return value

    @model_validator(mode="after")
    def _learners_once(self) -> Self:
        found = [
            (each.learner, size) if isinstance(each, SizedLearner) else (each, size)
            for each in self.learners
            for size in (each.sizes if isinstance(each, SizedLearner) else self.sizes)
        ]
        if repeated(found):
            pairs = _joined(f"{learner} at {size}" for learner, size in repeated(found))
            message = f"{pairs} twice: its runs would count twice"
            raise refusal([mistake(("learners",), message, self.learners)])
        return self

    @property
    def dosed(self) -> list[str]:
        """The conditions at each dose: ``baby-f``, ``baby-f+natural``, ``baby-f+0.01``."""
        doses = [dose if isinstance(dose, str) else f"{dose:.9g}" for dose in self.doses or [0.0]]
        return [
            name if dose == "0" else f"{name}{DOSE}{dose}"
            for name in self.conditions
            for dose in doses
        ]


def _joined(values: Iterable[object]) -> str:
    return ", ".join(map(str, values))
