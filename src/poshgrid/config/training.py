"""Sections on learners and how they are trained."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from poshgrid.config.base import (
    Count,
    Dropout,
    LearningRate,
    Name,
    Positive,
    Section,
    Threads,
    Width,
    check_options,
    mistake,
    refusal,
)

Tracker = Literal["tensorboard"]
"""What may show a run's losses as it trains; none of them is a dependency."""


class Learner(Section):
    """An architecture with its dimensions (paper, Table 5)."""

    name: Name = Field(description="how experiments call it")
    architecture: Name = Field("gpt2", description="a module of `poshgrid.models.architectures`")
    options: dict[str, Any] = Field({}, description="the architecture's")

    @model_validator(mode="after")
    def _options(self) -> Self:
        check_options("poshgrid.models.architectures", self.architecture, self.options)
        return self


class Regimen(Section):
    """How a learner is trained (paper, Table 6)."""

    name: Name = Field(description="how experiments call it")
    input: Literal["packed", "sentence"] = Field(
        "packed", description="`packed`: rows of running tokens; `sentence`: one sentence a row"
    )
    context_length: Width = Field(512, description="tokens in a row")
    positions: Width | None = Field(
        None,
        description=(
            "longest text that the model can score, where that is more than it is "
            "trained on; `null`: `context_length`"
        ),
    )
    batch_size: Width = Field(32, description="rows in one step of the optimiser")
    micro_batch_size: Width | None = Field(
        None,
        description=(
            "rows of `context_length` at once, and of shorter sentences as many as have as many "
            "tokens; fewer save memory; without dropout nothing else but last bits changes. "
            "`null`: 4,096 tokens on a CPU, 16,384 on a GPU"
        ),
    )
    steps: Count | None = Field(100_000, description="steps at most; `null`: see `epochs`")
    epochs: Positive | None = Field(
        None, description="passes over the training split; `null`: see `steps`"
    )
    learning_rate: LearningRate = Field(1e-4, description="its peak")
    warmup_steps: Count = Field(
        4_000, description="steps in which it rises; then it falls in a line"
    )
    weight_decay: float = Field(0.1, ge=0, le=10, description="of AdamW")
    dropout: Dropout = Field(0.1, description="of embeddings, attention and residuals alike")
    evaluate_every: Positive | Literal["epoch"] = Field(
        2_000, description="steps between two dev losses; `epoch`: one after each pass"
    )
    patience_steps: Positive | None = Field(
        6_000, description="stop so many steps after the best dev loss; `null`: never"
    )
    keep: Literal["best", "last"] = Field(
        "best", description="the weights of the best dev loss; `last`: those at the end"
    )
    checkpoint_every: Positive = Field(
        2_000,
        description="steps between two resumable checkpoints; changes no result",
        exclude=True,
    )
    checkpoints: list[Positive] = Field(
        [],
        description=(
            "steps whose weights are kept and scored, for learning curves; those "
            "after the end of training are passed over"
        ),
    )
    checkpoint_epochs: list[Positive] | Literal["every"] = Field(
        [],
        description=("the same for passes over the corpus, counted from 1; `every`: all of them"),
    )
    order: Literal["shuffled", "given"] = Field(
        "shuffled",
        description=(
            "of the rows; `given`: as the corpus has them, source by source, in every epoch"
        ),
    )
    padding_in_loss: bool = Field(
        False,
        description=(
            "pad sentences to `context_length` and predict the padding, as was "
            "published for the recency bias"
        ),
    )
    precision: Literal["float32", "bf16"] = Field(
        "float32",
        description="`bf16`: autocast; the layers of an LSTM not on a CPU without AVX-512",
    )
    compile: Literal["auto", "on", "off"] = Field(
        "auto", description="`torch.compile`: `auto` on a GPU, `on`, `off`; never of an LSTM"
    )
    threads: Threads = Field(1, description="CPU threads: another number gives other last bits")

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
        # How many steps epochs are, the corpus says: training refuses a checkpoint beyond them.
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
