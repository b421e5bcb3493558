"""Sections of the Bayesian models: priors, contrasts, and the suite that one is fitted to."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from poshgrid.config import formula as formulas
from poshgrid.config.base import Name, Scale, Section, Seed


class Prior(Section):
    """A prior of one term that differs from the model's."""

    term: str = Field(
        description="as in the summary: `size_z`, `S(filter)`, `Intercept`; a group: `1|seed`"
    )
    sd: Scale | None = Field(None, description="slope ~ Normal(0, this)")
    rate: Scale | None = Field(None, description="SD of a group ~ Exponential(this)")

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.rate is None) == (self.sd is None) or ("|" in self.term) != (self.sd is None):
            raise ValueError("a slope has an sd, a group (1|seed) a rate")
        return self


class Contrast(Section):
    """A marginal difference between two levels of a factor, over the cells that both have.

    Every other level of the factor is set against ``less`` where ``first`` is not given.
    """

    name: Name | None = Field(None, description="in tables; `null`: the two levels, `wiki - baby`")
    factor: Name = Field(description="of the formula: `condition`, `bias`, `filter` ...")
    first: str | None = Field(
        None, description="a level of it; `null`: every other level, one by one"
    )
    less: str = Field(
        description="the level that is subtracted; of biases also `controls`: of each its own"
    )
    by: list[Name] = Field(
        ["category"], description="factors at each level of which the difference is taken, too"
    )
    planted: dict[str, Literal["above", "below", "none"]] = Field(
        {},
        description=(
            "of a language made for it: level of `by` (`overall`: all) → `above`, "
            "`below` or `none`; the report sets it beside what was found"
        ),
    )

    @model_validator(mode="after")
    def _two_levels(self) -> Self:
        if self.first == self.less:
            raise ValueError(
                f"first and less are both {self.less!r}: nothing is compared; name two levels"
            )
        return self


class BayesianModel(Section):
    """A Bayesian mixed model of the counts (paper, section 6 and appendix H)."""

    name: Name = Field(description="its folder")
    formula: str = Field(
        "p(correct, n) ~ (size_z + S(category)) * S(filter) + S(source) + (1|seed) "
        "+ (1|phenomenon)",
        description="bambi's notation; `S(x)`: sum coding; `filter`, `source` (the base), "
        "`size_z`, `category`, `phenomenon`, `condition`, `learner`, `regimen`, "
        "`bias`, `seed`, `size`; groups `run` and `cell`, too",
    )
    suite: Name | None = Field(
        None, description="minimal pairs that it is a model of; `null`: posh, or the only suite"
    )
    only: str | None = Field(
        None, description="runs that enter, as in the key `only`: `regimen=packed`"
    )
    phenomena: list[str] | None = Field(
        None, min_length=1, description="that enter, or their categories; `null`: all of the suite"
    )
    slope_sd: Scale = Field(0.5, description="slopes ~ Normal(0, this)")
    intercept_sd: Scale = Field(1.5, description="intercept ~ Normal(0, this), predictors centred")
    group_rate: Scale = Field(2.0, description="SDs of groups ~ Exponential(this)")
    priors: list[Prior] = Field([], description="of single terms, where they differ")
    contrasts: list[Contrast] = Field([], description="marginal differences to report")
    engine: Literal["auto", "bambi", "fast"] = Field(
        "auto",
        description=(
            "`fast`: the same posterior, reparametrised; `bambi`: any formula; "
            "`auto`: fast where the formula allows"
        ),
    )
    chains: int = Field(4, gt=0, le=1_000, description="chains")
    warmup: int = Field(
        1_000, gt=0, le=1_000_000, description="draws of a chain that are thrown away"
    )
    draws: int = Field(1_000, gt=0, le=1_000_000, description="draws of a chain that are kept")
    target_accept: float = Field(
        0.99, gt=0, lt=1, description="higher: smaller steps, fewer divergences"
    )
    retries: int = Field(
        1, ge=0, le=5, description="stricter attempts at a model that does not converge"
    )
    unconverged: Literal["fail", "report"] = Field(
        "fail",
        description=(
            "after the last attempt: `fail` stops the job with advice, `report` "
            "writes the fit and marks it as not to be quoted"
        ),
    )
    seed: Seed = Field(42, description="of the sampler")

    @field_validator("formula")
    @classmethod
    def _readable(cls, value: str) -> str:
        formulas.check(value)
        return value
