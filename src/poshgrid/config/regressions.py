"""Sections of Bayesian models: regressions, priors and contrasts."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from poshgrid.config import formula as formulas
from poshgrid.config.base import Name, Scale, Section, Seed
from poshgrid.config.known import Only, level, refers

Factor = Literal[
    "condition", "model", "recipe", "bias", "size", "source", "filter",
    "category", "phenomenon", "template",
]  # fmt: skip
"""Factors that a contrast may compare, or at whose levels it may be computed."""


class Prior(Section):
    """A prior of a single term that differs from the model's default."""

    term: str
    """Name of the term in the summary: `size_z`, `S(filter)`, `Intercept`; a group: `1|seed`."""
    sd: Scale | None = None
    """Slope ~ Normal(0, this)."""
    rate: Scale | None = None
    """SD of a group ~ Exponential(this)."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.rate is None) == (self.sd is None) or ("|" in self.term) != (self.sd is None):
            raise ValueError("a slope has an sd, a group (1|seed) a rate")
        return self


class Contrast(Section):
    """A marginal difference between two levels of a factor, over the cells that both have.

    Without ``first``, every other level of the factor is compared with ``less``.
    """

    name: Name | None = None
    """Its name in tables; default: the two levels, `wiki - baby`."""
    factor: Factor
    """Factor of the formula: `condition`, `bias`, `filter` ..."""
    first: str | None = None
    """A level of the factor; default: every other level, one by one."""
    less: str
    """The level that is subtracted; for biases also `controls`: the controls of each bias."""
    by: list[Factor] = Field(["category"])
    """Factors for whose levels the difference is also computed."""
    planted: dict[str, Literal["above", "below", "none"]] = Field({})
    """True effects in an artificial language: level of `by` (`overall`: all) -> `above`, `below`
    or `none`, to compare with the result.
    """

    @field_validator("first", "less")
    @classmethod
    def _known(cls, value: str | None, info: ValidationInfo) -> str | None:
        return value and level(str(info.data.get("factor")), value, info)

    @model_validator(mode="after")
    def _two_levels(self) -> Self:
        if self.first == self.less:
            raise ValueError(
                f"first and less are both {self.less!r}: nothing is compared; name two levels"
            )
        return self


class Regression(Section):
    """A Bayesian mixed model of the counts (paper, section 6 and appendix H)."""

    name: Name
    """Its folder."""
    formula: str = (
        "p(correct, n) ~ (size_z + S(category)) * S(filter) + S(source) + (1|seed) + (1|phenomenon)"
    )
    """In bambi's notation; `S(x)`: sum coding. Variables: `filter`, `source` (the corpus),
    `size_z`, `category`, `phenomenon`, `condition`, `model`, `recipe`, `bias`, `seed`,
    `size`; also the groups `run` and `cell`.
    """
    suite: Annotated[Name, refers("suites")] | None = None
    """Suite of minimal pairs; default: posh, or the only one."""
    only: Only | None = None
    """Runs to include, as in the key `only`: `recipe=packed`."""
    phenomena: list[str] | None = Field(None, min_length=1)
    """Phenomena or categories to include; default: all."""
    slope_sd: Scale = 0.5
    """Slopes ~ Normal(0, this)."""
    intercept_sd: Scale = 1.5
    """Intercept ~ Normal(0, this), predictors centred."""
    group_rate: Scale = 2.0
    """SDs of groups ~ Exponential(this)."""
    priors: list[Prior] = Field([])
    """Priors of single terms."""
    contrasts: list[Contrast] = Field([])
    """Marginal differences to report."""
    engine: Literal["auto", "bambi", "fast"] = "auto"
    """`fast`: the same posterior, reparametrised; `auto`: fast if the formula allows it, else
    `bambi`.
    """
    chains: int = Field(4, ge=2, le=1_000)
    """Number of chains: one alone cannot show that it converged."""
    warmup: int = Field(1_000, gt=0, le=1_000_000)
    """Draws of a chain that are discarded."""
    draws: int = Field(1_000, gt=0, le=1_000_000)
    """Draws of a chain that are kept."""
    target_accept: float = Field(0.99, gt=0, lt=1)
    """Higher: smaller steps, fewer divergences."""
    seed: Seed = 42
    """Seed of the sampler."""

    @field_validator("formula")
    @classmethod
    def _readable(cls, value: str) -> str:
        formulas.check(value)
        return value
