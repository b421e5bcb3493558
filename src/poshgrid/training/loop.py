"""The training loop: forward, backward, clip, step; dev loss now and then; best weights kept."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING

from poshgrid import logs
from poshgrid.config import Regimen
from poshgrid.errors import PoshgridError
from poshgrid.training import bias, checkpoint, losses, schedule, signals
from poshgrid.training.bias import Bias
from poshgrid.training.checkpoint import Checkpoints
from poshgrid.training.data import Rows
from poshgrid.training.progress import Progress
from poshgrid.training.step import Stepper, alike, rows_at_once, training

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

log = logs.get(__name__)


def run(
    model: PreTrainedModel,
    train: Rows,
    dev: Rows,
    *,
    regimen: Regimen,
    seed: int,
    biases: Iterable[Bias] = (),
    checkpoints: Checkpoints,
) -> Progress:
    """Train a model until its steps or its patience are over; leave it with what is kept.

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
    biases = list(biases)
    plan = schedule.Plan(regimen, train.steps_per_epoch)
    progress = Progress()
    stepper = Stepper(model, train, plan, seed=seed, biases=biases, progress=progress)
    best_weights = _resume(stepper, progress, checkpoints, plan)
    saved = began = progress.step

    def save() -> None:
        tensors = {
            "weights": checkpoint.weights(model),
            "best": best_weights,
            "moments": checkpoint.moments(stepper.adam, model),
        }
        checkpoints.save(progress.step, tensors, asdict(progress))

    def ended(told: list[int]) -> PoshgridError:
        return signals.ToldToEndError(
            f"{checkpoints.folder}: told to end at step {progress.step:,} of {plan.total:,}; "
            "the same command goes on from there",
            told,
            progress.step - began,
        )

    with signals.told_to_end() as told, training(model, regimen):
        # One more round than steps: the last one evaluates and ends.
        left = range(progress.step, plan.total + 1)
        for step in logs.progress(left, "training"):
            due = plan.keeps(step) or plan.evaluates(step) or plan.saves(step)
            asked = bool(told)
            stepper.ledger.settle(due or asked)
            if plan.keeps(step):
                checkpoints.keep(step, checkpoint.weights(model))
            if plan.evaluates(step) and progress.evaluated_at != step and not asked:
                bias.at(biases, model, plan.epoch(step))
                _evaluate(model, dev, plan, progress)
                asked = bool(told)
            if progress.evaluated_at == step:  # just now, or before the job was resumed
                if progress.best_step == step:
                    best_weights = checkpoint.weights(model)
                progress.stopped = plan.over(step, progress.best_step)
                if progress.stopped:
                    break
            if step > saved and (asked or plan.saves(step)):
                save()
                saved = step
            if asked:
                raise ended(told)
            stepper.take(step)
    if regimen.keep == "last":
        if progress.step > saved:
            save()  # what comes after need not train again
        if told:
            raise ended(told)
        return progress
    checkpoint.load_weights(model, best_weights)
    bias.at(biases, model, plan.epoch(progress.best_step))
    return progress


def _resume(
    stepper: Stepper, progress: Progress, checkpoints: Checkpoints, plan: schedule.Plan
) -> dict[str, Tensor]:
    """Load what an earlier attempt left; return its best weights, or the initial ones."""
    initial = checkpoint.weights(stepper.model)
    found = checkpoints.newest()
    if not found:
        return initial
    tensors, past = found
    for name, value in past.items():
        setattr(progress, name, value)
    checkpoint.load_weights(stepper.model, tensors["weights"])
    checkpoint.load_moments(stepper.adam, stepper.model, tensors["moments"])
    log.info("resumed at step %s of %s", f"{progress.step:,}", f"{plan.total:,}")
    return tensors["best"]


def _evaluate(model: PreTrainedModel, dev: Rows, plan: schedule.Plan, progress: Progress) -> None:
    """Take the dev loss, book it and log it."""
    regimen = plan.regimen
    batches = dev.in_order(rows_at_once(regimen, model.device.type))
    progress.evaluated(
        losses.mean(model, alike(model, batches, regimen), regimen.precision),
        epoch=progress.step / plan.steps_per_epoch,
        rate=plan.learning_rate(progress.step - 1) if progress.step else None,
    )
    progress.tell(plan.total)
