"""Sections from suites to statistics."""

from __future__ import annotations

from types import ModuleType
from typing import Annotated, Any, Literal, Self

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

    name: Name = Field(description="how results call it")
    reader: Name = Field("templates", description="a module of `poshgrid.benchmark.suites`")
    path: Place | None = Field(
        None, description="file or folder below `data`, for readers of files"
    )
    options: dict[str, Any] = Field({}, description="the reader's")
    norms: Place | None = Field(
        None, description="norm table of choices, below `data`: docs/benchmark.md"
    )

    @model_validator(mode="after")
    def _options(self) -> Self:
        plugins.options(SUITES, self.reader, self.options)
        if self.norms and self.task != "choices":
            raise ValueError(f"norms are of choices, not of {self.task}: leave them out")
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

    top_k: Positive = Field(
        3_000, description="items use the most frequent word types of every base, so many of each"
    )


MaskedScore = Literal["pseudo-log-likelihood", "holistic"]


class Scoring(Section):
    """How a sentence's probability becomes a judgement (paper, section 4.2; FACTS: score)."""

    engine: Literal["poshgrid", "minicons"] = Field(
        "poshgrid",
        description=(
            "`minicons`: the scores of Misra's library, sentence by sentence: slower,"
            " the same to 1e-4"
        ),
    )
    bos: bool = Field(
        True,
        description=(
            "the first token is scored, too, after `<|endoftext|>`; `false`: as in "
            "the published code"
        ),
    )
    reduction: Literal["mean", "sum"] = Field(
        "mean", description="`mean`: the lower perplexity wins; `sum`: the higher log-probability"
    )
    batch_tokens: Positive = Field(
        8_192, description="tokens in one forward pass; changes no score by more than 1e-5"
    )
    threads: Threads = Field(1, description="CPU threads")
    precision: Literal["float32", "bf16"] = Field(
        "float32", description="`bf16`: autocast; changes decisions between near-equal members"
    )
    device: Literal["auto", "cpu", "cuda"] = Field(
        "auto", description="`auto`: a GPU, if any; `cpu`; `cuda`"
    )
    masked: MaskedScore | Annotated[list[MaskedScore], Field(min_length=1)] = Field(
        "pseudo-log-likelihood",
        description=(
            "of masked models: `pseudo-log-likelihood` masks one token at a time, `holistic` none; "
            "a list: by each, and of suites of minimal pairs those by the second are called "
            "`zorro-pseudo-log-likelihood`"
        ),
    )
    decoding_seed: Seed | None = Field(
        None,
        description=(
            "of completions: a seed draws their beams from the 50 likeliest tokens and .95 of the "
            "mass; `null`: nothing is drawn"
        ),
    )
    per_token: bool = Field(False, description="write the log-probability of every token, too")

    @property
    def scores(self) -> list[MaskedScore]:
        """The scores of masked models: the first is that of suites under their own names."""
        return [self.masked] if isinstance(self.masked, str) else self.masked

    @field_validator("masked")
    @classmethod
    def _once(cls, value: str | list[str]) -> str | list[str]:
        if not isinstance(value, str) and len(set(value)) < len(value):
            raise ValueError(f"{', '.join(value)}: name each score once")
        return value


class Quality(Section):
    """When a null says that a phenomenon can be solved without syntax (FACTS: chance)."""

    tolerance: Share01 = Field(
        0.05,
        description=(
            "a null further than this from 50% is marked in every table; the quality "
            "page asks that its interval is"
        ),
    )


class Measures(Section):
    """How the scores of suites other than minimal pairs become results."""

    sign: Literal["lan2024", "earlier"] = Field(
        "lan2024",
        description=(
            "paradigms: surprisal of -gap less that of +gap; `earlier`: the other way round"
        ),
    )
    reduction: Literal["sum", "mean"] = Field(
        "sum", description="paradigms: surprisal over the tokens of the critical region; `mean`"
    )
    block_pass: Share01 = Field(
        0.75, description="choices and completions: share of a block's items that passes it"
    )


class Filtering(Section):
    """What is measured of filtered models beside the full ones (FiCT, section 4)."""

    perplexity: bool = Field(
        False,
        description=(
            "read test sentences that nothing was removed from with every filtered "
            "model and the full one beside it: a job for each"
        ),
    )


class NGram(Section):
    """The n-gram null: interpolated modified Kneser-Ney over words."""

    order: int = Field(5, gt=0, le=20, description="words, the predicted one included")


class Pretrained(Section):
    """A model of somebody else's: scored, not trained.

    With a condition and a size it has a place in the grid, and enters tables, figures and Bayesian
    models as ours do.
    """

    name: Name = Field(description="how results call it")
    model: Place = Field(
        description=(
            "folder (below `data`, else from here), or id on the Hugging Face hub; causal or masked"
        )
    )
    revision: str | None = Field(None, description="of the id: a commit, tag or branch")
    masked: MaskedScore | None = Field(
        None, description="score of a masked model; `null`: as `scoring.masked` says"
    )
    condition: Name | None = Field(None, description="its place in the grid; `null`: it has none")
    size: Size | None = Field(None, description="the same; condition and size go together")
    learner: Name | None = Field(None, description="the same; `null`: its name")
    seed: Seed = Field(0, description="the same")
    source: Name | None = Field(
        None,
        description=(
            "of a condition that is not listed: the factor `source` of the models; "
            "`null`: the condition"
        ),
    )
    filtered: bool = Field(
        False, description="of a condition that is not listed: the factor `filter`"
    )

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

    name: Name = Field(
        description=(
            "a folder of `studies`: its `published/VERSION/numbers.csv` stand beside "
            "ours in the report"
        )
    )
    opens: list[Name] = Field(
        [],
        description=(
            "sections of the report that stand first, e.g. `[beside, filtering]`: "
            "modules of `poshgrid.report.sections`"
        ),
    )

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

    def called(self, first: str) -> str:
        """Return the contrast's name with one first level: the one given, or that of the two."""
        return self.name or f"{first} - {self.less}"


SUITE = "posh"
"""The suite that a model is fitted to if it names none and there are several."""


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
    sampler: Literal["nutpie", "pymc", "numpyro"] = Field(
        "nutpie", description="of engine bambi: `nutpie`, `pymc`, or `numpyro` (if installed)"
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
