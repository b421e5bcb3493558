"""Sections of suites, scoring, pretrained models, the study, and Bayesian models."""

from __future__ import annotations

from types import ModuleType
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from poshgrid.config import formula as formulas
from poshgrid.config.base import (
    Name,
    Place,
    Positive,
    Scale,
    Section,
    Seed,
    Size,
    Threads,
    check_options,
)
from poshgrid.config.known import Only, level, refers
from poshgrid.core import plugins

TOP_K = 3_000
"""Items use this many of the most frequent word types of every corpus (paper, section 3.2)."""


MaskedScore = Literal["pseudo-log-likelihood", "holistic"]


class Suite(Section):
    """Items of one task, usually minimal pairs: generated from templates, or read from files."""

    name: Name
    """Its name in results."""
    reader: Name = "templates"
    """A module of `poshgrid.benchmark.suites`."""
    path: Place | None = None
    """File or folder below `data`, for readers of files."""
    options: dict[str, Any] = Field({})
    """Options of the reader."""
    norms: Place | None = None
    """Norm table of choices or completions, below `data`: docs/benchmark.md."""
    masked: MaskedScore | None = None
    """Score of masked models on this suite; default: `scoring.masked`."""

    @field_validator("name")
    @classmethod
    def _no_tokens(cls, value: str) -> str:
        if value.casefold().endswith(".tokens"):
            raise ValueError(f"{value!r} ends in .tokens, which is reserved: rename it")
        return value

    @model_validator(mode="after")
    def _options(self) -> Self:
        check_options(plugins.SUITES, self.reader, self.options)
        task = getattr(self._module, "TASK", "pairs")
        if self.norms and task not in ("choices", "completions"):
            raise ValueError(
                f"norms are for choices and completions, not for {task}: leave them out; "
                "acceptability judgements are choices without a stimulus"
            )
        return self

    @property
    def task(self) -> str:
        """The task of its items: pairs, paradigms, choices or completions."""
        return getattr(self._module, "TASK", "pairs")

    @property
    def generated(self) -> bool:
        """Whether its items are generated from the corpora."""
        return getattr(self._module, "CORPORA", False)

    @property
    def phenomena(self) -> set[str] | None:
        """The phenomena and categories of its pairs; ``None`` if only its items show them."""
        describe = getattr(self._module, "described", None)
        options = plugins.options(plugins.SUITES, self.reader, self.options)
        items = describe(options) if describe else None
        return items and {name for item in items for name in (item.category, item.phenomenon)}

    @property
    def _module(self) -> ModuleType:
        return plugins.load(plugins.SUITES, self.reader)


class Scoring(Section):
    """How a sentence's probability becomes a judgement (paper, section 4.2)."""

    engine: Literal["poshgrid", "minicons"] = "poshgrid"
    """`minicons`: the same scores to 1e-4, slower."""
    bos: bool = True
    """Also score the first token, after `<|endoftext|>`."""
    reduction: Literal["mean", "sum"] = "mean"
    """`mean`: the lower perplexity wins; `sum`: the higher log-probability."""
    batch_tokens: Positive = 8_192
    """Tokens in one forward pass; changes no score by more than 1e-5."""
    threads: Threads = 1
    """CPU threads."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """`auto`: a GPU, if there is one."""
    masked: MaskedScore = "pseudo-log-likelihood"
    """Score of masked models: `pseudo-log-likelihood` masks one token at a time, `holistic`
    none. A suite may have its own.
    """
    decoding_seed: Seed | None = None
    """Draw completions with this seed, from the 50 likeliest tokens and .95 of the mass; default:
    beam search.
    """


class Filtering(Section):
    """What to measure for filtered models and the full ones (FiCT, section 4)."""

    perplexity: bool = False
    """Measure the perplexity of filtered models and the full ones on unfiltered test
    sentences: a job for each.
    """


class Pretrained(Section):
    """A model from outside the workflow: scored, not trained.

    With a condition and a size it has a place in the grid, and is part of tables, figures and
    Bayesian models like trained models.
    """

    name: Name
    """Its name in results."""
    path: Place
    """Folder below `data`, else an id on the Hugging Face hub; causal or masked."""
    revision: str | None = None
    """Revision of the id: a commit, tag or branch."""
    condition: Name | None = None
    """Condition of its place in the grid, if it has one."""
    size: Size | None = None
    """Size of its place; give condition and size together."""
    model: Name | None = None
    """Model of its place; default: its name."""
    seed: Seed = 0
    """Seed of its place."""
    source: Name | None = None
    """Level of the factor `source` if the condition is not listed; default: the condition."""
    filtered: bool = False
    """Level of the factor `filter` if the condition is not listed."""

    @model_validator(mode="before")
    @classmethod
    def _short(cls, value: object) -> object:
        """Accept a word for a model: ``gpt2`` for ``{name: gpt2, path: gpt2}``."""
        if isinstance(value, str):
            return {"name": value.rstrip("/").rpartition("/")[2], "path": value}
        return value

    @model_validator(mode="after")
    def _placed(self) -> Self:
        written = self.model_fields_set & {"condition", "size", "model", "seed"}
        if written and not {"condition", "size"} <= written:
            raise ValueError(
                f"{', '.join(sorted(written))} without a place: give condition and size, or neither"
            )
        return self


class Study(Section):
    """What the report shows about the study; published numbers are compared with the results."""

    name: Name
    """A folder of `studies` with `published/VERSION/numbers.csv` and `children.csv`; or your own
    name.
    """
    title: str | None = None
    """Title of the paper or study: the heading of the report."""
    question: str | None = None
    """Question of the study, in one sentence."""
    authors: str | None = None
    """`Yang, Bisazza, Schneider and Wilcox (2026)`."""
    opens: list[Name] = Field([])
    """Sections of the report that come first: `[published, filtering]`."""

    @field_validator("opens")
    @classmethod
    def _sections(cls, value: list[str]) -> list[str]:
        for word in value:
            plugins.module_name(plugins.SECTIONS, word)  # raises if there is none
        return value


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
