"""Sections of experiments: the runs of the grid."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from poshgrid.config.base import (
    BiasName,
    ConditionName,
    ModelName,
    Name,
    Section,
    Seed,
    Size,
    UsedSize,
)
from poshgrid.config.known import refers


class SizedModel(Section):
    """A model that is only used at some sizes (gpt2-mini at 10M, gpt2-small above)."""

    model: ModelName
    """A model."""
    sizes: list[Size] = Field(min_length=1)
    """Sizes at which it is used."""


class Exclusion(Section):
    """Points of the grid to leave out: those that match all given axes."""

    condition: ConditionName | None = None
    """A condition."""
    size: Size | None = None
    """A size."""
    model: ModelName | None = None
    """A model."""
    bias: BiasName | None = None
    """Biases, written as in `biases`."""
    seed: Seed | None = None
    """A seed."""


class Experiment(Section):
    """A full factorial over its axes, without exclusions; its name is a target of the workflow."""

    name: Name
    """Its target: `snakemake exp1`."""
    default: bool = True
    """Part of the target `all`."""
    conditions: list[ConditionName] = Field(min_length=1)
    """Conditions."""
    sizes: list[UsedSize] = Field(min_length=1)
    """Sizes of the corpora."""
    models: list[ModelName | SizedModel] = Field(min_length=1)
    """Models, each at all sizes or at some."""
    recipe: Annotated[Name, refers("recipes")]
    """One recipe."""
    biases: list[BiasName] = Field(["none"], min_length=1)
    """`none`, a bias, or several in alphabetical order: `dyck+recency`."""
    seeds: list[Seed] = Field([42, 53, 76], min_length=1)
    """One run for each."""
    exclude: list[Exclusion] = Field([])
    """Points to leave out."""
