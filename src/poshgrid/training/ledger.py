"""Losses of steps that are taken but not booked yet: a GPU is not waited for at every step."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from poshgrid.config import Regimen
from poshgrid.errors import PoshgridError
from poshgrid.training.progress import Progress

if TYPE_CHECKING:
    import torch
    from torch import Tensor

STEPS_UNTOLD = 50
"""Steps that a GPU may take before it is waited for to tell their losses."""


class Ledger:
    """Losses of steps that are not booked yet, because a GPU has not been waited for.

    Whatever writes or measures weights settles it first, so that weights of a run that has diverged
    are never kept. On a CPU each step is settled at once.

    Args:
        progress: where steps are booked.
        regimen: named if a loss is no number.
        device: of the model.
    """

    def __init__(self, progress: Progress, regimen: Regimen, device: torch.device) -> None:
        self._progress, self._regimen = progress, regimen
        self._most = 1 if device.type == "cpu" else STEPS_UNTOLD
        self._steps: list[tuple[int, Tensor, Tensor]] = []
        self._began: float | None = None

    def begin(self) -> None:
        """Start the clock, unless it runs since an earlier step that is not booked yet."""
        self._began = time.perf_counter() if self._began is None else self._began

    def enter(self, tokens: int, nll: Tensor, added: Tensor) -> None:
        """Note a step whose gradient is there; on a CPU, check it before weights change.

        Args:
            tokens: predicted in it.
            nll: summed over them, float64 on the device.
            added: what biases added, likewise.
        """
        self._steps.append((tokens, nll, added))
        if self._most == 1:
            self._check([nll.item() + added.item()])

    def settle(self, now: bool) -> None:
        """Wait for the device and book what is entered.

        Args:
            now: or else only when there is much of it.

        Raises:
            PoshgridError: a loss is no number.
        """
        import torch

        if not self._steps or not (now or len(self._steps) >= self._most):
            return
        told = torch.stack([torch.stack(pair) for _, *pair in self._steps]).tolist()
        self._check([nll + added for nll, added in told])
        assert self._began is not None  # the clock runs since the first of these steps
        seconds = (time.perf_counter() - self._began) / len(told)
        for (tokens, *_), (nll, added) in zip(self._steps, told, strict=True):
            self._progress.book(tokens, nll, added, seconds)
        self._steps, self._began = [], None

    def _check(self, found: list[float]) -> None:
        for step, loss in enumerate(found, self._progress.step):
            if not math.isfinite(loss):
                raise PoshgridError(
                    f"training: the loss is {loss} at step {step:,}; lower learning_rate "
                    f"({self._regimen.learning_rate:g}) or raise warmup_steps in regimen "
                    f"{self._regimen.name!r}"
                )
