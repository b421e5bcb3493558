"""The configuration: what may be written in ``config/*.yaml``, with types, bounds and defaults.

The defaults are the paper's (Yang et al., POSH-BENCH, sections 3-7, Tables 2, 5 and 6) wherever it
gives a value. Loading, error messages and the JSON Schema are in :mod:`poshgrid.configfile`.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from poshgrid import plugins
from poshgrid.config.base import (
    Name,
    Positive,
    Section,
    Seed,
    Share01,
    Size,
    Words,
    below,
    refusal,
    words,
)
from poshgrid.config.corpora import (
    Audit,
    Base,
    Cleaning,
    Condition,
    Evidence,
    Parser,
    Portion,
    Reinsertion,
    Source,
    Tokenizer,
    Treebank,
)
from poshgrid.config.evaluation import (
    BayesianModel,
    Contrast,
    Filtering,
    Lexicon,
    Measures,
    NGram,
    Pretrained,
    Prior,
    Quality,
    Scoring,
    Suite,
)
from poshgrid.config.training import (
    Learner,
    Regimen,
)

__all__ = [
    "Audit",
    "Base",
    "BayesianModel",
    "Cleaning",
    "Condition",
    "Config",
    "Contrast",
    "Evidence",
    "Exclusion",
    "Experiment",
    "Filtering",
    "Learner",
    "Lexicon",
    "Measures",
    "NGram",
    "Name",
    "Parser",
    "Portion",
    "Positive",
    "Pretrained",
    "Prior",
    "Quality",
    "Regimen",
    "Reinsertion",
    "Scoring",
    "Section",
    "Seed",
    "Share01",
    "Size",
    "SizedLearner",
    "Source",
    "Suite",
    "Tokenizer",
    "Treebank",
    "Words",
    "words",
]


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


class Experiment(Section):
    """A full factorial over its axes, less the exclusions; its name is a target of the workflow."""

    name: Name
    default: bool = Field(True, description="Part of the target `all`")
    conditions: list[Name] = Field(min_length=1)
    sizes: list[Size] = Field(min_length=1)
    learners: list[Name | SizedLearner] = Field(min_length=1)
    regimen: Name
    biases: list[Name] = Field(["none"], min_length=1)
    seeds: list[Seed] = Field([42, 53, 76], min_length=1)
    exclude: list[Exclusion] = Field([], description="Points that are left out")


class Config(Section):
    """The whole configuration."""

    data: str = Field("data", description="Folder that holds the sources and treebanks")
    results: str = Field("results", description="Folder that all results go to")
    only: str | None = Field(None, description="Subset of the grid, e.g. size=10M,seed=42")
    sources: list[Source] = Field(min_length=1)
    bases: list[Base] = Field(min_length=1)
    conditions: list[Condition] = Field(min_length=1)
    parsers: list[Parser] = Field([])
    evidence: Evidence = Evidence()
    audit: Audit = Audit()
    tokenizer: Tokenizer = Tokenizer()
    learners: list[Learner] = Field(min_length=1)
    regimens: list[Regimen] = Field(min_length=1)
    biases: dict[Name, dict[str, Any]] = Field({}, description="Options of each inductive bias")
    experiments: list[Experiment] = Field(min_length=1)
    nulls: list[Literal["untrained", "unigram", "ngram"]] = Field(
        ["untrained", "unigram", "ngram"], description="What chance looks like"
    )
    ngram: NGram = NGram()
    pretrained: list[Pretrained] = Field([], description="Models that are scored, not trained")
    lexicon: Lexicon = Lexicon()
    suites: list[Suite] = Field(min_length=1)
    scoring: Scoring = Scoring()
    quality: Quality = Quality()
    measures: Measures = Measures()
    filtering: Filtering = Filtering()
    models: list[BayesianModel] = Field([BayesianModel(name="paper")])

    @field_validator("pretrained", mode="before")
    @classmethod
    def _short(cls, value: object) -> object:
        """Let a word stand for a model: ``gpt2`` for ``{name: gpt2, model: gpt2}``."""
        if not isinstance(value, list):
            return value
        return [
            {"name": each.rstrip("/").rpartition("/")[2], "model": each}
            if isinstance(each, str)
            else each
            for each in value
        ]

    @field_validator("biases")
    @classmethod
    def _bias_options(cls, value: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        wrong: list[InitErrorDetails] = []
        for bias, options in value.items():
            try:
                plugins.options("poshgrid.training.biases", bias, options)
            except ValidationError as error:
                wrong += (below((bias,), detail) for detail in error.errors())
            except plugins.UnknownPluginError as error:
                unknown = PydanticCustomError("value_error", str(error))
                wrong.append(InitErrorDetails(type=unknown, loc=(bias,), input=options))
        if wrong:
            raise refusal(wrong)
        return value
