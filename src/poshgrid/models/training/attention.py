"""Attention of causal models in training: no mask is built, none is asked for.

Rows are whole or padded on the right, so "no token sees a later one" is all that attention has to
know, and the fused kernels (FlashAttention on a GPU) know it without a mask. transformers builds
one all the same where it is compiled: it looks for several texts in a row, cannot read the answer,
and makes a mask of [rows, 1, length, length], which no flash kernel takes (its issue 48925); where
it is not compiled, a GPU is waited for twice in each forward pass. An attention function that has
no mask function of its own is given none.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor, nn
    from transformers import PreTrainedModel

NAME = "poshgrid-causal"
"""Of the attention function among those of transformers; never written to ``config.json``."""
HELD = "attended"
"""Attribute of an attention module whose queries and keys a bias needs: an :class:`Attended`, None
before the first call."""
PLAIN = frozenset({"GPT2Model", "GPT2RecencyModel", "Qwen3Model"})
"""Bodies that attend to all tokens so far; one derived from them may have a window of its own."""


class Attended(NamedTuple):
    """What one attention module was called with last."""

    query: Tensor
    """[rows, heads, length, width]"""
    key: Tensor
    scaling: float | None
    mask: Tensor | None


@contextmanager
def causal(model: PreTrainedModel) -> Iterator[None]:
    """Let a model whose body is :data:`PLAIN` attend by :func:`attend` for a time.

    In that time a mask given to the model has four dimensions, or is not looked at. Any other model
    stays as it is.
    """
    config, body = model.config, model.base_model
    before = config._attn_implementation
    if before != "sdpa" or type(body).__name__ not in PLAIN:
        yield
        return
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    ALL_ATTENTION_FUNCTIONS.register(NAME, attend)
    config._attn_implementation = NAME
    # It reads tokens to warn of padding without a mask: a GPU would be waited for.
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
    """Attend to the token itself and those before it; with a mask, to all that the mask shows.

    Args:
        module: of attention; queries and keys are put aside there if a bias needs them, in
            training only.
        query: [rows, heads, length, width].
        key: of the same shape.
        value: of the same shape.
        attention_mask: of a hybrid model that fills gaps: bool, [rows, 1, 1, length]; of the
            recency bias: numbers to be added, [1, 1, length, length].
        dropout: share of attention weights that are dropped.
        scaling: factor of the products; None for 1 / sqrt(width).

    Returns:
        [rows, length, heads, width], and no weights.
    """
    from torch.nn.functional import scaled_dot_product_attention

    if hasattr(module, HELD) and module.training:
        setattr(module, HELD, Attended(query, key, scaling, attention_mask))
    attended = scaled_dot_product_attention(
        query, key, value, attention_mask, dropout, is_causal=attention_mask is None, scale=scaling
    )
    return attended.transpose(1, 2).contiguous(), None
