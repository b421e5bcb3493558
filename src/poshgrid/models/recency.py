"""GPT-2 whose attention prefers near tokens: ``m * (j - i)`` is added to each attention score.

``i`` is the position of the query, ``j`` that of the key, and ``m``, the same in all heads and
layers, is ``recency`` in ``config.json`` (Mita et al., 2025: "Developmentally-plausible working
memory shapes a critical period for language acquisition", ACL). With ``m`` zero it is GPT-2.

Every model folder holds a copy of this file, so that the model can be had without the package that
trained it::

    AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=True)

A bias that is the product of a number of the query and a number of the key needs no mask: queries
and keys get a few dimensions more, whose dot product is the bias. So attention runs in the same
kernels as without it, FlashAttention included. The keys of a cache hold their positions.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    GPT2Model,
    initialization,
)
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
from transformers.models.gpt2.modeling_gpt2 import GPT2Attention, eager_attention_forward

WIDTH = 8  # dimensions more; fused kernels want head dimensions that eight divides
BASE = 16  # a position is BASE * a + b: both are exact in bfloat16 up to position 4,095
PARTS = 3  # numbers of bfloat16 that a number of float32 is the sum of


class GPT2RecencyConfig(GPT2Config):
    """GPT-2's configuration and ``recency``, the factor ``m`` of the bias."""

    model_type = "poshgrid-gpt2-recency"
    recency: float | int = 0.0


class GPT2RecencyAttention(GPT2Attention):
    """Self-attention with the bias; its weights have GPT-2's names."""

    def forward(  # type: ignore[override]  # by keyword, as GPT-2's block calls it
        self,
        hidden_states: Tensor,
        past_key_values: Any = None,  # noqa: ANN401 - any cache of transformers
        attention_mask: Tensor | None = None,
        *,
        recency: tuple[Tensor, Tensor],
        **kwargs: Any,  # noqa: ANN401 - for the attention function
    ) -> tuple[Tensor, Tensor | None]:
        """Attend, with the columns that :meth:`GPT2RecencyModel.columns` made."""
        rows, length, _ = hidden_states.shape
        heads, width = self.num_heads, self.head_dim
        projected = self.c_attn(hidden_states).view(rows, length, 3, heads, width)
        query, key, value = projected.unbind(2)
        of_query, of_key = (
            columns.to(query.dtype).expand(rows, length, heads, -1) for columns in recency
        )
        # Scaled here, for the bias is added after scaling. Those columns first: near keys' large
        # terms cancel before the small ones are added.
        query = torch.cat([of_query, query * self.scaling], -1).transpose(1, 2)
        key = torch.cat([of_key, key], -1).transpose(1, 2)
        # Fused kernels want values as wide as keys.
        value = nn.functional.pad(value, (0, WIDTH)).transpose(1, 2)
        if past_key_values is not None:
            key, value = past_key_values.update(key, value, self.layer_idx)
        attend = ALL_ATTENTION_FUNCTIONS.get_interface(
            self.config._attn_implementation, eager_attention_forward
        )
        attended, weights = attend(
            self,
            query,
            key,
            value,
            attention_mask,
            dropout=self.attn_dropout.p if self.training else 0.0,
            scaling=1.0,
            **kwargs,
        )
        attended = attended[..., :width].reshape(rows, length, heads * width)
        return self.resid_dropout(self.c_proj(attended)), weights


class GPT2RecencyModel(GPT2Model):
    """GPT-2's body with the bias in every layer."""

    config: GPT2RecencyConfig
    parts: Tensor

    def __init__(self, config: GPT2RecencyConfig) -> None:
        super().__init__(config)
        for layer, block in enumerate(self.h):
            block.attn = GPT2RecencyAttention(config, layer_idx=layer)
        # A tensor, so that a compiled model is not compiled anew when m changes; in parts, so that
        # it stays exact in half precision.
        self.register_buffer("parts", parts(config.recency), persistent=False)
        self.post_init()

    def _init_weights(self, module: nn.Module) -> None:
        super()._init_weights(module)
        if module is self:  # what is not in the file of weights is empty after loading
            initialization.copy_(self.parts, parts(self.config.recency))

    def columns(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Return what queries and keys get: their dot product is ``m * (j - i)``.

        Args:
            positions: of the tokens, [rows or 1, length].

        Returns:
            The columns of queries and of keys, each [rows or 1, length, 1, WIDTH]. They are exact
            even in bfloat16 but for the queries' share, ``-m * i``, which keeps the numbers small;
            it is the same for every key, so that softmax does not see how it is rounded.
        """
        high = positions.div(BASE, rounding_mode="floor").to(torch.float32)
        low = positions.remainder(BASE).to(torch.float32)
        one, nothing = torch.ones_like(low), torch.zeros_like(low)
        first, second, third = self.parts.to(torch.float32)
        query = torch.stack(
            [
                BASE * first * one,
                -first * positions,
                first * one,
                BASE * second * one,
                second * one,
                BASE * third * one,
                third * one,
                nothing,
            ],
            -1,
        )
        key = torch.stack([high, one, low, high, low, high, low, nothing], -1)
        return query[:, :, None], key[:, :, None]

    def forward(
        self,
        input_ids: Tensor,
        past_key_values: Any = None,  # noqa: ANN401 - any cache of transformers
        position_ids: Tensor | None = None,
        **kwargs: Any,  # noqa: ANN401 - GPT-2's own
    ) -> Any:  # noqa: ANN401
        """Run GPT-2's body; ``position_ids`` are the positions of the bias too."""
        if position_ids is None:
            past = past_key_values.get_seq_length() if past_key_values is not None else 0
            position_ids = torch.arange(input_ids.shape[1], device=input_ids.device)[None] + past
        return super().forward(
            input_ids=input_ids,
            past_key_values=past_key_values,
            position_ids=position_ids,
            recency=self.columns(position_ids),
            **kwargs,
        )


class GPT2RecencyLMHeadModel(GPT2LMHeadModel):
    """A causal language model of :class:`GPT2RecencyModel`; its weights have GPT-2's names."""

    config: GPT2RecencyConfig
    config_class = GPT2RecencyConfig
    transformer: GPT2RecencyModel

    def __init__(self, config: GPT2RecencyConfig) -> None:
        super(GPT2LMHeadModel, self).__init__(config)  # whose body would be another
        self.transformer = GPT2RecencyModel(config)
        self._held = config.recency  # what its buffer holds
        self.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        self.post_init()

    def set_recency(self, m: float, *, saved: float | None = None) -> None:
        """Change the bias.

        Args:
            m: factor of the bias from now on.
            saved: what ``config.json`` will say; None for ``m``.
        """
        # Before every step, mostly with the same m: a GPU would have to be waited for.
        if m != self._held:
            with torch.no_grad():
                self.transformer.parts.copy_(parts(m))
            self._held = m
        self.config.recency = float(m if saved is None else saved)


def parts(m: float) -> Tensor:
    """Return three numbers of bfloat16, as float32, whose sum is ``m`` to float32's precision."""
    numbers, rest = [], float(m)
    for _ in range(PARTS):
        numbers.append(torch.tensor(rest, dtype=torch.float64, device="cpu").bfloat16().item())
        rest -= numbers[-1]
    return torch.tensor(numbers, dtype=torch.float32)


def register() -> None:
    """Teach the auto classes this model, so that a folder loads without running its own code."""
    AutoConfig.register(GPT2RecencyConfig.model_type, GPT2RecencyConfig, exist_ok=True)
    AutoModelForCausalLM.register(GPT2RecencyConfig, GPT2RecencyLMHeadModel, exist_ok=True)


GPT2RecencyConfig.register_for_auto_class()
GPT2RecencyLMHeadModel.register_for_auto_class("AutoModelForCausalLM")
