"""Negative log-likelihood of token rows, in nats, padding left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor

from poshgrid import logs
from poshgrid.training import fused
from poshgrid.training.data import IGNORED, Batch

if TYPE_CHECKING:
    from transformers import PreTrainedModel

log = logs.get(__name__)
TOLERANCE = 1e-5
"""Of the fused loss and its gradients, relative to those of the model's own forward pass."""
_FACTORS = (1.0, 2.0**10)  # powers of two: weights get their bits back
_fused_models: WeakKeyDictionary[PreTrainedModel, bool] = WeakKeyDictionary()


def summed(model: PreTrainedModel, batch: Batch, precision: str = "float32") -> Tensor:
    """Return the NLL summed over a batch's predicted tokens: a float32 scalar, nats.

    Causal rows are padded on the right, where attention does not look, so they need no mask. Where
    :func:`fuses` allows it, the scores are never there all at once, and not at all where nothing
    is predicted (:mod:`poshgrid.training.fused`); any other model returns them itself.

    Args:
        model: a causal language model, or a masked one.
        batch: token rows.
        precision: ``bf16`` runs the forward pass under autocast; the loss is float32 in any case.
    """
    device, flat = model.device, batch.targets.reshape(-1)
    # Found here, as the device would have to be waited for to say how many they are.
    places = np.flatnonzero(flat != IGNORED)
    targets = on_device(flat[places], device)
    where = None if len(places) == len(flat) else on_device(places, device)
    given: dict[str, Tensor] = {"input_ids": on_device(batch.inputs, device)}
    if batch.seen is not None:
        # As attention takes it: transformers would build one of [rows, 1, length, length].
        given["attention_mask"] = on_device(batch.seen[:, None, None], device)
    loss = _fused if fuses(model) else _own
    return loss(model, given, where, targets, precision == "bf16")


def fuses(model: PreTrainedModel) -> bool:
    """Return whether the fused output layer gives the loss and gradients of a model's own forward.

    It is tried once for each model, on 16 tokens, in training mode and from one random state, which
    is restored afterwards. The second try makes the last hidden states and the output weights 1,024
    times as large, because a clamp or cap of scores does nothing at initial weights.
    """
    if model not in _fused_models:
        _fused_models[model] = _agree(model)
        if not _fused_models[model]:
            log.info("the model's own forward pass gives the loss: the fused one gives another")
    return _fused_models[model]


def _agree(model: PreTrainedModel) -> bool:
    body, output, device = model.base_model, model.get_output_embeddings(), model.device
    if body is model or output is None:
        return False
    types = min(output.weight.shape[0], model.get_input_embeddings().num_embeddings)
    ids = (torch.arange(16, device=device) * types // 16).reshape(8, 2)  # fits any context
    given, where = {"input_ids": ids}, torch.arange(1, 16, 3, device=device)
    states: list[Tensor] = []
    factor = 1.0

    def enlarge(_body: object, _given: object, found: Any) -> Any:  # noqa: ANN401
        states.append((found.last_hidden_state.detach() * factor).requires_grad_())
        found.last_hidden_state = states[-1]  # gradients end here: the body's need no comparison
        return found

    def tried(loss: Callable[..., Tensor]) -> list[Tensor]:
        torch.manual_seed(0)  # the same dropout
        nll = loss(model, given, where, ids.flatten()[where], False)
        return [nll.detach(), *torch.autograd.grad(nll, [states[-1], *output.parameters()])]

    training, hook = model.training, body.register_forward_hook(enlarge)
    try:
        model.train()
        with (
            torch.random.fork_rng([device] if device.type == "cuda" else []),
            torch.inference_mode(mode=False),
            torch.enable_grad(),
        ):
            for factor in _FACTORS:
                with torch.no_grad():
                    output.weight *= factor
                try:
                    fused, own = tried(_fused), tried(_own)
                finally:
                    with torch.no_grad():
                        output.weight /= factor
                if not all(
                    (one - other).norm() <= TOLERANCE * other.norm()
                    for one, other in zip(fused, own, strict=True)
                ):
                    return False
    except (AttributeError, TypeError, ValueError, RuntimeError):
        return False  # the model has no such parts
    finally:
        hook.remove()
        model.train(training)
    return True


def _own(
    model: PreTrainedModel,
    given: dict[str, Tensor],
    where: Tensor | None,
    targets: Tensor,
    low: bool,
) -> Tensor:
    """Return the loss of the scores that the model returns itself."""
    with torch.autocast(model.device.type, torch.bfloat16, enabled=low):
        scores = _chosen(model(**given, use_cache=False).logits, where)
    return torch.nn.functional.cross_entropy(scores.float(), targets, reduction="sum")


def _fused(
    model: PreTrainedModel,
    given: dict[str, Tensor],
    where: Tensor | None,
    targets: Tensor,
    low: bool,
) -> Tensor:
    """Return the loss of a linear output layer, after RoBERTa's small network if there is one."""
    body, output = model.base_model, model.get_output_embeddings()
    head: Any = getattr(model, "lm_head", None)
    with torch.autocast(model.device.type, torch.bfloat16, enabled=low):
        hidden = _chosen(body(**given, use_cache=False).last_hidden_state, where)
        if hasattr(head, "dense"):
            hidden = head.layer_norm(torch.nn.functional.gelu(head.dense(hidden)))
    dtype = torch.bfloat16 if low else None
    compiled = model.device.type == "cuda" and body._compiled_call_impl is not None
    return fused.cross_entropy(
        hidden, output.weight, output.bias, targets, dtype, compiled=compiled
    )


def mean(model: PreTrainedModel, batches: Iterable[Batch], precision: str) -> float:
    """Return the mean NLL per predicted token over batches, without dropout; nats.

    Sums are taken in float64, and in the batches' order, so that the value is reproducible.
    """
    training = model.training
    model.eval()
    total, tokens = torch.zeros((), dtype=torch.float64, device=model.device), 0
    with torch.inference_mode():
        for batch in batches:
            total += summed(model, batch, precision)
            tokens += batch.tokens
    model.train(training)
    return total.item() / tokens


def _chosen(states: Tensor, where: Tensor | None) -> Tensor:
    """Return the states of the positions where something is predicted, [positions, width]."""
    flat = states.flatten(0, 1)
    return flat if where is None else flat.index_select(0, where)


def on_device(array: np.ndarray, device: torch.device) -> Tensor:
    """Return an array on the device; a GPU takes it from pinned memory, without a wait."""
    found = torch.from_numpy(np.ascontiguousarray(array))
    if device.type == "cuda":
        found = found.pin_memory()
    return found.to(device, non_blocking=True)
