"""The learning rate of every step (paper, Table 6), and when to stop early."""

from __future__ import annotations

import math

from poshgrid.config import Regimen
from poshgrid.errors import PoshgridError


def total_steps(regimen: Regimen, steps_per_epoch: int) -> int:
    """Return the steps of a whole run.

    Raises:
        PoshgridError: the warm-up would take all of them, or a checkpoint is to be kept after the
            last of them.
    """
    total = (regimen.steps or 0) if regimen.epochs is None else regimen.epochs * steps_per_epoch
    if total and regimen.warmup_steps >= total:
        raise PoshgridError(
            f"regimens: {regimen.name}: {regimen.warmup_steps:,} warmup_steps are not less than "
            f"the {total:,} steps of the run; lower them or train longer"
        )
    passes = [] if regimen.checkpoint_epochs == "every" else regimen.checkpoint_epochs
    late = {
        "checkpoints": [step for step in regimen.checkpoints if step > total],
        "checkpoint_epochs": [epoch for epoch in passes if epoch * steps_per_epoch > total],
    }
    for key, values in late.items():
        if total and values:
            raise PoshgridError(
                f"regimens: {regimen.name}: {key}: {', '.join(map(str, values))} beyond the "
                f"{total:,} steps of the run ({steps_per_epoch:,} a pass); leave that out or train "
                "longer"
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
        self.total, self.steps_per_epoch = total_steps(regimen, steps_per_epoch), steps_per_epoch
        every = regimen.evaluate_every
        self._evaluate_every = steps_per_epoch if every == "epoch" else every
        self._save_every = regimen.checkpoint_every
        self._kept = set(regimen.checkpoints)
        self._kept_epochs = regimen.checkpoint_epochs

    def evaluates(self, step: int) -> bool:
        """Say whether the dev loss is taken after so many steps."""
        return step % self._evaluate_every == 0 or step == self.total

    def saves(self, step: int) -> bool:
        """Say whether a resumable checkpoint is written after so many steps."""
        return step % self._save_every == 0

    def keeps(self, step: int) -> bool:
        """Say whether the weights after so many steps are kept for learning curves."""
        epoch, rest = divmod(step, self.steps_per_epoch)
        whole = epoch > 0 and rest == 0
        kept = self._kept_epochs == "every" or epoch in self._kept_epochs
        return step in self._kept or (whole and kept)

    def epoch(self, step: int) -> int:
        """Return the epoch, counted from 0, that the last of so many steps belongs to.

        So what is measured after the last step of an epoch is measured in that epoch.
        """
        return max(step - 1, 0) // self.steps_per_epoch


def learning_rate(step: int, total: int, regimen: Regimen) -> float:
    """Return the rate that a step is taken with.

    It rises linearly, reaches its peak with the last of the warm-up steps, and then falls to zero
    at ``total`` (a line or half a cosine) or stays.

    Args:
        step: 0 for the first.
        total: steps of the run.
        regimen: peak, warm-up and schedule.
    """
    peak, warmup = regimen.learning_rate, regimen.warmup_steps
    if step < warmup:
        return peak * (step + 1) / warmup
    if regimen.schedule == "constant":
        return peak
    passed = (step - warmup) / (total - warmup)
    if regimen.schedule == "cosine":
        return peak * 0.5 * (1.0 + math.cos(math.pi * passed))
    return peak * (1.0 - passed)


def out_of_patience(step: int, best_step: int, patience: int | None) -> bool:
    """Say whether ``patience`` steps have passed without a better dev loss; none: never."""
    return patience is not None and step - best_step >= patience
