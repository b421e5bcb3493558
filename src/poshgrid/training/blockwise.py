"""Causal attention with dropout on a CPU, block by block.

torch's fused kernel for CPUs drops no weights: with dropout, attention makes all [length, length]
weights of all heads at once, those above the diagonal too. Here a block of queries at a time sees
the keys before its end, and only sums are kept for the gradient, which makes each block's weights
anew (Dao et al., 2022: "FlashAttention", algorithms 2 and 4, without their blocks of keys).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

LEAST = 64
"""Length from which it is faster than torch's own."""
_QUERIES = 64
"""Queries of a block: fewer waste less above the diagonal, more keep the products large."""
_WEIGHTS = 2**18
"""Weights at a time: 1 MiB, which stays in a core's cache."""


def attention(query: Tensor, key: Tensor, value: Tensor, dropout: float, scale: float) -> Tensor:
    """Attend to the token itself and those before it, some weights dropped.

    Which ones depends on the state of torch's generator alone.

    Args:
        query: [rows, heads, length, width], float32.
        key: of the same shape.
        value: [rows, heads, length, width of values].
        dropout: share of weights that are dropped, below 1; the others grow by 1 / (1 - dropout).
        scale: factor of the products.

    Returns:
        [rows, heads, length, width of values].
    """
    flat = (each.flatten(0, 1) for each in (query, key, value))
    attended: Tensor = _Attention.apply(*flat, dropout, scale)
    return attended.unflatten(0, query.shape[:2])


class _Attention(torch.autograd.Function):
    """Of [heads of all rows, length, width]."""

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401 - torch's
        query: Tensor,
        key: Tensor,
        value: Tensor,
        dropout: float,
        scale: float,
    ) -> Tensor:
        query, key = query.contiguous(), key.contiguous()
        seed = int(torch.randint(2**62, ()))
        value = value / _kept(dropout)  # instead of the weights
        attended = value.new_empty(*query.shape[:2], value.shape[2])
        for heads, start, end, kept in _blocks(query, seed, dropout):
            weights = _weights(query, key, heads, start, end, scale).mul_(kept)
            torch.bmm(weights, value[heads, :end], out=attended[heads, start:end])
        ctx.save_for_backward(query, key, value, attended)
        ctx.seed, ctx.dropout, ctx.scale = seed, dropout, scale
        return attended

    @staticmethod
    def backward(
        ctx: Any,  # noqa: ANN401 - torch's
        *gradients: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor, None, None]:
        query, key, value, attended = ctx.saved_tensors
        gradient = gradients[0].contiguous()
        of_query, of_key, of_value = map(torch.zeros_like, (query, key, value))
        inner = (gradient * attended).sum(-1, keepdim=True)
        for heads, start, end, kept in _blocks(query, ctx.seed, ctx.dropout):
            weights = _weights(query, key, heads, start, end, ctx.scale)
            mine = gradient[heads, start:end]
            of_weights = torch.bmm(mine, value[heads, :end].mT).mul_(kept)
            of_products = of_weights.sub_(inner[heads, start:end]).mul_(weights)
            of_value[heads, :end].baddbmm_(weights.mul_(kept).mT, mine)
            of_query[heads, start:end].baddbmm_(of_products, key[heads, :end], alpha=ctx.scale)
            of_key[heads, :end].baddbmm_(of_products.mT, query[heads, start:end], alpha=ctx.scale)
        return of_query, of_key, of_value.div_(_kept(ctx.dropout)), None, None


def _kept(dropout: float) -> float:
    """Return the share of weights that stay, as 16 bits can say it."""
    return max(1, round((1 - dropout) * 2**16)) / 2**16


def _blocks(query: Tensor, seed: int, dropout: float) -> Iterator[tuple[slice, int, int, Tensor]]:
    """Yield heads, first and end query of each block, and whether each of its weights stays."""
    number, length, _ = query.shape
    most = int(_kept(dropout) * 2**16) - 2**15 - 1
    bits = np.random.SFC64(seed)  # 10 times as fast as torch's generator
    at_once = max(1, _WEIGHTS // (min(_QUERIES, length) * length))
    for first in range(0, number, at_once):
        heads = slice(first, min(first + at_once, number))
        for start in range(0, length, _QUERIES):
            end = min(start + _QUERIES, length)
            shape = heads.stop - first, end - start, end
            drawn = bits.random_raw(-(-math.prod(shape) // 4)).view(np.int16)
            yield heads, start, end, torch.from_numpy(drawn[: math.prod(shape)]).view(shape) <= most


def _weights(
    query: Tensor, key: Tensor, heads: slice, start: int, end: int, scale: float
) -> Tensor:
    """Return the weights of a block's queries, before any is dropped."""
    products = torch.bmm(query[heads, start:end], key[heads, :end].mT).mul_(scale)
    later = torch.ones(end - start, end - start, dtype=torch.bool).triu_(1)
    products[:, :, start:].masked_fill_(later, -torch.inf)
    return products.softmax(-1)
