"""The configuration: what may be written in ``config/*.yaml``, with types, bounds and defaults.

The defaults are the paper's (Yang et al., POSH-BENCH, sections 3-7, Tables 2, 5 and 6) wherever it
gives a value. Loading, error messages and the JSON Schema are in :mod:`poshgrid.configfile`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from types import ModuleType
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from poshgrid import plugins

_NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9+~._-]{0,63}")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)([KM])")


def words(size: str) -> int:
    """Return the number of words that a size names: ``"10M"`` -> 10,000,000, ``"0.3M"`` -> 300,000.

    Raises:
        ValueError: not a positive number followed by K or M, or not a whole number of words.
    """
    match = _SIZE.fullmatch(size)
    amount = float(match[1]) * {"K": 1e3, "M": 1e6}[match[2]] if match else 0
    if amount <= 0 or abs(amount - round(amount)) > 1e-6:
        raise ValueError(
            f"impossible size {size!r}: write a positive number of words, e.g. 10M or 300K"
        )
    return round(amount)


def _size(value: str) -> str:
    words(value)
    return value


def _name(value: str) -> str:
    if not _NAME.fullmatch(value) or ".." in value:
        raise ValueError(
            f"{value!r} cannot be part of a path: use letters, digits, and + ~ . _ - (64 at most)"
        )
    return value


def _count(value: object) -> object:
    return words(value) if isinstance(value, str) and _SIZE.fullmatch(value) else value


Name = Annotated[str, AfterValidator(_name)]
Size = Annotated[str, AfterValidator(_size)]
Share01 = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[int, Field(gt=0)]
_WrittenWords = Annotated[int, Field(ge=0)] | Annotated[str, Field(pattern=_SIZE.pattern)]
Words = Annotated[int, BeforeValidator(_count, json_schema_input_type=_WrittenWords), Field(ge=0)]
Seed = Annotated[int, Field(ge=0, lt=2**32)]


class Section(BaseModel):
    """A part of the configuration; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Cleaning(Section):
    """What becomes of a line of a source before it counts as a sentence."""

    min_words: Positive = Field(1, description="Shorter sentences are dropped")
    max_words: Positive = Field(200, description="Longer sentences are dropped")
    language: str | None = Field(
        None, pattern="^[a-z]{2}$", description="Documents in another language are dropped: en"
    )
    duplicates: Literal["keep", "drop"] = Field(
        "keep", description="drop: a sentence that the source has had already"
    )


class Source(Section):
    """A corpus as people hold it: CHILDES, Switchboard, a Wikipedia dump ..."""

    name: Name
    reader: Name = Field(description="Module of poshgrid.corpora.readers")
    path: str = Field(description="File or folder, relative to the data folder")
    options: dict[str, Any] = Field({}, description="Passed to the reader")
    cleaning: Cleaning = Cleaning()
    words: Words | None = Field(
        None, gt=0, description="Stop after so many words of cleaned text; none: read it all"
    )

    @model_validator(mode="after")
    def _options(self) -> Self:
        plugins.options("poshgrid.corpora.readers", self.reader, self.options)
        return self


class Portion(Section):
    """How many words a source gives to each size of a base (paper, Table 2)."""

    source: Name
    words: dict[Size, Words] = Field(description="Size -> words, e.g. {10M: 4M}; 0 for none")


class Base(Section):
    """A mixture of sources, nested over sizes: 10M is inside 30M is inside 50M."""

    name: Name
    sources: list[Portion] = Field(min_length=1)
    dev_words: Words = Field(100_000, description="Words held out for early stopping")
    test_words: Words = Field(100_000, description="Words held out for perplexity")
    seed: Seed = Field(42, description="Order of documents and choice of held-out sentences")
    downsample: Annotated[float, Field(gt=0, le=1)] = Field(
        1.0, description="Share of a size's sentences that its conditions base~filter keep"
    )


class Reinsertion(Section):
    """Direct evidence that is put back at its natural rate (paper, section 3.1 and Table 1)."""

    filter: Name
    rate: Share01 | Literal["natural"] = Field(
        description="Share of the condition's sentences, e.g. 0.002; natural: the base's own share"
    )
    pool: Literal["evidence", "removed"] = Field(
        "evidence", description="Strict evidence only, or whatever the filter removes"
    )
    tolerance: Share01 = Field(0.001, description="Largest change of a source's words")


class Condition(Section):
    """A base, less what the filters remove, plus what is put back; or ready files."""

    name: Name
    base: Name
    filters: list[Name] = Field([], description="Modules of poshgrid.evidence.filters")
    reinsert: list[Reinsertion] = []
    unfiltered_sizes: list[Size] = Field([], description="Sizes at which the bare base is used")
    downsample: Annotated[float, Field(gt=0, le=1)] = Field(
        1.0, description="Share of the base's sentences at each size that is kept, in order"
    )
    prebuilt: str | None = Field(
        None, description="Folder, below data, of {size}/train.txt, dev.txt, test.txt"
    )
    filtered: bool | None = Field(
        None, description="The paper's factor; none: filters, and nothing put back"
    )
    seed: Seed = 42

    @model_validator(mode="after")
    def _filters(self) -> Self:
        for word in self.filters:
            plugins.module_name("poshgrid.evidence.filters", word)
        for item in self.reinsert:
            if item.filter not in self.filters:
                raise ValueError(
                    f"re-insertion of {item.filter!r}, which this condition does not remove; "
                    f"add it to filters: {self.filters}"
                )
        if self.prebuilt and (self.filters or self.downsample < 1):
            raise ValueError("prebuilt files are taken as they are: leave out filters, downsample")
        return self


class Treebank(Section):
    """Gold trees that a parser is trained from."""

    path: str = Field(description="CoNLL-U file or folder of them, relative to the data folder; "
                      "'toy': trees of the toy grammar")  # fmt: skip
    sentences: Positive | None = Field(None, description="Use at most so many sentences")
    heldout: Share01 = Field(0.1, description="Share of sentences kept for the parser's own test")
    seed: Seed = 42


class Parser(Section):
    """A dependency parser: a model given by path, or trained from a treebank."""

    name: Name
    engine: Name = Field(description="Module of poshgrid.parsing.engines: stanza, spacy")
    model: str | None = Field(None, description="Folder of a trained model; none: train one")
    treebank: Treebank | None = None
    options: dict[str, Any] = Field({}, description="Passed to the engine, e.g. training steps")

    @model_validator(mode="after")
    def _origin(self) -> Self:
        plugins.options("poshgrid.parsing.engines", self.engine, self.options)
        if (self.model is None) == (self.treebank is None):
            raise ValueError("give either model (a folder) or treebank (to train one), not both")
        return self


class Evidence(Section):
    """Which parser decides what is evidence, and which others are compared with it."""

    parser: Name = "stanza"
    compare: list[Name] = Field([], description="Parsers whose decisions are set beside its own")
    parse: Literal["screened", "all"] = Field(
        "screened", description="screened: only sentences that hold a filter's words are parsed"
    )
    backstop: bool = Field(
        True, description="Remove, too, what looks like evidence by its words alone"
    )
    shard_words: Words = Field(2_000_000, description="Words that one parsing job takes")


class Audit(Section):
    """Sheets of sentences for people to judge (paper, appendix C: sanity check)."""

    conditions: list[Name] = Field([], description="Conditions to draw them from; none: no sheets")
    sample: Positive = Field(1_000, description="Sentences on one sheet")
    seed: Seed = 42


class Tokenizer(Section):
    """Byte-level BPE, one tokenizer for each condition and size (paper, section 4.1, Table 9)."""

    vocabulary_size: Positive = 32_768
    lowercase: bool = Field(False, description="Fold case, in training and in scoring alike")
    min_frequency: Positive = Field(2, description="Rarer pairs are not merged")
    sweep: list[Positive] = Field(
        [], description="Vocabulary sizes to count tokens at (Table 9); none: no sweep"
    )


class Learner(Section):
    """An architecture with its dimensions (paper, Table 5)."""

    name: Name
    architecture: Name = Field("gpt2", description="Module of poshgrid.models.architectures")
    options: dict[str, Any] = Field({}, description="Dimensions: hidden_size, layers, heads, ffn")

    @model_validator(mode="after")
    def _options(self) -> Self:
        plugins.options("poshgrid.models.architectures", self.architecture, self.options)
        return self


class Regimen(Section):
    """How a learner is trained (paper, Table 6)."""

    name: Name
    input: Literal["packed", "sentence"] = Field("packed", description="Rows of text or sentences")
    context_length: Positive = 512
    positions: Positive | None = Field(
        None, description="Longest text that the model can score; none: context_length"
    )
    batch_size: Positive = Field(32, description="Rows in one step of the optimiser")
    micro_batch_size: Positive | None = Field(
        None, description="Rows at once; none: as many as hold 4,096 tokens (a GPU: 16,384)"
    )
    steps: int | None = Field(100_000, ge=0, description="Steps at most; none: see epochs")
    epochs: Positive | None = Field(None, description="Passes over the corpus; none: see steps")
    learning_rate: float = Field(1e-4, gt=0)
    warmup_steps: int = Field(4_000, ge=0)
    schedule: Literal["linear", "constant", "cosine"] = "linear"
    weight_decay: float = Field(0.1, ge=0)
    dropout: Share01 = 0.1
    clip_norm: float = Field(1.0, gt=0, description="Largest norm of the gradient")
    evaluate_every: Positive | Literal["epoch"] = Field(
        2_000, description="Steps between two dev losses; epoch: after each pass"
    )
    patience_steps: Positive | None = Field(6_000, description="Stop so long after the best one")
    keep: Literal["best", "last"] = Field("best", description="best: weights of the best dev loss")
    checkpoint_every: Positive = Field(2_000, description="Steps between two resumable checkpoints")
    checkpoints: list[Positive] = Field(
        [], description="Steps whose weights are kept and scored: learning curves"
    )
    checkpoint_epochs: list[Positive] | Literal["every"] = Field(
        [], description="The same for passes over the corpus, counted from 1; every: all of them"
    )
    order: Literal["shuffled", "given"] = Field(
        "shuffled", description="Of the rows; given: the corpus's own, source by source"
    )
    padding_in_loss: bool = Field(
        False, description="Pad sentences to context_length and predict that, as was published"
    )
    precision: Literal["float32", "bf16"] = Field("float32", description="bf16: autocast")
    compile: Literal["auto", "on", "off"] = Field("auto", description="auto: on a GPU only")
    threads: Positive = Field(1, description="CPU threads: other numbers give other last bits")

    @model_validator(mode="after")
    def _length(self) -> Self:
        if (self.steps is None) == (self.epochs is None):
            raise ValueError("give either steps or epochs (set the other to null)")
        wrong = {}
        # A run of epochs has as many steps as its corpus says: training tells of its warm-up.
        if self.steps and self.warmup_steps >= self.steps:
            wrong["warmup_steps"] = (
                f"{self.warmup_steps:,} warmup_steps are not less than the {self.steps:,} steps; "
                "lower them or train longer"
            )
        kept = [] if self.checkpoint_epochs == "every" else self.checkpoint_epochs
        beyond = sorted({epoch for epoch in kept if epoch > (self.epochs or epoch)})
        if beyond:
            wrong["checkpoint_epochs"] = (
                f"{', '.join(map(str, beyond))} beyond the {self.epochs} epochs of the run; leave "
                "that out or train longer"
            )
        if self.padding_in_loss and self.input == "packed":
            wrong["padding_in_loss"] = (
                "packed rows have no padding; set it to false, or input to sentence"
            )
        if wrong:
            raise _refusal(
                InitErrorDetails(
                    type=PydanticCustomError("value_error", message),
                    loc=(key,),
                    input=getattr(self, key),
                )
                for key, message in wrong.items()
            )
        return self


class Suite(Section):
    """Items of one task, minimal pairs mostly: generated from templates, or read from files."""

    name: Name
    reader: Name = Field("templates", description="Module of poshgrid.benchmark.suites")
    path: str | None = Field(None, description="File or folder, relative to the data folder")
    options: dict[str, Any] = Field({}, description="Passed to the reader, e.g. pairs, seed")
    norms: str | None = Field(None, description="Norms of a test, relative to the data folder")

    @model_validator(mode="after")
    def _options(self) -> Self:
        plugins.options("poshgrid.benchmark.suites", self.reader, self.options)
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
        return plugins.load("poshgrid.benchmark.suites", self.reader)


class Lexicon(Section):
    """Words that items may use: those frequent in both corpora (paper, section 3.2)."""

    top_k: Positive = Field(3_000, description="The most frequent word types of every base")


class Scoring(Section):
    """How a sentence's probability becomes a judgement (paper, section 4.2; FACTS: score)."""

    bos: bool = Field(True, description="Score the first token too, after <bos>")
    reduction: Literal["mean", "sum"] = Field("mean", description="mean: compares perplexity")
    batch_tokens: Positive = Field(8_192, description="Tokens in one forward pass")
    threads: Positive = 1
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


class NGram(Section):
    """The n-gram null: interpolated modified Kneser-Ney over words."""

    order: Positive = Field(5, description="Words, the predicted one included")


class Pretrained(Section):
    """A model of somebody else's: scored, not trained."""

    name: Name
    model: str = Field(description="Folder, relative to the data folder, or id on a model hub")
    revision: str | None = Field(None, description="Of the id: a commit, tag or branch")
    masked: Literal["pseudo-log-likelihood", "holistic"] | None = Field(
        None, description="Score of a masked model; none: as scoring.masked says"
    )


class BayesianModel(Section):
    """A Bayesian mixed model of the counts (paper, section 6 and appendix H)."""

    name: Name
    formula: str = (
        "p(correct, n) ~ (size_z + S(category)) * S(filter) + S(source) + (1|seed) + (1|phenomenon)"
    )
    only: str | None = Field(None, description="Runs that enter, e.g. regimen=packed; none: all")
    slope_sd: float = Field(0.5, gt=0, description="Slopes ~ Normal(0, this)")
    intercept_sd: float = Field(1.5, gt=0, description="Intercept ~ Normal(0, this)")
    group_rate: float = Field(2.0, gt=0, description="Group SDs ~ Exponential(this)")
    sampler: Literal["nutpie", "pymc"] = "nutpie"
    chains: Positive = 4
    warmup: Positive = 1_000
    draws: Positive = 1_000
    target_accept: float = Field(0.99, gt=0, lt=1)
    seed: Seed = 42


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
    exclude: list[Exclusion] = []


class Config(Section):
    """The whole configuration."""

    data: str = Field("data", description="Folder that holds the sources and treebanks")
    results: str = Field("results", description="Folder that all results go to")
    only: str | None = Field(None, description="Subset of the grid, e.g. size=10M,seed=42")
    sources: list[Source] = Field(min_length=1)
    bases: list[Base] = Field(min_length=1)
    conditions: list[Condition] = Field(min_length=1)
    parsers: list[Parser] = []
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
    models: list[BayesianModel] = [BayesianModel(name="paper")]

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
                wrong += (_below((bias,), detail) for detail in error.errors())
            except plugins.UnknownPluginError as error:
                unknown = PydanticCustomError("value_error", str(error))
                wrong.append(InitErrorDetails(type=unknown, loc=(bias,), input=options))
        if wrong:
            raise _refusal(wrong)
        return value


def _refusal(wrong: Iterable[InitErrorDetails]) -> ValidationError:
    """Return what a validator raises for errors below its own place: pydantic adds that place."""
    return ValidationError.from_exception_data("configuration", list(wrong))


def _below(place: tuple[str, ...], detail: ErrorDetails) -> InitErrorDetails:
    """Return an error of a model that was validated by itself, as one of what holds it."""
    kind: Any = detail["type"]
    if kind == "value_error":
        kind = PydanticCustomError("value_error", detail["msg"])
    return InitErrorDetails(
        type=kind, loc=(*place, *detail["loc"]), input=detail["input"], ctx=detail.get("ctx", {})
    )
