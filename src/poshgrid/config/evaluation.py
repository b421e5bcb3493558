"""Sections of suites, scoring, pretrained models and the study."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

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
from poshgrid.core import plugins
from poshgrid.core.errors import did_you_mean

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
        known = plugins.names(plugins.SECTIONS)
        for word in value:
            if word not in known:
                raise ValueError(f"no section {word!r} in the report{did_you_mean(word, known)}")
        return value
