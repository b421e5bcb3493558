"""The configuration: what may be written in ``config/*.yaml``, with types, limits and defaults.

The defaults are the paper's (Yang et al., POSH-BENCH, sections 3-7, Tables 2, 5 and 6) wherever it
gives a value. Loading, error messages and the JSON Schema are in :mod:`poshgrid.grid.configfile`.
Other rooms import the sections from here.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator
from pydantic_core import InitErrorDetails

from poshgrid.config.base import ConditionName, Language, Name, Place, Section, Size, wrong_options
from poshgrid.config.corpora import (
    Audit,
    Cleaning,
    Condition,
    Corpus,
    Evidence,
    Filter,
    Parser,
    Portion,
    Reinsertion,
    Source,
    Treebank,
)
from poshgrid.config.evaluation import (
    Contrast,
    Filtering,
    MaskedScore,
    Pretrained,
    Prior,
    Regression,
    Scoring,
    Study,
    Suite,
)
from poshgrid.config.known import Only
from poshgrid.config.models import Experiment, Model, Recipe, SizedModel, Tokenizer
from poshgrid.config.paths import SHARED
from poshgrid.config.runs import REFERENCE, RELEASED, WORD_BASELINES
from poshgrid.core import plugins, resources

STUDY = Path("study.yaml")
"""The configuration of a folder that `poshgrid init --minimal` made."""
PAPER = Path("config/config.yaml")
"""The configuration that is read if no other is named and there is no :data:`STUDY`."""


@cache
def rules() -> frozenset[str]:
    """Return the names of the workflow's rules; each experiment becomes another rule."""
    files = resources.shipped("workflow", "rules").glob("*.smk")
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    return frozenset(re.findall(r"^rule (\w+):", text, re.MULTILINE))


_OTHERS = frozenset({*REFERENCE, RELEASED, *WORD_BASELINES})
_TAKEN = {
    "sources": {"all"}, "conditions": _OTHERS | {SHARED}, "models": _OTHERS,
    "recipes": _OTHERS, "experiments": _OTHERS | rules() | {"all"},
}  # fmt: skip
"""Section -> names that its entries must not have: baselines, the shared tokenizer, targets."""


class Config(Section):
    """The whole configuration."""

    data: Place = "data"
    """Folder of sources, suites, treebanks and models."""
    results: Place = "results"
    """Folder of all results."""
    language: Language = "en"
    """ISO 639-1 code of the language of sources and parsers: `it`. Parts for English only are
    errors."""
    only: Only | None = None
    """Subset of the grid: `size=10M,seed=42`; values of one axis are alternatives."""
    study: Study | None = None
    """The study: its published numbers are compared with the results, its title heads the
    report."""
    sources: list[Source] = Field([])
    """Corpora as they are published."""
    corpora: list[Corpus] = Field([])
    """Mixtures of sources, nested over sizes."""
    conditions: list[Condition] = Field([])
    """A corpus without what filters remove, plus what is put back."""
    parsers: list[Parser] = Field([])
    """Trained models, or treebanks to train them from."""
    evidence: Evidence = Evidence()
    """How to decide which sentences are evidence."""
    audit: Audit = Audit()
    """Sheets of sentences for people to judge."""
    tokenizer: Tokenizer = Tokenizer()
    """How text is split into tokens, and on which text the tokenizer is trained."""
    models: list[Model] = Field([])
    """Architectures with their dimensions."""
    recipes: list[Recipe] = Field([])
    """How models are trained."""
    biases: dict[Name, dict[str, Any]] = Field({})
    """Options of each inductive bias: `recency: {decay: 0.6}`."""
    experiments: list[Experiment] = Field([])
    """Full factorials without exclusions; without experiments, only `pretrained` is scored."""
    baselines: list[Literal["untrained", "unigram", "ngram", "class_ngram"]] = Field(
        ["untrained", "unigram", "ngram", "class_ngram"]
    )
    """`untrained`: the same model and seed; `unigram`, `ngram`: counts of words in the same
    condition and size; `class_ngram`: the same with function words and endings.
    """
    counted: dict[ConditionName, list[Size]] = Field({})
    """Conditions and sizes that are only counted for baselines, to compare pretrained models with:
    `{wiki: [250K]}`. Items are not balanced against them.
    """
    pretrained: list[Pretrained] = Field([])
    """Models that are scored, not trained: `[gpt2]`."""
    suites: list[Suite] = Field(min_length=1)
    """Minimal pairs, paradigms, choices, completions."""
    scoring: Scoring = Scoring()
    """How a sentence is scored, and a pair judged."""
    filtering: Filtering = Filtering()
    """What to measure for filtered and full models."""
    regressions: list[Regression] = Field([Regression(name="paper")])
    """Bayesian models of the counts."""

    @field_validator(
        "sources", "corpora", "conditions", "parsers", "models", "recipes", "experiments",
        "suites", "pretrained", "regressions",
    )  # fmt: skip
    @classmethod
    def _names(cls, value: list[Any], info: ValidationInfo) -> list[Any]:
        """Refuse names that occur twice, or have another meaning."""
        wrong: list[InitErrorDetails] = []
        known = set(_TAKEN.get(info.field_name or "", ()))
        taken = frozenset(known)
        for number, entry in enumerate(value):
            name = entry.name.casefold()  # names that only differ in case are one folder on a Mac
            if name in known:
                own = f"{name!r} is a reserved name"
                why = f"{entry.name!r}: {own if name in taken else 'occurs twice'}: rename it"
                wrong.append(plugins.mistake((number, "name"), why, name))
            known.add(name)
        if wrong:
            raise plugins.refusal(wrong)
        return value

    @model_validator(mode="before")
    @classmethod
    def _languages(cls, value: object) -> object:
        """Give sources and parsers the language of the configuration."""
        language = value.get("language") if isinstance(value, dict) else None
        if not isinstance(value, dict) or not isinstance(language, str) or len(language) != 2:
            return value
        sections = {key: value[key] for key in ("sources", "parsers") if value.get(key)}
        return value | {
            key: [{"language": language, **s} if isinstance(s, dict) else s for s in section]
            for key, section in sections.items()
            if isinstance(section, list)
        }

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.experiments and not self.pretrained and not self.counted:
            raise ValueError("no experiments, pretrained or counted: nothing to score; give one")
        return self

    @field_validator("biases")
    @classmethod
    def _bias_options(
        cls, value: dict[str, dict[str, Any]], info: ValidationInfo
    ) -> dict[str, dict[str, Any]]:
        wrong: list[InitErrorDetails] = []
        for bias, options in value.items():
            wrong += wrong_options(plugins.BIASES, bias, options, (bias,), info.context)
        if wrong:
            raise plugins.refusal(wrong)
        return value
