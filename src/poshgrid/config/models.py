"""Sections of tokenizers, models and their training, and of experiments, the runs of the grid."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from poshgrid.config.base import (
    BiasName,
    ConditionName,
    Count,
    Dropout,
    LearningRate,
    ModelName,
    Name,
    Place,
    Positive,
    Section,
    Seed,
    Size,
    Threads,
    UsedSize,
    Width,
    check_options,
)
from poshgrid.config.known import refers
from poshgrid.core import plugins

SMALLEST = 256 + 2
"""Size of the smallest vocabulary: every byte and two special tokens."""
Vocabulary = Annotated[int, Field(ge=SMALLEST, le=1_000_000)]
OWN = "own"


class Tokenizer(Section):
    """How text is split into tokens, and on which text that is learned (paper, 4.1, Table 9).

    With a shared tokenizer, a word that one condition has lost still has its token there. Models of
    the same condition and size share a tokenizer.
    """

    kind: Literal["bpe", "words"] = "bpe"
    """Byte pairs, or the most frequent words (all others are `<unk>`)."""
    trained_on: Literal["own", "all"] | (Annotated[list[ConditionName], Field(min_length=1)]) = (
        "own"
    )
    """`own`: each condition and size on its own text; `all`: one tokenizer, on every condition of
    the default experiments; or one on a list of conditions, each at its largest size.
    """
    file: Place | None = None
    """A `tokenizer.json` below `data`, instead of training one."""
    vocabulary_size: Vocabulary = 32_768
    """Number of types, including special tokens and the 256 bytes; a file has its own."""
    lowercase: bool = False
    """Fold case, in training and in scoring."""
    space_final_mark: bool = False
    """Write a space before a final `.`, `?` or `!`, in training and in scoring, even if the text
    does not have it, as in Zorro and in BabyBERTa's corpora.
    """
    sweep: list[Vocabulary] = Field([])
    """Vocabulary sizes to count tokens at (Table 9)."""

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if self.file and self.trained_on != OWN:
            raise ValueError("a tokenizer from a file is not trained: leave out trained_on")
        if self.file and not self.file.endswith(".json"):
            raise ValueError(f"file: {self.file!r} is not the .json of a tokenizer")
        if self.sweep and (self.kind != "bpe" or self.file or self.trained_on != OWN):
            raise ValueError("sweep counts byte pairs of each condition: leave it out")
        return self

    @property
    def shared(self) -> bool:
        """Whether one tokenizer serves all conditions and sizes."""
        return bool(self.file) or self.trained_on != OWN

    def changed(self, other: Tokenizer | None) -> Tokenizer:
        """Return this tokenizer with the keys that are written in another one."""
        written = other.model_fields_set if other else set()
        return self.model_copy(update={key: getattr(other, key) for key in written})


class Model(Section):
    """An architecture with its dimensions (paper, Table 5)."""

    name: Name
    """Its name in experiments."""
    architecture: Name = "gpt2"
    """A module of `poshgrid.models.architectures`."""
    options: dict[str, Any] = Field({})
    """Options of the architecture."""

    @model_validator(mode="after")
    def _options(self) -> Self:
        check_options(plugins.ARCHITECTURES, self.architecture, self.options)
        return self


class Recipe(Section):
    """How a model is trained (paper, Table 6)."""

    name: Name
    """Its name in experiments."""
    input: Literal["packed", "sentence"] = "packed"
    """`packed`: rows of running tokens; `sentence`: one sentence per row."""
    context_length: Width = 512
    """Tokens in a row."""
    positions: Width | None = None
    """Longest text that the model can score, if longer than `context_length`."""
    batch_size: Width = 32
    """Rows in one step of the optimiser."""
    micro_batch_size: Width | None = None
    """Rows of `context_length` computed at once; fewer save memory and change the last bits of
    results (with dropout, more). Default: 4,096 tokens on a CPU, 16,384 on a GPU.
    """
    steps: Count | None = 100_000
    """Largest number of steps; `null`: see `epochs`."""
    epochs: Positive | None = None
    """Passes over the training split, instead of `steps`."""
    stop_after: Positive | None = None
    """Stop after this many steps, with the learning rate of a full training: for results that a
    paper reports at a fixed step.
    """
    learning_rate: LearningRate = 1e-4
    """Peak of the learning rate."""
    warmup_steps: Count = 4_000
    """Steps in which the learning rate rises; then it falls linearly."""
    optimizer: Literal["adamw", "muon"] = "adamw"
    """`muon`: Muon for the matrices of layers, AdamW for all else (embeddings, output layer, norms,
    biases).
    """
    weight_decay: float = Field(0.1, ge=0, le=10)
    """Weight decay of matrices, including embeddings."""
    dropout: Dropout = 0.1
    """Dropout of embeddings, attention and residuals."""
    evaluate_every: Positive | Literal["epoch"] = 2_000
    """Steps between two dev losses; `epoch`: one after each pass."""
    patience_steps: Positive | None = 6_000
    """Stop this many steps after the best dev loss; `null`: never."""
    keep: Literal["best", "last"] = "best"
    """Weights of the best dev loss, or those at the end."""
    checkpoints: list[Positive] | Literal["babylm"] = Field([])
    """Steps whose weights are kept and scored, for learning curves. `babylm`: after 1, 2, ... 10
    million words seen, then every 10 million to 100, then every 100 million. A word is seen once in
    each pass and each masked copy; `poshgrid export babylm` writes these weights.
    """
    checkpoint_epochs: list[Positive] | Literal["every"] = Field([])
    """Passes after which weights are kept and scored, counted from 1; `every`: all."""
    order: Literal["shuffled", "given"] = "shuffled"
    """Order of the rows; `given`: that of the corpus, in every epoch."""
    padding_in_loss: bool = False
    """Pad sentences and also predict the padding, as published for the recency bias."""
    precision: Literal["float32", "bf16"] = "float32"
    """`bf16`: autocast."""
    compile: Literal["auto", "on", "off"] = "auto"
    """`torch.compile`: `auto`: on a GPU; never for an LSTM."""
    threads: Threads = 1
    """CPU threads; their number changes the last bits of results."""

    @model_validator(mode="after")
    def _length(self) -> Self:
        if (self.steps is None) == (self.epochs is None):
            raise ValueError("give either steps or epochs (set the other to null)")
        wrong = {}
        # With epochs the number of steps depends on the corpus, so training checks the warm-up.
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
        # The number of steps in an epoch depends on the corpus.
        steps = min(self.steps or math.inf, self.stop_after or math.inf)
        listed = [] if self.checkpoints == "babylm" else self.checkpoints
        late = sorted({step for step in listed if step > steps})
        if late:
            wrong["checkpoints"] = (
                f"{', '.join(map(str, late))} beyond the {steps:,} steps of the run; leave "
                "that out or train longer"
            )
        if self.padding_in_loss and self.input == "packed":
            wrong["padding_in_loss"] = (
                "packed rows have no padding; set it to false, or input to sentence"
            )
        if wrong:
            raise plugins.refusal(
                plugins.mistake((key,), message, getattr(self, key))
                for key, message in wrong.items()
            )
        return self


class SizedModel(Section):
    """A model that is only used at some sizes (gpt2-mini at 10M, gpt2-small above)."""

    model: ModelName
    """A model."""
    sizes: list[Size] = Field(min_length=1)
    """Sizes at which it is used."""


class Exclusion(Section):
    """Points of the grid to leave out: those that match all given axes."""

    condition: ConditionName | None = None
    """A condition."""
    size: Size | None = None
    """A size."""
    model: ModelName | None = None
    """A model."""
    bias: BiasName | None = None
    """Biases, written as in `biases`."""
    seed: Seed | None = None
    """A seed."""


class Experiment(Section):
    """A full factorial over its axes, without exclusions; its name is a target of the workflow."""

    name: Name
    """Its target: `snakemake exp1`."""
    default: bool = True
    """Part of the target `all`."""
    conditions: list[ConditionName] = Field(min_length=1)
    """Conditions."""
    sizes: list[UsedSize] = Field(min_length=1)
    """Sizes of the corpora."""
    models: list[ModelName | SizedModel] = Field(min_length=1)
    """Models, each at all sizes or at some."""
    recipe: Annotated[Name, refers("recipes")]
    """One recipe."""
    biases: list[BiasName] = Field(["none"], min_length=1)
    """`none`, a bias, or several in alphabetical order: `dyck+recency`."""
    seeds: list[Seed] = Field([42, 53, 76], min_length=1)
    """One run for each."""
    exclude: list[Exclusion] = Field([])
    """Points to leave out."""
