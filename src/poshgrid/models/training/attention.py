"""Train causal models without an attention mask.

Rows are full, or padded on the right. So attention needs only one rule: no token sees a later one.
The fused kernels (FlashAttention on a GPU) follow it without a mask. transformers would build a
mask, which is slow:

1. It checks whether a row holds several texts. A compiled model cannot read the answer, so it makes
   a mask of [rows, 1, length, length], which no flash kernel takes (transformers' issue 48925).
2. A model that is not compiled waits for the GPU twice in each forward pass.

transformers builds masks only for attention functions that have a mask function. :func:`attend` has
none.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor, nn
    from transformers import PreTrainedModel

NAME = "poshgrid-causal"
"""Name of :func:`attend` among the functions of transformers; never in ``config.json``."""
HELD = "attended"
"""Attribute of an attention module whose queries and keys a bias needs: the :class:`Attended` of
the last call, or None."""
PLAIN = frozenset({"GPT2Model", "GPT2RecencyModel", "Qwen3Model"})
"""Bodies that attend to all tokens so far. A subclass may attend to fewer, so it is not in here."""


class Attended(NamedTuple):
    """The arguments of the last call of one attention module."""

    query: Tensor
    """[rows, heads, length, width]"""
    key: Tensor
    scaling: float | None
    mask: Tensor | None


@contextmanager
def causal(model: PreTrainedModel) -> Iterator[None]:
    """Make a model whose body is :data:`PLAIN` use :func:`attend` inside the block.

    Inside the block it ignores masks, except those of four dimensions. Other models do not change.
    """
    config, body = model.config, model.base_model
    before = config._attn_implementation
    if before != "sdpa" or type(body).__name__ not in PLAIN:
        yield
        return
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    ALL_ATTENTION_FUNCTIONS.register(NAME, attend)
    config._attn_implementation = NAME
    # This warning reads the tokens, and so would wait for the GPU.
    body.warn_if_padding_and_no_attention_mask = lambda *_: None  # type: ignore[assignment]  # a method
    try:
        yield
    finally:
        config._attn_implementation = before
        del body.warn_if_padding_and_no_attention_mask


def attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    **_: Any,  # noqa: ANN401 - transformers' own
) -> tuple[Tensor, None]:
    """Attend to the token itself and those before it; with a mask, to all tokens that it shows.

    Args:
        module: attention module. In training, queries and keys are stored in it if a bias needs
            them.
        query: [rows, heads, length, width].
        key: of the same shape.
        value: of the same shape.
        attention_mask: None in most models. A hybrid model that fills gaps: bool, [rows, 1, 1,
            length]. The recency bias: numbers to add to the scores, [1, 1, length, length].
        dropout: share of attention weights that are dropped.
        scaling: factor of the products; None for 1 / sqrt(width).

    Returns:
        [rows, length, heads, width], and None instead of the attention weights.
    """
    from torch.nn.functional import scaled_dot_product_attention

    if hasattr(module, HELD) and module.training:
        setattr(module, HELD, Attended(query, key, scaling, attention_mask))
    attended = scaled_dot_product_attention(
        query, key, value, attention_mask, dropout, is_causal=attention_mask is None, scale=scaling
    )
    return attended.transpose(1, 2).contiguous(), None
