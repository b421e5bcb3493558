"""Sections of models and of their training."""

from __future__ import annotations

import math
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
)
from poshgrid.core import plugins


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
        check_options("poshgrid.models.architectures", self.architecture, self.options)
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
