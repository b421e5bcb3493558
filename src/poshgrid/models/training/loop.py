"""The training loop: steps, dev losses and checkpoints. It keeps the best or the last weights."""

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
"""The next resumable checkpoint is due after this many seconds, but not before this many times the
time that the last one took. So saving takes at most 5% of the time. It changes no result."""
MAX_NORM = 1.0
"""Largest norm of the gradient; a longer gradient is scaled down to it."""
TOKENS_AT_ONCE = {"cpu": 4_096, "cuda": 16_384}
"""Tokens in a micro-batch, padding included, if the recipe does not give its number of rows."""
PADDING_AT_ONCE = {"cpu": 64, "cuda": 16_384}
"""Most padding in a micro-batch of sentences, in tokens: about as expensive as one more
micro-batch. On a GPU this never splits a batch: one micro-batch of one shape is faster."""


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
    """Train a model until its steps or its patience end, then give it the weights to keep.

    Args:
        model: with its initial weights, on its device; changed in place.
        train: rows to learn from.
        dev: rows that decide which weights are best and when to stop.
        recipe: how to train.
        seed: of the order of rows and of dropout.
        biases: inductive biases, already prepared.
        checkpoints: of this run; an earlier attempt may have written some.

    Raises:
        PoshgridError: the loss is no longer a number, or the job was asked to end.
    """
    biases = list(biases)
    plan, progress = Plan(recipe, train.steps_per_epoch), Progress()
    optimizers = build_optimizers(model, recipe)
    best_weights = checkpoint.weights(model)
    if newest := checkpoints.newest():
        tensors, past = newest
        progress, best_weights = Progress(**past), tensors["best"]
        checkpoint.load_weights(model, tensors["weights"])
        checkpoint.load_moments(optimizers, model, tensors["moments"])
        log.info("resumed at step %s of %s", f"{progress.step:,}", f"{plan.last:,}")
    saved = first = progress.step
    due = time.monotonic() + SAVE_SECONDS

    def save() -> float:
        """Write a resumable checkpoint; return when the next one is due."""
        began = time.monotonic()
        tensors = {
            "weights": checkpoint.weights(model),
            "best": best_weights,
            "moments": checkpoint.moments(optimizers, model),
        }
        checkpoints.save(progress.step, tensors, asdict(progress))
        now = time.monotonic()
        return now + max(SAVE_SECONDS, SAVE_SHARE * (now - began))

    def stop_if_signalled() -> None:
        if received:
            raise signals.StoppedError(
                f"{checkpoints.folder}: stopped by a signal at step {progress.step:,} of "
                f"{plan.last:,}; the same command goes on from there",
                received,
                progress.step - first,
            )

    with signals.collect() as received, training(model, recipe):
        # One round more than steps: the last round only evaluates.
        for step in logs.progress(range(first, plan.last + 1), "training"):
            signalled = bool(received)
            if plan.keeps(step):
                checkpoints.keep(step, checkpoint.weights(model))
            if plan.evaluates(step) and progress.evaluated_at != step and not signalled:
                bias.at(biases, model, plan.epoch(step))
                _evaluate(model, dev, plan, progress)
                signalled = bool(received)
            if progress.evaluated_at == step:  # just now, or before the job was resumed
                if progress.best_step == step:
                    best_weights = checkpoint.weights(model)
                progress.stopped = plan.stop_reason(step, progress.best_step)
                if progress.stopped:
                    break
            if step > saved and (signalled or time.monotonic() >= due):
                due = save()
                saved = step
            if signalled:
                stop_if_signalled()
            began = time.perf_counter()
            counted = training_step(model, optimizers, train, plan, step, seed=seed, biases=biases)
            progress.add_step(*counted, time.perf_counter() - began)
    if recipe.keep == "last":
        if progress.step > saved:
            save()  # so that a later failure needs no new training
        stop_if_signalled()
        return progress
    checkpoint.load_weights(model, best_weights)
    bias.at(biases, model, plan.epoch(progress.best_step))
    return progress


def _evaluate(model: PreTrainedModel, dev: data.Rows, plan: Plan, progress: Progress) -> None:
    """Compute the dev loss, record it and log it."""
    recipe = plan.recipe
    batches = dev.in_order(rows_at_once(recipe, model.device.type))
    progress.add_evaluation(
        losses.mean(model, same_shape_batches(model, batches, recipe), recipe.precision),
        epoch=progress.step / plan.steps_per_epoch,
        rate=plan.learning_rate(progress.step - 1) if progress.step else None,
    )
    progress.log_last_evaluation(plan.last)


# ---- a step ----------------------------------------------------------------------------------


def training_step(
    model: PreTrainedModel,
    optimizers: list[torch.optim.Optimizer],
    train: data.Rows,
    plan: Plan,
    step: int,
    *,
    seed: int,
    biases: list[Bias],
) -> tuple[int, float, float]:
    """Take one step of the optimisers.

    The gradient is that of the mean loss over all predicted tokens of the step; the split into
    micro-batches does not matter.

    Args:
        model: in training mode, on its device; changed in place.
        optimizers: from :func:`build_optimizers`.
        train: rows to learn from.
        plan: the recipe and its learning rates.
        step: counted from 0.
        seed: of dropout.
        biases: inductive biases, already prepared.

    Returns:
        Number of predicted tokens; their summed NLL, and what biases added to it, in nats.

    Raises:
        PoshgridError: the loss is no longer a number.
    """
    batch, recipe, device = train.batch(step), plan.recipe, model.device
    seeds.dropout(seed, step)
    bias.at(biases, model, plan.epoch(step + 1))
    tokens = batch.tokens
    nll, added = (torch.zeros((), dtype=torch.float64, device=device) for _ in range(2))
    limit = rows_at_once(recipe, device.type) * recipe.context_length
    for part in same_shape_batches(model, batch.split(limit, PADDING_AT_ONCE[device.type]), recipe):
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
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["lr"] = plan.learning_rate(step)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return tokens, nll.item(), added.item()


def build_optimizers(model: PreTrainedModel, recipe: Recipe) -> list[torch.optim.Optimizer]:
    """Return AdamW; with ``optimizer: muon``, also Muon for the matrices of layers.

    Weight decay applies to matrices, embeddings included, but not to biases and norms. AdamW has
    betas (0.9, 0.999) and epsilon 1e-8. All this is as in the Hugging Face trainer. The steps of
    Muon (Jordan et al., 2024) are scaled to the size of AdamW's (Liu et al., 2025), so that both
    use the same learning rate and weight decay.
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

    They are the embeddings and the output layer, tied or not; their names do not matter.
    """
    output = model.get_output_embeddings()
    layers = [part for part in model.modules() if isinstance(part, torch.nn.Embedding)]
    identities = {
        id(weight) for layer in [*layers, output] if layer for weight in layer.parameters()
    }
    return {name for name, weight in model.named_parameters() if id(weight) in identities}


def rows_at_once(recipe: Recipe, device: str) -> int:
    """Return how many rows of full context length a micro-batch has; more shorter rows fit.

    Args:
        recipe: may set ``micro_batch_size``.
        device: ``cpu`` or ``cuda``.
    """
    tokens = TOKENS_AT_ONCE[device]
    rows = recipe.micro_batch_size or max(tokens // recipe.context_length, 1)
    return min(rows, recipe.batch_size)


def uses_cuda_graph(recipe: Recipe, device: str) -> bool:
    """Return whether a compiled model runs as a CUDA graph instead of kernel by kernel.

    A CUDA graph always runs the same kernels on the same memory. So all batches must have one
    shape, and a step must be one micro-batch: the next one would overwrite its gradient (torch's
    issue 169545).
    """
    at_once = rows_at_once(recipe, device)
    return device == "cuda" and recipe.input == "packed" and at_once == recipe.batch_size


@contextmanager
def training(model: PreTrainedModel, recipe: Recipe) -> Iterator[None]:
    """Prepare a model for training inside the block: no attention masks, and a compiled body.

    The body is compiled in place, so modules and parameters keep their names. If rows are
    sentences, lengths are dynamic: otherwise each new length would be compiled. An LSTM is never
    compiled: each of its layers is one kernel already, and a graph would break there.
    """
    model.train()
    wanted = {"on": True, "off": False, "auto": model.device.type == "cuda"}[recipe.compile]
    body = model.base_model
    recurrent = any(isinstance(part, torch.nn.RNNBase) for part in body.modules())
    with attention.causal(model), _kernels(recipe):
        if not wanted or recurrent or body is model:
            yield
            return
        mode = "reduce-overhead" if uses_cuda_graph(recipe, model.device.type) else None
        body.compile(dynamic=recipe.input == "sentence", mode=mode)
        try:
            # Only lengths are dynamic: the dropout rate is a constant of the graph.
            with torch._dynamo.config.patch(specialize_float=True):
                yield
        finally:
            body._compiled_call_impl = None


@contextmanager
def _kernels(recipe: Recipe) -> Iterator[None]:
    """Turn off cuDNN's attention for rows of sentences inside the block.

    It plans about 40 ms for every new shape. PyTorch's own kernels take any shape.
    """
    cudnn = torch.backends.cuda.cudnn_sdp_enabled()
    torch.backends.cuda.enable_cudnn_sdp(cudnn and recipe.input == "packed")
    try:
        yield
    finally:
        torch.backends.cuda.enable_cudnn_sdp(cudnn)


def same_shape_batches(
    model: PreTrainedModel, batches: Iterable[data.Batch], recipe: Recipe
) -> Iterator[data.Batch]:
    """Yield batches; if the model is compiled and rows are packed, pad them to one shape.

    The last batch of an epoch or a split is smaller, and would need a new compilation.
    """
    fixed = model.base_model._compiled_call_impl is not None and recipe.input == "packed"
    rows, length = rows_at_once(recipe, model.device.type), recipe.context_length
    for batch in batches:
        yield batch.filled(rows, length) if fixed else batch
