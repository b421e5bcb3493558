"""The configuration: what may be written in ``config/*.yaml``, with types, bounds and defaults.

The defaults are the paper's (Yang et al., POSH-BENCH, sections 3-7, Tables 2, 5 and 6) wherever it
gives a value. Loading, error messages and the JSON Schema are in :mod:`poshgrid.grid.configfile`.
"""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator
from pydantic_core import InitErrorDetails

from poshgrid import plugins
from poshgrid.config.base import (
    Name,
    Place,
    Positive,
    Results,
    Section,
    Seed,
    Share01,
    Size,
    Words,
    below,
    mistake,
    refusal,
    words,
)
from poshgrid.config.corpora import (
    SMALLEST,
    Audit,
    Base,
    Cleaning,
    Condition,
    Evidence,
    Filter,
    Parser,
    Portion,
    Reinsertion,
    Source,
    Tokenizer,
    Treebank,
)
from poshgrid.config.evaluation import (
    SUITE,
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
    Study,
    Suite,
)
from poshgrid.config.experiments import Exclusion, Experiment, SizedLearner
from poshgrid.config.names import alike
from poshgrid.config.training import (
    Learner,
    Regimen,
)

__all__ = [
    "SMALLEST",
    "SUITE",
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
    "Filter",
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
    "Study",
    "Suite",
    "Tokenizer",
    "Treebank",
    "Words",
    "words",
]


class Config(Section):
    """The whole configuration."""

    data: Place = Field("data", description="Folder that holds the sources and treebanks")
    results: Results = Field("results", description="Folder that all results go to")
    only: str | None = Field(None, description="Subset of the grid, e.g. size=10M,seed=42")
    study: Study | None = Field(None, description="Whose published numbers stand beside ours")
    sources: list[Source] = Field([])
    bases: list[Base] = Field([])
    conditions: list[Condition] = Field([])
    parsers: list[Parser] = Field([])
    evidence: Evidence = Evidence()
    audit: Audit = Audit()
    tokenizer: Tokenizer = Tokenizer()
    learners: list[Learner] = Field([])
    regimens: list[Regimen] = Field([])
    biases: dict[Name, dict[str, Any]] = Field({}, description="Options of each inductive bias")
    experiments: list[Experiment] = Field([], description="None: `pretrained` is scored alone")
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

    @field_validator(
        "sources", "bases", "conditions", "parsers", "learners", "regimens", "experiments",
        "pretrained", "suites", "models",
    )  # fmt: skip
    @classmethod
    def _apart(cls, value: list[Any]) -> list[Any]:
        wrong = [
            mistake(
                (place, "name"),
                f"{value[place].name!r} and {earlier!r} differ by case alone: one file where a "
                "disk ignores case; rename one",
                value[place].name,
            )
            for place, earlier in alike(each.name for each in value)
        ]
        if wrong:
            raise refusal(wrong)
        return value

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.experiments and not self.pretrained:
            raise ValueError("neither experiments nor pretrained: nothing to score; give one")
        return self

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
                wrong.append(mistake((bias,), str(error), options))
        if wrong:
            raise refusal(wrong)
        return value
