"""The training loop: forward, backward, clip, step; dev loss now and then; best weights kept."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING

import torch

from poshgrid.config import Recipe
from poshgrid.core import logs
from poshgrid.core.errors import PoshgridError
from poshgrid.models.training import attention, bias, checkpoint, data, losses, seeds, signals
from poshgrid.models.training.bias import Bias
from poshgrid.models.training.checkpoint import Checkpoints
from poshgrid.models.training.progress import Plan, Progress

if TYPE_CHECKING:
    from transformers import PreTrainedModel

log = logs.get(__name__)

SAVE_SECONDS, SAVE_SHARE = 10.0, 20
"""A resumable checkpoint is written after this many seconds, and after this many times the seconds
that the last one took, so that saving takes at most 5% of the time. It changes no result."""
MAX_NORM = 1.0
"""Of the gradient; a longer one is scaled down to it."""
TOKENS_AT_ONCE = {"cpu": 4_096, "cuda": 16_384}
"""Inputs, padding included, of a micro-batch if the recipe does not say how many rows it has."""
PADDING_AT_ONCE = {"cpu": 64, "cuda": 16_384}
"""Padding of a micro-batch of sentences, in tokens: about what another micro-batch would cost. On a
GPU that is all the padding there is: one micro-batch of one shape is faster than several."""


def run(
    model: PreTrainedModel,
    train: data.Rows,
    dev: data.Rows,
    *,
    recipe: Recipe,
    seed: int,
    biases: Iterable[Bias] = (),
    checkpoints: Checkpoints,
) -> Progress:
    """Train a model until its steps or its patience are over; leave it with what is kept.

    Args:
        model: with its initial weights, on its device; changed in place.
        train: rows that are learned from.
        dev: rows that decide which weights are best and when to stop.
        recipe: how.
        seed: of the order of rows and of dropout.
        biases: inductive biases, already prepared.
        checkpoints: where an earlier attempt may have left off.

    Raises:
        PoshgridError: the loss is no longer a number, or the job was asked to end.
    """
    biases = list(biases)
    plan, progress = Plan(recipe, train.steps_per_epoch), Progress()
    steppers = optimizers(model, recipe)
    best_weights = checkpoint.weights(model)
    if newest := checkpoints.newest():
        tensors, past = newest
        progress, best_weights = Progress(**past), tensors["best"]
        checkpoint.load_weights(model, tensors["weights"])
        checkpoint.load_moments(steppers, model, tensors["moments"])
        log.info("resumed at step %s of %s", f"{progress.step:,}", f"{plan.last:,}")
    saved = first = progress.step
    due = time.monotonic() + SAVE_SECONDS

    def save() -> float:
        """Write a resumable checkpoint; return when the next one is due."""
        began = time.monotonic()
        tensors = {
            "weights": checkpoint.weights(model),
            "best": best_weights,
            "moments": checkpoint.moments(steppers, model),
        }
        checkpoints.save(progress.step, tensors, asdict(progress))
        now = time.monotonic()
        return now + max(SAVE_SECONDS, SAVE_SHARE * (now - began))

    def stop_if_asked() -> None:
        if received:
            raise signals.StoppedError(
                f"{checkpoints.folder}: stopped by a signal at step {progress.step:,} of "
                f"{plan.last:,}; the same command goes on from there",
                received,
                progress.step - first,
            )

    with signals.told_to_end() as received, training(model, recipe):
        # One more round than steps: the last one evaluates and ends.
        for step in logs.progress(range(first, plan.last + 1), "training"):
            asked = bool(received)
            if plan.keeps(step):
                checkpoints.keep(step, checkpoint.weights(model))
            if plan.evaluates(step) and progress.evaluated_at != step and not asked:
                bias.at(biases, model, plan.epoch(step))
                _evaluate(model, dev, plan, progress)
                asked = bool(received)
            if progress.evaluated_at == step:  # just now, or before the job was resumed
                if progress.best_step == step:
                    best_weights = checkpoint.weights(model)
                progress.stopped = plan.over(step, progress.best_step)
                if progress.stopped:
                    break
            if step > saved and (asked or time.monotonic() >= due):
                due = save()
                saved = step
            if asked:
                stop_if_asked()
            began = time.perf_counter()
            taken = take(model, train, plan, step, seed=seed, biases=biases, steppers=steppers)
            progress.book(*taken, time.perf_counter() - began)
    if recipe.keep == "last":
        if progress.step > saved:
            save()  # what comes after need not train again
        stop_if_asked()
        return progress
    checkpoint.load_weights(model, best_weights)
    bias.at(biases, model, plan.epoch(progress.best_step))
    return progress


def _evaluate(model: PreTrainedModel, dev: data.Rows, plan: Plan, progress: Progress) -> None:
    """Take the dev loss, book it and log it."""
    recipe = plan.recipe
    batches = dev.in_order(rows_at_once(recipe, model.device.type))
    progress.evaluated(
        losses.mean(model, alike(model, batches, recipe), recipe.precision),
        epoch=progress.step / plan.steps_per_epoch,
        rate=plan.learning_rate(progress.step - 1) if progress.step else None,
    )
    progress.tell(plan.last)


# ---- a step ----------------------------------------------------------------------------------


def take(
    model: PreTrainedModel,
    train: data.Rows,
    plan: Plan,
    step: int,
    *,
    seed: int,
    biases: list[Bias],
    steppers: list[torch.optim.Optimizer],
) -> tuple[int, float, float]:
    """Take a step of the optimisers.

    The gradient is that of the mean over the step's predicted tokens, however they are split into
    micro-batches.

    Args:
        model: in training, on its device; changed in place.
        train: rows that are learned from.
        plan: the recipe and its learning rates.
        step: counted from 0.
        seed: of dropout.
        biases: inductive biases, already prepared.
        steppers: from :func:`optimizers`.

    Returns:
        Predicted tokens; NLL, and what biases added to it: nats, summed over the tokens.

    Raises:
        PoshgridError: the loss is no longer a number.
    """
    batch, recipe, device = train.batch(step), plan.recipe, model.device
    seeds.dropout(seed, step)
    bias.at(biases, model, plan.epoch(step + 1))
    tokens = batch.tokens
    nll, added = (torch.zeros((), dtype=torch.float64, device=device) for _ in range(2))
    at_once = rows_at_once(recipe, device.type) * recipe.context_length
    for part in alike(model, batch.split(at_once, PADDING_AT_ONCE[device.type]), recipe):
        loss = losses.summed(model, part, recipe.precision)
        nll += loss.detach()
        for term in biases:
            penalty = term.penalty(model, part)
            if penalty is not None:
                loss = loss + penalty
                added += penalty.detach()
        (loss / tokens).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), MAX_NORM, foreach=True)
    total = nll.item() + added.item()
    if not math.isfinite(total):  # before weights change
        raise PoshgridError(
            f"training: the loss is {total} at step {step:,}; lower learning_rate "
            f"({recipe.learning_rate:g}) or raise warmup_steps in recipe {recipe.name!r}"
        )
    for optimizer in steppers:
        for group in optimizer.param_groups:
            group["lr"] = plan.learning_rate(step)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return tokens, nll.item(), added.item()


def optimizers(model: PreTrainedModel, recipe: Recipe) -> list[torch.optim.Optimizer]:
    """Return AdamW with weight decay on matrices, embeddings included, not on biases and norms.

    That is what the Hugging Face trainer does, with its betas (0.9, 0.999) and epsilon (1e-8).
    With ``muon``, a second optimiser takes the matrices of layers: Muon (Jordan et al., 2024),
    whose steps are scaled to the size of AdamW's (Liu et al., 2025), so that learning rate and
    weight decay serve both.
    """
    named, kept = dict(model.named_parameters()), tables(model)
    matrices = [name for name in named if named[name].dim() == 2 and name not in kept]
    by_muon = matrices if recipe.optimizer == "muon" else []
    weights = [weight for name, weight in named.items() if name not in by_muon]
    groups = [
        {"params": [w for w in weights if w.dim() > 1], "weight_decay": recipe.weight_decay},
        {"params": [w for w in weights if w.dim() <= 1], "weight_decay": 0.0},
    ]
    rate, decay = recipe.learning_rate, recipe.weight_decay
    adam = torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.999), eps=1e-8, fused=True)
    if not by_muon:
        return [adam]
    layers, like = [named[name] for name in by_muon], "match_rms_adamw"
    return [adam, torch.optim.Muon(layers, rate, decay, adjust_lr_fn=like)]


def tables(model: PreTrainedModel) -> set[str]:
    """Return the names of the parameters whose rows are tokens or positions.

    They are the embeddings and the output layer, tied or not. What they are called does not matter.
    """
    output = model.get_output_embeddings()
    layers = [part for part in model.modules() if isinstance(part, torch.nn.Embedding)]
    identities = {
        id(weight) for layer in [*layers, output] if layer for weight in layer.parameters()
    }
    return {name for name, weight in model.named_parameters() if id(weight) in identities}


def rows_at_once(recipe: Recipe, device: str) -> int:
    """Return the rows of a micro-batch that are as long as the context; of shorter ones, more fit.

    Args:
        recipe: may say it.
        device: ``cpu`` or ``cuda``.
    """
    tokens = TOKENS_AT_ONCE[device]
    rows = recipe.micro_batch_size or max(tokens // recipe.context_length, 1)
    return min(rows, recipe.batch_size)


def replayed(recipe: Recipe, device: str) -> bool:
    """Tell whether a compiled model is replayed as a CUDA graph, not launched kernel by kernel.

    Its kernels and their memory are then always the same: rows must be of one shape, and a step's
    gradient that of one micro-batch (torch's issue 169545: the next would overwrite it).
    """
    at_once = rows_at_once(recipe, device)
    return device == "cuda" and recipe.input == "packed" and at_once == recipe.batch_size


@contextmanager
def training(model: PreTrainedModel, recipe: Recipe) -> Iterator[None]:
    """Train a model for a time: attention without masks; its body compiled where that is wanted.

    It is compiled in place: modules and parameters keep their names. Lengths are dynamic where rows
    are sentences, or every length would be compiled anew. An LSTM is not compiled: its layers are
    one kernel each already, at which a graph would break.
    """
    model.train()
    wanted = {"on": True, "off": False, "auto": model.device.type == "cuda"}[recipe.compile]
    body = model.base_model
    recurrent = any(isinstance(part, torch.nn.RNNBase) for part in body.modules())
    with attention.causal(model), _kernels(recipe):
        if not wanted or recurrent or body is model:
            yield
            return
        mode = "reduce-overhead" if replayed(recipe, model.device.type) else None
        body.compile(dynamic=recipe.input == "sentence", mode=mode)
        try:
            # Dynamic is what is said of lengths: the share of dropout is no input of the graph.
            with torch._dynamo.config.patch(specialize_float=True):
                yield
        finally:
            body._compiled_call_impl = None


@contextmanager
def _kernels(recipe: Recipe) -> Iterator[None]:
    """Keep cuDNN's attention from sentences: it makes a plan for every new shape, some 40 ms long.

    PyTorch's own kernels take any shape.
    """
    cudnn = torch.backends.cuda.cudnn_sdp_enabled()
    torch.backends.cuda.enable_cudnn_sdp(cudnn and recipe.input == "packed")
    try:
        yield
    finally:
        torch.backends.cuda.enable_cudnn_sdp(cudnn)


def alike(
    model: PreTrainedModel, batches: Iterable[data.Batch], recipe: Recipe
) -> Iterator[data.Batch]:
    """Yield batches; packed ones for a compiled model all of one shape.

    The last of an epoch or of a split is smaller, and the model would be compiled anew for it.
    """
    fixed = model.base_model._compiled_call_impl is not None and recipe.input == "packed"
    rows, length = rows_at_once(recipe, model.device.type), recipe.context_length
    for batch in batches:
        yield batch.filled(rows, length) if fixed else batch
