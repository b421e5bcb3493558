"""The learning rate of every step (paper, Table 6), and when to stop early."""

from __future__ import annotations

import math

from poshgrid.config import Regimen
from poshgrid.errors import PoshgridError


def total_steps(regimen: Regimen, steps_per_epoch: int) -> int:
    """Return the steps of a whole run.

    Raises:
        PoshgridError: the warm-up would take all of them.
    """
    total = (regimen.steps or 0) if regimen.epochs is None else regimen.epochs * steps_per_epoch
    if total and regimen.warmup_steps >= total:
        raise PoshgridError(
            f"regimens: {regimen.name}: {regimen.warmup_steps:,} warmup_steps are not less than "
            f"the {total:,} steps of the run; lower them or train longer"
        )
    return total


class Plan:
    """What falls due at which step of a run.

    Args:
        regimen: how the learner is trained.
        steps_per_epoch: batches in one pass.

    Raises:
        PoshgridError: see :func:`total_steps`.
    """

    def __init__(self, regimen: Regimen, steps_per_epoch: int) -> None:
        self.regimen, self.steps_per_epoch = regimen, steps_per_epoch
        self.total = total_steps(regimen, steps_per_epoch)

    def evaluates(self, step: int) -> bool:
        """Say whether the dev loss is taken after so many steps."""
        every = self.regimen.evaluate_every
        between = self.steps_per_epoch if every == "epoch" else every
        return step % between == 0 or step == self.total

    def saves(self, step: int) -> bool:
        """Say whether a resumable checkpoint is written after so many steps."""
        return step % self.regimen.checkpoint_every == 0

    def keeps(self, step: int) -> bool:
        """Say whether the weights after so many steps are kept for learning curves."""
        epoch, rest = divmod(step, self.steps_per_epoch)
        whole, kept = epoch > 0 and rest == 0, self.regimen.checkpoint_epochs
        return step in self.regimen.checkpoints or (whole and (kept == "every" or epoch in kept))

    def epoch(self, step: int) -> int:
        """Return the epoch, counted from 0, that the last of so many steps belongs to.

        So what is measured after the last step of an epoch is measured in that epoch.
        """
        return max(step - 1, 0) // self.steps_per_epoch

    def learning_rate(self, step: int) -> float:
        """Return the rate that a step, counted from 0, is taken with: that of transformers.

        It rises linearly from 0, so that the first step of a warm-up changes nothing. The step
        after the warm-up has the peak; from there the rate falls towards 0, which it would reach
        one step after the last (a line or half a cosine), or stays.
        """
        peak, warmup = self.regimen.learning_rate, self.regimen.warmup_steps
        if step < warmup:
            return peak * step / warmup
        if self.regimen.schedule == "constant":
            return peak
        passed = (step - warmup) / (self.total - warmup)
        if self.regimen.schedule == "cosine":
            return peak * 0.5 * (1.0 + math.cos(math.pi * passed))
        return peak * (1.0 - passed)

    def over(self, step: int, best_step: int) -> str:
        """Return why training is over after so many steps, ``patience`` or ``steps``; "": go on."""
        patience = self.regimen.patience_steps
        if patience is not None and step - best_step >= patience:
            return "patience"
        return "steps" if step == self.total else ""
