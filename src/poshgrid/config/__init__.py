"""The configuration: what may be written in ``config/*.yaml``, with types, bounds and defaults.

The defaults are the paper's (Yang et al., POSH-BENCH, sections 3-7, Tables 2, 5 and 6) wherever it
gives a value. Loading, error messages and the JSON Schema are in :mod:`poshgrid.grid.configfile`.
Other rooms take the sections from here.
"""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator
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
    mistake,
    refusal,
    wrong_options,
)
from poshgrid.config.conditions import Condition, Filter, Reinsertion
from poshgrid.config.corpora import Base, Cleaning, Portion, Source
from poshgrid.config.evaluation import (
    Filtering,
    MaskedScore,
    Pretrained,
    Scoring,
    Study,
    Suite,
)
from poshgrid.config.evidence import Audit, Evidence, Parser, Treebank
from poshgrid.config.experiments import Exclusion, Experiment, SizedLearner
from poshgrid.config.models import BayesianModel, Contrast, Prior
from poshgrid.config.names import alike
from poshgrid.config.tokens import SMALLEST, Tokenizer
from poshgrid.config.training import Learner, Regimen, Tracker


class Config(Section):
    """The whole configuration."""

    data: Place = Field("data", description="folder of the sources, treebanks and ready files")
    results: Results = Field("results", description="folder of all results")
    only: str | None = Field(
        None,
        description=("subset of the grid: `size=10M,seed=42`; values of one axis are alternatives"),
    )
    study: Study | None = Field(
        None,
        description=("whose published numbers stand beside ours, and what the report opens with"),
    )
    sources: list[Source] = Field([], description="corpora as people hold them")
    bases: list[Base] = Field([], description="mixtures of sources, nested over sizes")
    conditions: list[Condition] = Field(
        [],
        description="a base, less what filters remove, plus what is put back; `wiki~passive` "
        "need not be listed",
    )
    parsers: list[Parser] = Field([], description="trained models, or treebanks to train them from")
    evidence: Evidence = Field(Evidence(), description="what decides which sentences are evidence")
    audit: Audit = Field(Audit(), description="sheets of sentences for people to judge")
    tokenizer: Tokenizer = Field(Tokenizer(), description="how text is cut, and whose text says so")
    learners: list[Learner] = Field([], description="an architecture with its dimensions")
    regimens: list[Regimen] = Field([], description="how a learner is trained")
    tracker: Tracker | None = Field(
        None,
        description=(
            "what shows losses as runs train, if you have installed it (docs/training.md); changes "
            "no result, and reruns nothing"
        ),
    )
    biases: dict[Name, dict[str, Any]] = Field(
        {},
        description=(
            "options of each inductive bias: `recency: {decay: 0.6}`; `dyck+recency` combines two"
        ),
    )
    experiments: list[Experiment] = Field(
        [],
        description=(
            "full factorials, less exclusions; each is a target of the workflow; "
            "none: `pretrained` is scored alone"
        ),
    )
    nulls: list[Literal["untrained", "unigram", "ngram", "class_ngram"]] = Field(
        ["untrained", "unigram", "ngram", "class_ngram"],
        description=(
            "`untrained`: the same learner and seed before training; `unigram`, "
            "`ngram`: words counted on the same condition and size; `class_ngram`: the same of "
            "classes, function words and the endings of others; `[]`: none"
        ),
    )
    pretrained: list[Pretrained] = Field(
        [], description="models that are scored, not trained: `[gpt2]`"
    )
    suites: list[Suite] = Field(
        min_length=1, description="minimal pairs, paradigms, choices, completions"
    )
    scoring: Scoring = Field(Scoring(), description="how a pair becomes a judgement")
    filtering: Filtering = Field(
        Filtering(), description="what is measured of filtered models beside the full ones"
    )
    models: list[BayesianModel] = Field(
        [BayesianModel(name="paper")], description="Bayesian models of the counts"
    )

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
                wrong += wrong_options("poshgrid.training.biases", bias, options, (bias,))
            except plugins.UnknownPluginError as error:
                wrong.append(mistake((bias,), str(error), options))
        if wrong:
            raise refusal(wrong)
        return value
