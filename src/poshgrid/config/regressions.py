"""Sections of the Bayesian models: priors, contrasts, and the suite that one is fitted to."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from poshgrid.config import formula as formulas
from poshgrid.config.base import Name, Refers, Scale, Section, Seed
from poshgrid.config.runs import Only

Factor = Literal[
    "condition", "model", "recipe", "bias", "size", "source", "filter",
    "category", "phenomenon", "template",
]  # fmt: skip
"""What a contrast may be of, or be taken at each level of."""


class Prior(Section):
    """A prior of one term that differs from the model's."""

    term: str
    """As in the summary: `size_z`, `S(filter)`, `Intercept`; a group: `1|seed`."""
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

    Every other level of the factor is set against ``less`` where ``first`` is not given.
    """

    name: Name | None = None
    """In tables; default: the two levels, `wiki - baby`."""
    factor: Factor
    """Of the formula: `condition`, `bias`, `filter` ..."""
    first: str | None = None
    """A level of it; default: every other level, one by one."""
    less: str
    """The level that is subtracted; of biases also `controls`: of each its own."""
    by: list[Factor] = Field(["category"])
    """Factors at each level of which the difference is taken, too."""
    planted: dict[str, Literal["above", "below", "none"]] = Field({})
    """In a language made for it: level of `by` (`overall`: all) -> `above`, `below` or
    `none`, to compare with what was found.
    """

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
    `size`; groups `run` and `cell`, too.
    """
    suite: Annotated[Name, Refers("suites")] | None = None
    """Suite of minimal pairs; default: posh, or the only one."""
    only: Only | None = None
    """Runs that enter, as in the key `only`: `recipe=packed`."""
    phenomena: list[str] | None = Field(None, min_length=1)
    """Phenomena or categories that enter; default: all."""
    slope_sd: Scale = 0.5
    """Slopes ~ Normal(0, this)."""
    intercept_sd: Scale = 1.5
    """Intercept ~ Normal(0, this), predictors centred."""
    group_rate: Scale = 2.0
    """SDs of groups ~ Exponential(this)."""
    priors: list[Prior] = Field([])
    """Of single terms."""
    contrasts: list[Contrast] = Field([])
    """Marginal differences to report."""
    engine: Literal["auto", "bambi", "fast"] = "auto"
    """`fast`: the same posterior, reparametrised; `auto`: fast where the formula allows,
    else `bambi`.
    """
    chains: int = Field(4, gt=0, le=1_000)
    """Chains."""
    warmup: int = Field(1_000, gt=0, le=1_000_000)
    """Draws of a chain that are thrown away."""
    draws: int = Field(1_000, gt=0, le=1_000_000)
    """Draws of a chain that are kept."""
    target_accept: float = Field(0.99, gt=0, lt=1)
    """Higher: smaller steps, fewer divergences."""
    retries: int = Field(1, ge=0, le=5)
    """Stricter attempts at a model that does not converge."""
    unconverged: Literal["fail", "report"] = "fail"
    """After the last attempt: stop with advice, or write the fit, marked as not to be
    quoted.
    """
    seed: Seed = 42
    """Of the sampler."""

    @field_validator("formula")
    @classmethod
    def _readable(cls, value: str) -> str:
        formulas.check(value)
        return value
