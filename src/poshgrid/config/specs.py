"""The slice of the configuration that each stage reads.

A slice is part of the JSON on the job's command line (:mod:`poshgrid.stages.stage`). Snakemake
compares that text, so a job reruns if a value that it reads changes, and for no other change.
"""

from __future__ import annotations

import json
import re
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, Field, ValidationError

from poshgrid import config
from poshgrid.config.base import Language, Name, Positive, Section, Seed, Size
from poshgrid.config.runs import words_of
from poshgrid.core.errors import PoshgridError, invalid

RUN = re.compile(r"([A-Za-z0-9][A-Za-z0-9+~._-]*/){5}seed[0-9]{1,10}")


def _run_name(value: str) -> str:
    if not RUN.fullmatch(value):
        raise ValueError(f"{value!r} is not condition/size/model/recipe/bias/seedN")
    words_of(value.split("/")[1])
    return value


RunName = Annotated[str, AfterValidator(_run_name)]
"""``Run.name``, which is also a path."""


class SourceSpec(Section):
    """Stage ``read``: one source to sentences."""

    source: config.Source


class CorpusSpec(Section):
    """Stage ``mix``: sources to a corpus."""

    corpus: config.Corpus
    sizes: list[Size]  # the sizes of the grid, ascending


class TreebankSpec(Section):
    """Stage ``treebank``: gold trees to the files that parsers are trained on."""

    treebank: config.Treebank


class ParserSpec(Section):
    """Stage ``train_parser``: a treebank to a parser's model folder."""

    parser: config.Parser


class ParseSpec(Section):
    """Stage ``parse``: one shard of a corpus's sentences."""

    parser: config.Parser
    shard: int
    shards: int


class EvidenceSpec(Section):
    """Stage ``evidence``: parses to labels."""

    filters: list[Name]


class RecallSpec(Section):
    """Stage ``recall``: a parser compared with gold trees, filter by filter."""

    parser: config.Parser
    filters: list[Name]
    gold: list[str]


class ConditionSpec(Section):
    """Stage ``condition``: the text that a model sees at one size."""

    condition: config.Condition
    # For a control: the filters and rewriters of the condition that it matches
    control_filters: list[config.Filter] = Field(default_factory=list)
    control_rewrite: list[Name] = Field(default_factory=list)
    size: Size
    heldout_filtered: bool = True  # whether filters also apply to dev and test


class SideEffectsSpec(ConditionSpec):
    """Stage ``side_effects``: a condition that removes something, and its corpus."""

    language: Language = "en"


class AuditSpec(Section):
    """Stage ``audit``: the sentences of a condition that people read."""

    condition: Name
    size: Size
    filters: list[config.Filter]
    rewrite: bool = False  # sentences are changed, too
    whole: bool = False  # draw leakage from all sentences that a filter kept
    sample: Positive
    language: Language = "en"


class TokenizerSpec(Section):
    """Stage ``tokenizer``: one tokenizer for a condition and size."""

    tokenizer: config.Tokenizer


class TrainSpec(Section):
    """Stage ``train``: one run of the grid.

    ``options`` has the options of the biases in ``bias``, and of no others.
    """

    model: config.Model
    recipe: config.Recipe
    bias: Name
    options: dict[Name, dict[str, Any]]
    seed: Seed


class ItemsSpec(Section):
    """Stage ``items``: a suite's items."""

    suite: config.Suite
    top_k: int | None  # number of frequent words it may use; None: it is read, not generated


class CountSpec(Section):
    """Stage ``count``: an n-gram baseline."""

    order: Positive
    size: Size | None = None  # use the corpus's training rows of this size; None: all rows
    classes: bool = False  # count classes instead of words


class ScoreSpec(Section):
    """Stage ``score``: how one model is scored on every suite."""

    scoring: config.Scoring
    tasks: dict[Name, Literal["pairs", "paradigms", "choices", "completions"]]  # suite -> task
    hub: str | None = None  # id of a model on a hub
    revision: str | None = None
    # suite -> its other score of masked models
    rescored: dict[Name, config.MaskedScore] = Field(default_factory=dict)


class UntrainedSpec(Section):
    """Stage ``untrained``: an untrained model, and how it is scored."""

    model: config.Model
    seed: Seed
    score: ScoreSpec


class HeuristicsSpec(Section):
    """Stage ``heuristic_choices``: the language of the items."""

    language: Language = "en"


class QualitySpec(Section):
    """Stage ``quality``: checks of a suite."""

    suite: Name
    generated: bool  # from templates and the lexicon
    top_k: int


class MeasuresSpec(Section):
    """Stage ``measures``: the results of runs on a suite that does not consist of minimal pairs."""

    suite: Name
    task: Literal["paradigms", "choices", "completions"]
    runs: list[RunName] = Field(min_length=1)  # Run.name


class Cell(Section):
    """Facts about a condition at a size that statistics need."""

    words: int  # as in the size's name; the condition's statistics have the actual number
    source: Name  # the corpus
    filtered: bool  # evidence removed and none put back: the paper's factor (section 6)


class JudgementSpec(Section):
    """Stage ``accuracy``: how two scores become a judgement, and which runs are judged."""

    scoring: config.Scoring
    runs: list[RunName]  # Run.name; none of the grid where `judge` counts baselines alone
    cells: dict[str, Cell]  # "condition/size" -> its facts


class PerplexitySpec(Section):
    """Stage ``perplexity``: a model's perplexity on unfiltered text."""

    scoring: config.Scoring
    tested: Name  # the corpus whose unfiltered test split is used


class DeltasSpec(Section):
    """Stage ``deltas``: which conditions are compared with each other (FiCT, section 4)."""

    scoring: config.Scoring
    runs: list[RunName]  # Run.name, trained ones
    full: dict[str, str]  # filtered condition -> the full one to compare it with
    targets: dict[str, list[str]]  # filtered condition -> target phenomena of its filters
    perplexity: list[RunName] = Field(default_factory=list)  # the runs that have one


class RegressionSpec(Section):
    """Stage ``fit``: one Bayesian model of the counts."""

    model: config.Regression


class ReportSpec(Section):
    """Stage ``report``: the contents of the page."""

    target: Name
    runs: list[RunName]
    cells: dict[str, Cell]
    corpora: list[Name]
    conditions: list[Name]
    sizes: list[Size]
    parsers: list[Name]
    evidence_parser: Name | None
    regressions: list[Name]
    suites: list[Name]  # of minimal pairs
    measured: dict[Name, str] = Field(default_factory=dict)  # the other suites -> their task
    full: dict[str, str] = Field(default_factory=dict)  # filtered condition -> its full one
    # filtered condition -> its filters -> the target phenomena of each
    removed: dict[Name, dict[str, list[str]]] = Field(default_factory=dict)
    gold: list[str] = Field(default_factory=list)  # gold trees that parsers are compared with
    audits: list[str] = Field(default_factory=list)  # cells from which sheets are drawn
    study: config.Study | None = None


S = TypeVar("S", bound=Section)


def canonical(spec: Section) -> str:
    """Return the JSON text of a spec: values that differ from the defaults, sorted, without spaces.

    Therefore a new key with a default changes no spec. A key whose default changes must be added to
    ``Section.ALWAYS``.
    """
    return json.dumps(spec.written(), sort_keys=True, separators=(",", ":"))


def parse(kind: type[S], text: str) -> S:
    """Return the spec in a job.

    Raises:
        PoshgridError: not JSON, or not a spec of this kind.
    """
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        raise PoshgridError(
            f"job: spec: {invalid(error)}; copy the whole command (`poshgrid run -p`)"
        ) from error
