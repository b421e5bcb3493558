"""The training loop: forward, backward, clip, step; dev loss now and then; best weights kept."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from poshgrid import logs
from poshgrid.config import Regimen
from poshgrid.errors import PoshgridError
from poshgrid.training import losses, schedule, seeds
from poshgrid.training.bias import Bias
from poshgrid.training.checkpoint import Checkpoints
from poshgrid.training.data import Rows

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from transformers import PreTrainedModel

log = logs.get(__name__)


@dataclass
class Progress:
    """How far a run has come; a checkpoint holds it as JSON."""

    step: int = 0
    tokens: int = 0  # predicted so far
    seconds: float = 0.0  # spent on training steps, all attempts together
    best_step: int = 0
    best_loss: float = math.inf  # dev, nats per token
    sum_nll: float = 0.0  # since the last evaluation, nats
    sum_tokens: int = 0
    sum_seconds: float = 0.0
    stopped: str = ""  # steps or patience
    evaluations: list[dict[str, Any]] = field(default_factory=list)  # lines of training.jsonl


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
    return torch.optim.AdamW(groups, lr=regimen.learning_rate, betas=(0.9, 0.999), eps=1e-8)


def run(
    model: PreTrainedModel,
    train: Rows,
    dev: Rows,
    *,
    regimen: Regimen,
    seed: int,
    biases: list[Bias],
    checkpoints: Checkpoints,
) -> Progress:
    """Train a model until its steps or its patience are over; leave it with its best weights.

    Args:
        model: with its initial weights, on its device; changed in place.
        train: rows that are learned from.
        dev: rows that decide which weights are best and when to stop.
        regimen: how.
        seed: of the order of rows and of dropout.
        biases: inductive biases, already prepared.
        checkpoints: where an earlier attempt may have left off.

    Raises:
        PoshgridError: the loss is no longer a number, or the job was told to end.
    """
    total = schedule.total_steps(regimen, train.steps_per_epoch)
    adam = optimizer(model, regimen)
    progress, best = Progress(), weights(model)
    found = checkpoints.newest()
    if found:
        tensors, state = found
        progress, best = Progress(**state), tensors["best"]
        load_weights(model, tensors["weights"])
        _load_moments(adam, model, tensors["moments"])
        log.info("resumed at step %s of %s", f"{progress.step:,}", f"{total:,}")
    saved = progress.step

    def save() -> None:
        tensors = {"weights": weights(model), "best": best, "moments": _moments(adam, model)}
        checkpoints.save(progress.step, tensors, asdict(progress))

    model.train()
    with _told_to_end() as told:
        # One more round than steps: the last one evaluates and ends.
        for step in logs.progress(range(progress.step, total + 1), "training"):
            if step in regimen.checkpoints:
                checkpoints.keep(step, weights(model))
            due = step % regimen.evaluate_every == 0 or step == total
            done = progress.evaluations and progress.evaluations[-1]["step"] == step
            if due and not done:
                dev_loss = losses.mean(
                    model,
                    dev.in_order(rows_at_once(regimen)),
                    _device(model),
                    regimen.precision,
                )
                _record(progress, dev_loss, step / train.steps_per_epoch, total, regimen)
                if progress.best_step == step:
                    best = weights(model)
                if schedule.out_of_patience(step, progress.best_step, regimen.patience_steps):
                    progress.stopped = "patience"
                    break
            if step == total:
                progress.stopped = "steps"
                break
            if told or (step % regimen.checkpoint_every == 0 and step > saved):
                save()
            if told:
                raise PoshgridError(
                    f"{checkpoints.folder}: told to end at step {step:,} of {total:,}; "
                    "the same command goes on from there"
                )
            _step(model, adam, train, total, regimen=regimen, seed=seed, biases=biases, at=progress)
    load_weights(model, best)
    return progress


def _step(
    model: PreTrainedModel,
    adam: torch.optim.AdamW,
    train: Rows,
    total: int,
    *,
    regimen: Regimen,
    seed: int,
    biases: list[Bias],
    at: Progress,
) -> None:
    """Take one step of the optimiser and book it.

    The gradient is that of the mean over the step's predicted tokens, however they are split into
    micro-batches.
    """
    import torch

    started = time.perf_counter()
    batch, device = train.batch(at.step), _device(model)
    tokens, nll = batch.tokens, 0.0
    seeds.dropout(seed, at.step)
    for bias in biases:
        bias.before_step(model, at.step / train.steps_per_epoch)
    for part in batch.split(rows_at_once(regimen)):
        loss = losses.summed(model, part, device, regimen.precision)
        nll += loss.item()
        for bias in biases:
            penalty = bias.penalty(model, part)
            loss = loss if penalty is None else loss + penalty
        (loss / tokens).backward()
    if not math.isfinite(nll):
        raise PoshgridError(
            f"training: the loss is {nll} at step {at.step:,}; lower learning_rate "
            f"({regimen.learning_rate:g}) or raise warmup_steps in regimen {regimen.name!r}"
        )
    torch.nn.utils.clip_grad_norm_(model.parameters(), regimen.clip_norm)
    for group in adam.param_groups:
        group["lr"] = schedule.learning_rate(at.step, total, regimen)
    adam.step()
    adam.zero_grad(set_to_none=True)
    spent = time.perf_counter() - started
    at.step, at.tokens, at.seconds = at.step + 1, at.tokens + tokens, at.seconds + spent
    at.sum_nll, at.sum_tokens = at.sum_nll + nll, at.sum_tokens + tokens
    at.sum_seconds += spent


def _record(
    progress: Progress, dev_loss: float, epoch: float, total: int, regimen: Regimen
) -> None:
    """Book an evaluation, remember whether it is the best so far, and start new sums."""
    step, trained = progress.step, progress.sum_tokens > 0
    line = {
        "step": step,
        "epoch": round(epoch, 6),
        "tokens": progress.tokens,
        "train_loss": progress.sum_nll / progress.sum_tokens if trained else None,
        "dev_loss": dev_loss,
        "learning_rate": schedule.learning_rate(step - 1, total, regimen) if step else None,
        "tokens_per_second": round(progress.sum_tokens / progress.sum_seconds, 1)
        if trained
        else None,
    }
    if dev_loss < progress.best_loss:
        progress.best_step, progress.best_loss = step, dev_loss
    progress.evaluations.append(line)
    progress.sum_nll, progress.sum_tokens, progress.sum_seconds = 0.0, 0, 0.0
    log.info(
        "step %s of %s (epoch %.2f): train loss %s, dev loss %.4f (best %.4f at %s)%s",
        f"{step:,}",
        f"{total:,}",
        epoch,
        f"{line['train_loss']:.4f}" if trained else "-",
        dev_loss,
        progress.best_loss,
        f"{progress.best_step:,}",
        f", {line['tokens_per_second']:,.0f} tokens/s" if trained else "",
    )


def rows_at_once(regimen: Regimen) -> int:
    """Return the rows of a micro-batch."""
    return min(regimen.micro_batch_size or regimen.batch_size, regimen.batch_size)


def weights(model: PreTrainedModel) -> dict[str, Tensor]:
    """Return a copy of every parameter by name; tied ones appear once."""
    return {name: weight.detach().clone() for name, weight in model.named_parameters()}


def load_weights(model: PreTrainedModel, named: dict[str, Tensor]) -> None:
    """Put back what :func:`weights` returned."""
    import torch

    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.copy_(named[name])


def _moments(adam: torch.optim.AdamW, model: PreTrainedModel) -> dict[str, Tensor]:
    """Return the optimiser's state, flat: ``{parameter}:{entry}`` -> tensor."""
    return {
        f"{name}:{entry}": value
        for name, weight in model.named_parameters()
        for entry, value in adam.state[weight].items()
    }


def _load_moments(adam: torch.optim.AdamW, model: PreTrainedModel, flat: dict[str, Tensor]) -> None:
    named = dict(model.named_parameters())
    for key, value in flat.items():
        name, entry = key.rsplit(":", 1)
        weight = named[name]
        # the count of steps stays on the CPU, as the optimiser itself keeps it
        adam.state[weight][entry] = value if entry == "step" else value.to(weight.device)


def _device(model: PreTrainedModel) -> torch.device:
    return next(model.parameters()).device


@contextmanager
def _told_to_end() -> Iterator[list[int]]:
    """Yield a list that is empty until the process is asked to end (SIGTERM).

    A cluster asks before it kills a job that is out of time or preempted.
    """
    told: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield told  # only the main thread may handle signals
        return
    before = signal.signal(signal.SIGTERM, lambda number, _: told.append(number))
    try:
        yield told
    finally:
        signal.signal(signal.SIGTERM, before)
