"""Sections from suites to statistics."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from poshgrid import plugins
from poshgrid.config import formula as formulas
from poshgrid.config.base import (
    Name,
    Place,
    Positive,
    Scale,
    Section,
    Seed,
    Share01,
    Size,
    Threads,
    mistake,
    refusal,
)
from poshgrid.errors import did_you_mean

SUITES = "poshgrid.benchmark.suites"


class Suite(Section):
    """Items of one task, minimal pairs mostly: generated from templates, or read from files."""

    name: Name
    reader: Name = Field("templates", description="Module of poshgrid.benchmark.suites")
    path: Place | None = Field(None, description="File or folder, relative to the data folder")
    options: dict[str, Any] = Field({}, description="Passed to the reader, e.g. pairs, seed")
    norms: Place | None = Field(None, description="Norms of a test, relative to the data folder")

    @model_validator(mode="after")
    def _options(self) -> Self:
        plugins.options(SUITES, self.reader, self.options)
        return self

    @property
    def task(self) -> str:
        """What its items are: pairs, paradigms, choices or completions."""
        return getattr(self._module, "TASK", "pairs")

    @property
    def generated(self) -> bool:
        """Whether its items are made from the corpora."""
        return getattr(self._module, "CORPORA", False)

    @property
    def _module(self) -> ModuleType:
        return plugins.load(SUITES, self.reader)


class Lexicon(Section):
    """Words that items may use: those frequent in both corpora (paper, section 3.2)."""

    top_k: Positive = Field(3_000, description="The most frequent word types of every base")


class Scoring(Section):
    """How a sentence's probability becomes a judgement (paper, section 4.2; FACTS: score)."""

    engine: Literal["poshgrid", "minicons"] = Field(
        "poshgrid", description="minicons: slower, of somebody else's making; the same scores"
    )
    bos: bool = Field(True, description="Score the first token too, after <bos>")
    reduction: Literal["mean", "sum"] = Field("mean", description="mean: compares perplexity")
    batch_tokens: Positive = Field(8_192, description="Tokens in one forward pass")
    threads: Threads = 1
    precision: Literal["float32", "bf16"] = Field("float32", description="bf16: autocast")
    device: Literal["auto", "cpu", "cuda"] = Field("auto", description="auto: a GPU, if any")
    masked: Literal["pseudo-log-likelihood", "holistic"] = Field(
        "pseudo-log-likelihood", description="Score of masked models, such as BabyBERTa"
    )
    per_token: bool = Field(False, description="Write every token's log-probability, too")


class Quality(Section):
    """When a null says that a phenomenon can be solved without syntax (FACTS: chance)."""

    tolerance: Share01 = Field(0.05, description="Distance of a null from 50% that is flagged")


class Measures(Section):
    """How the scores of suites other than minimal pairs become results."""

    sign: Literal["lan2024", "earlier"] = Field(
        "lan2024", description="Paradigms: -gap less +gap (lan2024), or the other way round"
    )
    reduction: Literal["sum", "mean"] = Field(
        "sum", description="Paradigms: surprisal over the critical region's tokens"
    )
    block_pass: Share01 = Field(0.75, description="Choices: share of a block that passes it")


class Filtering(Section):
    """What is measured of filtered models beside the full ones (FiCT, section 4)."""

    perplexity: bool = Field(False, description="On test sentences that nothing was removed from")


class NGram(Section):
    """The n-gram null: interpolated modified Kneser-Ney over words."""

    order: int = Field(5, gt=0, le=20, description="Words, the predicted one included")


class Pretrained(Section):
    """A model of somebody else's: scored, not trained.

    With a condition and a size it has a place in the grid, and enters tables, figures and Bayesian
    models as ours do.
    """

    name: Name
    model: Place = Field(description="Folder, relative to the data folder, or id on a model hub")
    revision: str | None = Field(None, description="Of the id: a commit, tag or branch")
    masked: Literal["pseudo-log-likelihood", "holistic"] | None = Field(
        None, description="Score of a masked model; none: as scoring.masked says"
    )
    condition: Name | None = Field(None, description="Its place in the grid; none: it has none")
    size: Size | None = Field(None, description="The same: what it was trained on")
    learner: Name | None = Field(None, description="The same; none: its name")
    seed: Seed = Field(0, description="The same")
    source: Name | None = Field(None, description="Of a condition not listed; none: the condition")
    filtered: bool = Field(False, description="Of a condition not listed: the factor `filter`")

    @model_validator(mode="after")
    def _placed(self) -> Self:
        given = self.model_fields_set & {"condition", "size", "learner", "seed"}
        if given and not {"condition", "size"} <= given:
            raise ValueError(
                f"{', '.join(sorted(given))} without a place: give condition and size, or neither"
            )
        return self


SECTIONS = "poshgrid.report.sections"


class Study(Section):
    """The study that a configuration is of: its published numbers stand beside ours."""

    name: Name = Field(description="Folder below `studies`")
    opens: list[Name] = Field([], description="Sections of the report that stand first")

    @field_validator("opens")
    @classmethod
    def _sections(cls, value: list[str]) -> list[str]:
        known = plugins.names(SECTIONS)
        for word in value:
            if word not in known:
                raise ValueError(f"no section {word!r} in the report{did_you_mean(word, known)}")
        return value


class Prior(Section):
    """A prior of one term that differs from the model's."""

    term: str = Field(description="As in the summary, e.g. size_z, S(filter), 1|seed")
    sd: Scale | None = Field(None, description="Slope ~ Normal(0, this)")
    rate: Scale | None = Field(None, description="Group SD ~ Exponential(this)")

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.rate is None) == (self.sd is None) or ("|" in self.term) != (self.sd is None):
            raise ValueError("a slope has an sd, a group (1|seed) a rate")
        return self


class Contrast(Section):
    """A marginal difference between two levels of a factor, over the cells that both have.

    Every other level of the factor is set against ``less`` where ``first`` is not given.
    """

    name: Name | None = Field(None, description="In tables; none: the two levels")
    factor: Name = Field(description="condition, bias, filter, source, regimen, learner ...")
    first: str | None = Field(None, description="Level; none: every other level, one by one")
    less: str = Field(description="Level that is subtracted")
    by: list[Name] = Field(["category"], description="Factors at each level of which, too")
    planted: dict[str, Literal["above", "below", "none"]] = Field(
        {}, description="Of a made language: level (overall: all) -> its sign, for the report"
    )

    def called(self, first: str) -> str:
        """Return the contrast's name with one first level: the one given, or that of the two."""
        return self.name or f"{first} - {self.less}"


SUITE = "posh"
"""The suite that a model is fitted to if it names none and there are several."""


class BayesianModel(Section):
    """A Bayesian mixed model of the counts (paper, section 6 and appendix H)."""

    name: Name
    formula: str = (
        "p(correct, n) ~ (size_z + S(category)) * S(filter) + S(source) + (1|seed) + (1|phenomenon)"
    )
    suite: Name | None = Field(None, description="Of minimal pairs; none: posh, or the only one")
    only: str | None = Field(None, description="Runs that enter, e.g. regimen=packed; none: all")
    slope_sd: Scale = Field(0.5, description="Slopes ~ Normal(0, this)")
    intercept_sd: Scale = Field(1.5, description="Intercept ~ Normal(0, this)")
    group_rate: Scale = Field(2.0, description="Group SDs ~ Exponential(this)")
    priors: list[Prior] = Field([], description="Of single terms")
    contrasts: list[Contrast] = Field([], description="Marginal differences to report")
    engine: Literal["auto", "bambi", "fast"] = Field(
        "auto", description="fast: the same posterior, faster; auto: where the formula allows"
    )
    sampler: Literal["nutpie", "pymc", "numpyro"] = Field("nutpie", description="Of engine bambi")
    chains: int = Field(4, gt=0, le=1_000)
    warmup: int = Field(1_000, gt=0, le=1_000_000)
    draws: int = Field(1_000, gt=0, le=1_000_000)
    target_accept: float = Field(0.99, gt=0, lt=1)
    retries: int = Field(1, ge=0, le=5, description="Stricter attempts if it does not converge")
    unconverged: Literal["fail", "report"] = Field(
        "fail", description="What then: fail the job, or report the fit as not to be quoted"
    )
    seed: Seed = 42

    @field_validator("formula")
    @classmethod
    def _readable(cls, value: str) -> str:
        formulas.check(value)
        return value

    @model_validator(mode="after")
    def _of_terms(self) -> Self:
        known = formulas.terms(self.formula)
        parts = {formulas.parts(term) for term in known or ()}
        wrong = [
            mistake(
                ("priors", place, "term"),
                f"no term {prior.term!r} in the formula{did_you_mean(prior.term, known)}",
                prior.term,
            )
            for place, prior in enumerate(self.priors)
            if known is not None and formulas.parts(prior.term) not in parts
        ]
        if wrong:
            raise refusal(wrong)
        return self
