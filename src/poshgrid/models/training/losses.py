"""Negative log-likelihood of token rows, in nats, without padding.

The output layer and its cross-entropy are computed together, a few rows at a time. With 32,768
types, the scores of one batch of 32 x 512 tokens take 2 GB, and a plain loss writes, reads and
stores them several times. Here, the scores of a few rows give their losses; then their gradient is
computed in the same memory. The gradient is used immediately, so the backward pass stores only
tensors of the size of the inputs, never the scores. The idea is from Hsu et al. (2024, Liger
Kernel) and Wijmans et al. (2025, Cut Your Losses in Large-Vocabulary Language Models).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from poshgrid.models.training.data import IGNORED, Batch

if TYPE_CHECKING:
    from transformers import PreTrainedModel

ROWS = {"cpu": 1_024, "cuda": 4_096}
"""Rows whose scores are in memory at a time: enough for fast matrix products."""
SLICE = 2**20
"""Scores to exponentiate at a time on a CPU: 4 MB, which may fit into its cache."""
FUSED = frozenset(
    {
        "GPT2LMHeadModel",
        "GPT2RecencyLMHeadModel",
        "LSTMForCausalLM",
        "Qwen3ForCausalLM",
        "RobertaForMaskedLM",
    }
)
"""Models whose scores are only a linear output layer of the last hidden states."""


def summed(model: PreTrainedModel, batch: Batch, precision: str = "float32") -> Tensor:
    """Return the NLL summed over the predicted tokens of a batch: a float32 scalar, nats.

    Causal rows need no mask: their padding is on the right, where attention does not look. For
    :data:`FUSED` models, :func:`cross_entropy` computes the scores in parts, and only at positions
    that are predicted. Any other model, also a subclass of these, computes all its scores.

    Args:
        model: a causal language model, or a masked one.
        batch: token rows.
        precision: ``bf16`` runs the forward pass under autocast; the loss is float32 in any case.
    """
    device, flat = model.device, batch.targets.reshape(-1)
    # Found on the CPU: asking the device for their number would mean to wait for it.
    places = np.flatnonzero(flat != IGNORED)
    targets = on_device(flat[places], device)
    where = None if len(places) == len(flat) else on_device(places, device)
    arguments: dict[str, Tensor] = {"input_ids": on_device(batch.inputs, device)}
    if batch.seen is not None:
        # In this shape, transformers does not expand it to [rows, 1, length, length].
        arguments["attention_mask"] = on_device(batch.seen[:, None, None], device)
    body, low = model.base_model, precision == "bf16"
    with torch.autocast(device.type, torch.bfloat16, enabled=low):
        if type(model).__name__ not in FUSED:
            scores = _chosen(model(**arguments, use_cache=False).logits, where).float()
            return torch.nn.functional.cross_entropy(scores, targets, reduction="sum")
        hidden = _chosen(body(**arguments, use_cache=False).last_hidden_state, where)
        head: Any = getattr(model, "lm_head", None)
        if hasattr(head, "dense"):  # RoBERTa's small network
            hidden = head.layer_norm(torch.nn.functional.gelu(head.dense(hidden)))
    output, dtype = model.get_output_embeddings(), torch.bfloat16 if low else None
    compiled = device.type == "cuda" and body._compiled_call_impl is not None
    return cross_entropy(hidden, output.weight, output.bias, targets, dtype, compiled=compiled)


def mean(model: PreTrainedModel, batches: Iterable[Batch], precision: str) -> float:
    """Return the mean NLL per predicted token over batches, without dropout; nats.

    It sums in float64, in the order of the batches, so that the value is reproducible.
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
    """Return the states of the positions that are predicted, [positions, width]."""
    flat = states.flatten(0, 1)
    return flat if where is None else flat.index_select(0, where)


def on_device(array: np.ndarray, device: torch.device) -> Tensor:
    """Return an array as a tensor on the device."""
    return torch.from_numpy(np.ascontiguousarray(array)).to(device)


# ---- the output layer and its cross-entropy ---------------------------------------------------


def cross_entropy(
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    targets: Tensor,
    dtype: torch.dtype | None = None,
    *,
    compiled: bool = False,
) -> Tensor:
    """Return the summed NLL of targets under softmax(hidden @ weight.T + bias), a scalar; nats.

    Sums are float32 (float64 for float64 inputs), always in the same order. hidden, weight and bias
    get gradients; there is no second derivative.

    Args:
        hidden: [rows, width].
        weight: [types, width].
        bias: [types], or none.
        targets: int64, [rows].
        dtype: of the matrix products; None: that of ``hidden``. Softmax and loss are float32 even
            if it is bfloat16.
        compiled: compute the softmax in one kernel. Otherwise each operation is a kernel that reads
            and writes all scores: on an H100 that took longer than gpt2-mini's matrix products.
    """
    gradient = torch.is_grad_enabled()
    return _CrossEntropy.apply(
        hidden, weight, bias, targets, dtype or hidden.dtype, compiled, gradient
    )


class _CrossEntropy(torch.autograd.Function):
    """Gradients are computed with the loss, if enabled; the backward pass only scales them."""

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401 - torch's own, without declared attributes
        hidden: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        targets: Tensor,
        dtype: torch.dtype,
        compiled: bool,
        gradient: bool,
    ) -> Tensor:
        exact = torch.float64 if hidden.dtype == torch.float64 else torch.float32
        inputs = (hidden, weight) if bias is None else (hidden, weight, bias)
        gradients = [torch.zeros_like(part, dtype=exact) for part in inputs] if gradient else []
        # The caller's autocast must not change the types of the products and sums below.
        with torch.autocast(hidden.device.type, enabled=False):
            low, matrix = hidden.detach().to(dtype), weight.detach().to(dtype)
            total = hidden.new_zeros((), dtype=exact)
            rows, softmax = ROWS[hidden.device.type], _compiled() if compiled else _softmax
            memory = low.new_empty(min(rows, len(low)), len(matrix))
            for start in range(0, len(low), rows):
                part = slice(start, start + rows)
                scores = memory[: len(low[part])]
                torch.mm(low[part], matrix.t(), out=scores)
                scores, nll, sums = softmax(scores, bias, targets[part], exact, gradient)
                total += nll
                if not gradient:
                    continue
                by_hidden, by_weight, *by_bias = gradients
                by_hidden[part] = torch.mm(scores, matrix).to(exact).div_(sums)
                # Dividing rows of `low` by the sums equals dividing the scores, and is cheaper.
                divided = low[part].div(sums).to(dtype)
                if dtype == exact:
                    by_weight.addmm_(scores.t(), divided)
                else:
                    by_weight += torch.mm(scores.t(), divided)
                if by_bias:
                    by_bias[0] += torch.mv(scores.t().to(exact), sums.reciprocal().squeeze(1))
        both = zip(gradients, inputs, strict=False)
        ctx.save_for_backward(*(made.to(part.dtype) for made, part in both))
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, scale: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        by_hidden, by_weight, *by_bias = (gradient * scale for gradient in ctx.saved_tensors)
        return by_hidden, by_weight, *(by_bias or [None]), *(None,) * 4


def _softmax(
    scores: Tensor, bias: Tensor | None, targets: Tensor, exact: torch.dtype, gradient: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Turn scores, in place, into their gradient times the sum of exponentials of each row.

    Returns:
        Scores (undefined without ``gradient``), NLL, and the sums, [rows, 1].
    """
    types = scores.shape[1]
    rows = max(SLICE // types if scores.device.type == "cpu" else len(scores), 1)
    slices = [slice(start, start + rows) for start in range(0, len(scores), rows)]
    parts = [_exponentiate(scores[at], bias, targets[at], exact, gradient) for at in slices]
    total = sum((nll for nll, _ in parts), scores.new_zeros((), dtype=exact))
    return scores, total, torch.cat([sums for _, sums in parts])


def _exponentiate(
    scores: Tensor, bias: Tensor | None, targets: Tensor, exact: torch.dtype, gradient: bool
) -> tuple[Tensor, Tensor]:
    """Exponentiate a slice in place; return its NLL and the sum of each row."""
    column, values = targets[:, None], scores.to(exact)  # same memory if the type is exact
    if bias is not None:
        values += bias.detach()
    values -= values.amax(1, keepdim=True)
    mine = values.gather(1, column)
    values.exp_()
    sums = values.sum(1, keepdim=True)
    if gradient:
        of_target = values.gather(1, column) - sums
        if values.dtype != scores.dtype:
            scores.copy_(values)
        scores.scatter_(1, column, of_target.to(scores.dtype))
    return (sums.log() - mine).sum(), sums


@functools.cache
def _compiled() -> Callable[..., tuple[Tensor, Tensor, Tensor]]:
    """Return :func:`_softmax` as one kernel; it returns new scores."""

    def whole(scores: Tensor, *others: Any) -> tuple[Tensor, Tensor, Tensor]:  # noqa: ANN401
        copy = scores.clone()  # compiled away; without it, results are copied into scores
        return copy, *_exponentiate(copy, *others)

    return torch.compile(whole)
