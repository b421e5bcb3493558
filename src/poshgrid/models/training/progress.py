"""The schedule of a run, its progress, and the lines of ``training.jsonl``."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from poshgrid.config import Recipe
from poshgrid.core import logs
from poshgrid.core.errors import PoshgridError

log = logs.get(__name__)


@dataclass
class Progress:
    """How far a run is; checkpoints store this as JSON."""

    step: int = 0
    tokens: int = 0  # predicted so far
    seconds: float = 0.0  # of training steps, in all attempts together
    best_step: int = 0
    best_loss: float = math.inf  # dev, nats per token
    sum_nll: float = 0.0  # since the last evaluation, nats
    sum_penalty: float = 0.0  # what biases added to it, nats
    sum_tokens: int = 0
    sum_seconds: float = 0.0
    stopped: str = ""  # steps or patience
    evaluations: list[dict[str, Any]] = field(default_factory=list)  # lines of training.jsonl

    def add_step(self, tokens: int, nll: float, penalty: float, seconds: float) -> None:
        """Count a step of the optimiser.

        Args:
            tokens: number of predicted tokens.
            nll: sum over these tokens, nats.
            penalty: what biases added, nats.
            seconds: duration of the step.
        """
        self.step += 1
        self.tokens, self.seconds = self.tokens + tokens, self.seconds + seconds
        self.sum_nll, self.sum_penalty = self.sum_nll + nll, self.sum_penalty + penalty
        self.sum_tokens, self.sum_seconds = self.sum_tokens + tokens, self.sum_seconds + seconds

    def add_evaluation(self, dev_loss: float, *, epoch: float, rate: float | None) -> None:
        """Record an evaluation, note whether it is the best so far, and start new sums.

        Args:
            dev_loss: nats per token.
            epoch: passes over the training split so far.
            rate: learning rate of the last step; None before the first step.
        """
        trained = self.sum_tokens > 0
        speed = round(self.sum_tokens / self.sum_seconds, 1) if trained else None
        line = {
            "step": self.step,
            "epoch": round(epoch, 6),
            "tokens": self.tokens,
            "train_loss": self.sum_nll / self.sum_tokens if trained else None,
            "bias_loss": self.sum_penalty / self.sum_tokens if trained else None,
            "dev_loss": dev_loss,
            "learning_rate": rate,
            "tokens_per_second": speed,
        }
        if dev_loss < self.best_loss:
            self.best_step, self.best_loss = self.step, dev_loss
        self.evaluations.append(line)
        self.sum_nll = self.sum_penalty = self.sum_seconds = 0.0
        self.sum_tokens = 0

    def kept(self, which: str) -> dict[str, Any]:
        """Return the evaluation of the weights that a finished run keeps: ``best`` or ``last``."""
        if which == "last":
            return self.evaluations[-1]
        return next(line for line in self.evaluations if line["step"] == self.best_step)

    @property
    def evaluated_at(self) -> int | None:
        """The step of the last evaluation."""
        return self.evaluations[-1]["step"] if self.evaluations else None

    def log_last_evaluation(self, total: int) -> None:
        """Log the last evaluation.

        Args:
            total: number of steps of the run.
        """
        line = self.evaluations[-1]
        trained = line["train_loss"] is not None
        log.info(
            f"step {line['step']:,} of {total:,} (epoch {line['epoch']:.2f}): "
            + (f"train loss {line['train_loss']:.4f}, " if trained else "")
            + f"dev loss {line['dev_loss']:.4f} (best {self.best_loss:.4f} at {self.best_step:,})"
            + (f", {line['tokens_per_second']:,.0f} tokens/s" if trained else "")
        )


class Plan:
    """What is due after which step of a run.

    Args:
        recipe: how the model is trained.
        steps_per_epoch: batches in one pass.

    Raises:
        PoshgridError: the warm-up would take all steps.
    """

    def __init__(self, recipe: Recipe, steps_per_epoch: int) -> None:
        self.recipe, self.steps_per_epoch = recipe, steps_per_epoch
        self.total = (recipe.steps or 0) + (recipe.epochs or 0) * steps_per_epoch
        """Steps of the full schedule of the learning rate."""
        self.last = min(self.total, recipe.stop_after or self.total)
        """Steps after which training stops."""
        if self.total and recipe.warmup_steps >= self.total:
            raise PoshgridError(
                f"recipes: {recipe.name}: {recipe.warmup_steps:,} warmup_steps are not less "
                f"than the {self.total:,} steps of the run; lower them or train longer"
            )

    def evaluates(self, step: int) -> bool:
        """Return whether the dev loss is computed after this many steps."""
        every = self.recipe.evaluate_every
        between = self.steps_per_epoch if every == "epoch" else every
        return step % between == 0 or step == self.last

    def keeps(self, step: int) -> bool:
        """Return whether the weights after this many steps are kept for learning curves."""
        epoch, rest = divmod(step, self.steps_per_epoch)
        whole, kept = epoch > 0 and rest == 0, self.recipe.checkpoint_epochs
        return step in self.recipe.checkpoints or (whole and (kept == "every" or epoch in kept))

    def epoch(self, step: int) -> int:
        """Return the epoch, counted from 0, of the last of this many steps.

        So the dev loss after the last step of an epoch belongs to that epoch.
        """
        return max(step - 1, 0) // self.steps_per_epoch

    def learning_rate(self, step: int) -> float:
        """Return the learning rate of a step, counted from 0: transformers' linear schedule.

        It rises linearly from 0, so that the first step of a warm-up changes nothing. The first
        step after the warm-up has the peak. Then the rate falls linearly; it would be 0 one step
        after the last.
        """
        peak, warmup = self.recipe.learning_rate, self.recipe.warmup_steps
        if step < warmup:
            return peak * step / warmup
        passed = (step - warmup) / (self.total - warmup)
        return peak * (1.0 - passed)

    def stop_reason(self, step: int, best_step: int) -> str:
        """Return why training stops after this step: ``patience`` or ``steps``; "" if not."""
        patience = self.recipe.patience_steps
        if patience is not None and step - best_step >= patience:
            return "patience"
        return "steps" if step == self.last else ""
