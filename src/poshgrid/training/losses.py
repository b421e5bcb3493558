"""Negative log-likelihood of token rows, in nats, padding left out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from poshgrid.training.data import IGNORED, Batch

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel


def summed(
    model: PreTrainedModel, batch: Batch, device: torch.device, precision: str = "float32"
) -> torch.Tensor:
    """Return the NLL summed over a batch's predicted tokens: a float32 scalar, nats.

    Rows are padded on the right, where causal attention does not look, so no mask is needed.

    Args:
        model: a causal language model.
        batch: token rows.
        device: where the model is.
        precision: ``bf16`` runs the forward pass under autocast; the loss is float32 in any case.
    """
    import torch

    inputs = torch.from_numpy(batch.inputs).to(device, non_blocking=True)
    targets = torch.from_numpy(batch.targets).to(device, non_blocking=True)
    with torch.autocast(device.type, torch.bfloat16, enabled=precision == "bf16"):
        logits = model(input_ids=inputs, use_cache=False).logits
    return torch.nn.functional.cross_entropy(
        logits.float().flatten(0, 1), targets.flatten(), ignore_index=IGNORED, reduction="sum"
    )


def mean(
    model: PreTrainedModel, batches: Iterable[Batch], device: torch.device, precision: str
) -> float:
    """Return the mean NLL per predicted token over batches, without dropout; nats.

    Sums are taken in float64, and in the batches' order, so that the value is reproducible.
    """
    import torch

    training = model.training
    model.eval()
    total, tokens = 0.0, 0
    with torch.inference_mode():
        for batch in batches:
            total += summed(model, batch, device, precision).item()
            tokens += batch.tokens
    model.train(training)
    return total / tokens
