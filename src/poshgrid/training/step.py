"""One step of the optimiser: forward, backward, clip, update."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from poshgrid.config import Regimen
from poshgrid.training import bias, losses, schedule, seeds
from poshgrid.training.bias import Bias
from poshgrid.training.data import Rows
from poshgrid.training.ledger import Ledger
from poshgrid.training.progress import Progress

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

TOKENS_AT_ONCE = {"cpu": 4_096, "cuda": 16_384}
"""Inputs, padding included, of a micro-batch if the regimen does not say how many rows it has."""


class Stepper:
    """A model in training: takes one step after the other.

    Args:
        model: on its device.
        train: rows that are learned from.
        plan: what falls due when.
        regimen: how.
        seed: of dropout.
        biases: inductive biases, already prepared.
        progress: where steps are booked.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        train: Rows,
        plan: schedule.Plan,
        *,
        regimen: Regimen,
        seed: int,
        biases: list[Bias],
        progress: Progress,
    ) -> None:
        self.model, self.device = model, device_of(model)
        self.adam = optimizer(model, regimen)
        self.ledger = Ledger(progress, regimen, self.device)
        self._train, self._plan, self._regimen = train, plan, regimen
        self._seed, self._biases = seed, biases

    def take(self, step: int) -> None:
        """Take a step of the optimiser, counted from 0, and enter it into the ledger.

        The gradient is that of the mean over the step's predicted tokens, however they are split
        into micro-batches.

        Raises:
            PoshgridError: the loss is no longer a number.
        """
        import torch

        self.ledger.begin()
        batch, regimen = self._train.batch(step), self._regimen
        tokens = batch.tokens
        nll, added = (torch.zeros((), dtype=torch.float64, device=self.device) for _ in range(2))
        seeds.dropout(self._seed, step)
        bias.at(self._biases, self.model, self._plan.epoch(step + 1))
        for part in batch.split(rows_at_once(regimen, self.device.type, batch.inputs.shape[1])):
            loss = losses.summed(self.model, part, self.device, regimen.precision)
            nll += loss.detach()
            for each in self._biases:
                penalty = each.penalty(self.model, part)
                if penalty is not None:
                    loss = loss + penalty
                    added += penalty.detach()
            (loss / tokens).backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), regimen.clip_norm, foreach=True)
        for group in self.adam.param_groups:
            group["lr"] = schedule.learning_rate(step, self._plan.total, regimen)
        self.ledger.enter(tokens, nll, added)
        self.adam.step()
        self.adam.zero_grad(set_to_none=True)


def optimizer(model: PreTrainedModel, regimen: Regimen) -> torch.optim.AdamW:
    """Return AdamW with weight decay on matrices, embeddings included, not on biases and norms.

    That is what the Hugging Face trainer does, with its betas (0.9, 0.999) and epsilon (1e-8).
    """
    import torch

    weights = list(model.parameters())
    groups = [
        {"params": [w for w in weights if w.dim() > 1], "weight_decay": regimen.weight_decay},
        {"params": [w for w in weights if w.dim() <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(
        groups, lr=regimen.learning_rate, betas=(0.9, 0.999), eps=1e-8, fused=True
    )


def rows_at_once(regimen: Regimen, device: str = "cpu", length: int | None = None) -> int:
    """Return the rows of a micro-batch: a function of the config, the data and the kind of device.

    Args:
        regimen: may say it.
        device: ``cpu`` or ``cuda``.
        length: of the rows; none: as long as the context.
    """
    tokens = TOKENS_AT_ONCE[device]
    rows = regimen.micro_batch_size or max(tokens // (length or regimen.context_length), 1)
    return min(rows, regimen.batch_size)


@contextmanager
def compiled(model: PreTrainedModel, regimen: Regimen) -> Iterator[None]:
    """Compile the model's body for the time of a run, where the regimen wants that.

    It is compiled in place: modules and parameters keep their names. Lengths are dynamic where rows
    are sentences, or every length would be compiled anew.
    """
    wanted = {"on": True, "off": False, "auto": device_of(model).type == "cuda"}
    body = model.base_model
    if not wanted[regimen.compile] or body is model:
        yield
        return
    body.compile(dynamic=True if regimen.input == "sentence" else None)
    try:
        yield
    finally:
        body._compiled_call_impl = None


def device_of(model: PreTrainedModel) -> torch.device:
    """Return the device that a model is on."""
    return next(model.parameters()).device
