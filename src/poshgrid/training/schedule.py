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
    total = regimen.steps if regimen.epochs is None else regimen.epochs * steps_per_epoch
    if total and regimen.warmup_steps >= total:
        raise PoshgridError(
            f"regimens: {regimen.name}: {regimen.warmup_steps:,} warmup_steps are not less than "
            f"the {total:,} steps of the run; lower them or train longer"
        )
    return total


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
