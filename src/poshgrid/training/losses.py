"""Negative log-likelihood of token rows, in nats, padding left out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from poshgrid.training import fused
from poshgrid.training.data import IGNORED, Batch

if TYPE_CHECKING:
    from transformers import PreTrainedModel

FUSED = frozenset(
    {"GPT2LMHeadModel", "GPT2RecencyLMHeadModel", "LSTMForCausalLM", "RobertaForMaskedLM"}
)
"""Models whose scores are a linear output layer of the last hidden states, and nothing more."""


def summed(model: PreTrainedModel, batch: Batch, precision: str = "float32") -> Tensor:
    """Return the NLL summed over a batch's predicted tokens: a float32 scalar, nats.

    Causal rows are padded on the right, where attention does not look, so they need no mask. The
    scores of :data:`FUSED` models are never there all at once, and not at all where nothing is
    predicted (:mod:`poshgrid.training.fused`); any other model, a subclass too, returns its own.

    Args:
        model: a causal language model, or a masked one.
        batch: token rows.
        precision: ``bf16`` runs the forward pass under autocast; the loss is float32 in any case.
    """
    device, flat = model.device, batch.targets.reshape(-1)
    # Counted here, as the device would have to be waited for to say how many they are.
    places = np.flatnonzero(flat != IGNORED)
    targets = on_device(flat[places], device)
    where = None if len(places) == len(flat) else on_device(places, device)
    given: dict[str, Tensor] = {"input_ids": on_device(batch.inputs, device)}
    if batch.seen is not None:
        # As attention takes it: transformers would build one of [rows, 1, length, length].
        given["attention_mask"] = on_device(batch.seen[:, None, None], device)
    loss = _fused if type(model).__name__ in FUSED else _own
    return loss(model, given, where, targets, precision == "bf16")


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
