"""Sections from suites to what is measured of their scores."""

from __future__ import annotations

from types import ModuleType
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from poshgrid import plugins
from poshgrid.config.base import (
    Name,
    Place,
    Positive,
    Section,
    Seed,
    Size,
    Threads,
    check_options,
)
from poshgrid.errors import did_you_mean

TOP_K = 3_000
"""Items use the most frequent word types of every corpus, so many of each (paper, section 3.2)."""
TOLERANCE = 0.05
"""A baseline further than this from 50% is marked in every table."""


class Suite(Section):
    """Items of one task, minimal pairs mostly: generated from templates, or read from files."""

    name: Name
    """How results call it."""
    reader: Name = "templates"
    """A module of `poshgrid.benchmark.suites`."""
    path: Place | None = None
    """File or folder below `data`, for readers of files."""
    options: dict[str, Any] = Field({})
    """The reader's."""
    norms: Place | None = None
    """Norm table of choices or completions, below `data`: docs/benchmark.md."""

    @field_validator("name")
    @classmethod
    def _no_tokens(cls, value: str) -> str:
        if value.casefold().endswith(".tokens"):
            raise ValueError(f"{value!r} ends as the file of a suite's tokens does: rename it")
        return value

    @model_validator(mode="after")
    def _options(self) -> Self:
        check_options(plugins.SUITES, self.reader, self.options)
        task = getattr(self._module, "TASK", "pairs")
        if self.norms and task not in ("choices", "completions"):
            raise ValueError(
                f"norms are of choices and completions, not of {task}: leave them out; judgements "
                "of acceptability are choices without a stimulus"
            )
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
    def phenomena(self) -> set[str] | None:
        """The phenomena and categories of its pairs; ``None``: only its items tell."""
        describe = getattr(self._module, "described", None)
        options = plugins.options(plugins.SUITES, self.reader, self.options)
        items = describe(options) if describe else None
        return items and {name for item in items for name in (item.category, item.phenomenon)}

    @property
    def _module(self) -> ModuleType:
        return plugins.load(plugins.SUITES, self.reader)


MaskedScore = Literal["pseudo-log-likelihood", "holistic"]


class Scoring(Section):
    """How a sentence's probability becomes a judgement (paper, section 4.2)."""

    engine: Literal["poshgrid", "minicons"] = "poshgrid"
    """`minicons`: the same scores to 1e-4, slower."""
    bos: bool = True
    """The first token is scored, too, after `<|endoftext|>`."""
    reduction: Literal["mean", "sum"] = "mean"
    """`mean`: the lower perplexity wins; `sum`: the higher log-probability."""
    batch_tokens: Positive = 8_192
    """Tokens in one forward pass; changes no score by more than 1e-5."""
    threads: Threads = 1
    """CPU threads."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """`auto`: a GPU, if there is one."""
    masked: MaskedScore | Annotated[list[MaskedScore], Field(min_length=1)] = (
        "pseudo-log-likelihood"
    )
    """Score of masked models: `pseudo-log-likelihood` masks one token at a time, `holistic`
    none. A list: by each; suites of pairs by the second are called
    `zorro-pseudo-log-likelihood`.
    """
    decoding_seed: Seed | None = None
    """Completions are drawn with this seed, from the 50 likeliest tokens and .95 of the
    mass; default: beams.
    """

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


class Filtering(Section):
    """What is measured of filtered models beside the full ones (FiCT, section 4)."""

    perplexity: bool = False
    """Measure the perplexity of filtered models and the full ones on unfiltered test
    sentences: a job for each.
    """


class Pretrained(Section):
    """A model of somebody else's: scored, not trained.

    With a condition and a size it has a place in the grid, and enters tables, figures and Bayesian
    models as ours do.
    """

    name: Name
    """How results call it."""
    path: Place
    """Folder below `data`, else an id on the Hugging Face hub; causal or masked."""
    revision: str | None = None
    """Of the id: a commit, tag or branch."""
    condition: Name | None = None
    """Its place in the grid, if it has one."""
    size: Size | None = None
    """The same; condition and size go together."""
    model: Name | None = None
    """The same; default: its name."""
    seed: Seed = 0
    """The same."""
    source: Name | None = None
    """Factor `source` of a condition that is not listed; default: the condition."""
    filtered: bool = False
    """Factor `filter` of a condition that is not listed."""

    @model_validator(mode="before")
    @classmethod
    def _renamed(cls, value: object) -> object:
        if isinstance(value, dict) and "model" in value and "path" not in value:
            raise ValueError("folder or id of a model: the key `model` is called `path` now")
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
    """What the report says of the study; published numbers are compared with ours."""

    name: Name
    """A folder of `studies` with `published/VERSION/numbers.csv` and `children.csv`; or a name of
    your own.
    """
    title: str | None = None
    """Of the paper, or of the study: the heading of the report."""
    question: str | None = None
    """What the study asks, in one sentence."""
    authors: str | None = None
    """`Yang, Bisazza, Schneider and Wilcox (2026)`."""
    opens: list[Name] = Field([])
    """Sections of the report that come first: `[published, filtering]`."""

    @field_validator("opens")
    @classmethod
    def _sections(cls, value: list[str]) -> list[str]:
        known = plugins.names(plugins.SECTIONS)
        for word in value:
            if word not in known:
                raise ValueError(f"no section {word!r} in the report{did_you_mean(word, known)}")
        return value
