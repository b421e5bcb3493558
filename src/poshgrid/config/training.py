"""Sections on learners and how they are trained."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from poshgrid import plugins
from poshgrid.config.base import (
    LARGEST,
    Count,
    Dropout,
    LearningRate,
    Name,
    Positive,
    Section,
    Threads,
    Width,
    mistake,
    refusal,
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
    context_length: Width = 512
    positions: Width | None = Field(
        None, description="Longest text that the model can score; none: context_length"
    )
    batch_size: Width = Field(32, description="Rows in one step of the optimiser")
    micro_batch_size: Width | None = Field(
        None, description="Rows at once; none: as many as hold 4,096 tokens (a GPU: 16,384)"
    )
    steps: Count | None = Field(100_000, description="Steps at most; none: see epochs")
    epochs: Positive | None = Field(None, description="Passes over the corpus; none: see steps")
    learning_rate: LearningRate = 1e-4
    warmup_steps: Count = 4_000
    schedule: Literal["linear", "constant", "cosine"] = "linear"
    weight_decay: float = Field(0.1, ge=0, le=10)
    dropout: Dropout = 0.1
    clip_norm: float = Field(1.0, gt=0, le=LARGEST, description="Largest norm of the gradient")
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
    threads: Threads = Field(1, description="CPU threads: other numbers give other last bits")
    together: int = Field(
        1,
        gt=0,
        le=64,
        description="Seeds of a cell that share a GPU (docs/training.md)",
        exclude=True,
    )

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
        # How many steps epochs are, the corpus says: a checkpoint beyond them is told by training.
        late = sorted({step for step in self.checkpoints if step > (self.steps or step)})
        if late:
            wrong["checkpoints"] = (
                f"{', '.join(map(str, late))} beyond the {self.steps:,} steps of the run; leave "
                "that out or train longer"
            )
        if self.padding_in_loss and self.input == "packed":
            wrong["padding_in_loss"] = (
                "packed rows have no padding; set it to false, or input to sentence"
            )
        if wrong:
            raise refusal(
                mistake((key,), message, getattr(self, key)) for key, message in wrong.items()
            )
        return self
