"""GPT-2 whose attention prefers near tokens: ``m * (j - i)`` is added to each attention score.

``i`` is the position of the query, ``j`` that of the key, and ``m``, the same in all heads and
layers, is ``recency`` in ``config.json`` (Mita et al., 2025: "Developmentally-plausible working
memory shapes a critical period for language acquisition", ACL). With ``m`` zero it is GPT-2.

Every model folder holds a copy of this file, so that the model can be opened without this package::

    AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=True)

The bias is part of the attention mask; attention itself is that of GPT-2.
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


class GPT2RecencyConfig(GPT2Config):
    """GPT-2's configuration and ``recency``, the factor ``m`` of the bias."""

    model_type = "poshgrid-gpt2-recency"
    recency: float | int = 0.0


class GPT2RecencyModel(GPT2Model):
    """GPT-2's body with the bias in every layer."""

    config: GPT2RecencyConfig
    slope: Tensor

    def __init__(self, config: GPT2RecencyConfig) -> None:
        super().__init__(config)
        # A tensor, so that a new m needs no new compilation
        self.register_buffer("slope", torch.tensor(float(config.recency)), persistent=False)
        self.post_init()

    def _init_weights(self, module: nn.Module) -> None:
        super()._init_weights(module)
        if module is self:  # the file of weights does not hold it
            initialization.constant_(self.slope, self.config.recency)

    def forward(
        self,
        input_ids: Tensor,
        past_key_values: Any = None,  # noqa: ANN401 - any cache of transformers
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        **kwargs: Any,  # noqa: ANN401 - GPT-2's own
    ) -> Any:  # noqa: ANN401
        """Run the body of GPT-2; the bias uses ``position_ids``, too."""
        past = past_key_values.get_seq_length() if past_key_values is not None else 0
        index = torch.arange(past + input_ids.shape[1], device=input_ids.device)
        queries = index[None, past:] if position_ids is None else position_ids
        # The last key has the position of the last query; cached keys have those just before
        keys = index + queries[:, -1:] - index[-1] if past else queries
        seen = index <= index[past:, None]
        if attention_mask is not None and attention_mask.ndim == 4:  # 0 or True: seen
            seen = attention_mask if attention_mask.dtype == torch.bool else attention_mask == 0
        elif attention_mask is not None:
            seen = seen & attention_mask[:, None, None].bool()
        bias = self.slope * (keys[:, None, None] - queries[:, None, :, None])
        lowest = torch.finfo(self.dtype).min
        return super().forward(
            input_ids=input_ids,
            past_key_values=past_key_values,
            attention_mask=bias.to(self.dtype).masked_fill(~seen, lowest),
            position_ids=queries,
            **kwargs,
        )


class GPT2RecencyLMHeadModel(GPT2LMHeadModel):
    """The language model of :class:`GPT2RecencyModel`; its weights have the names of GPT-2's."""

    config: GPT2RecencyConfig
    config_class = GPT2RecencyConfig
    transformer: GPT2RecencyModel

    def __init__(self, config: GPT2RecencyConfig) -> None:
        super().__init__(config)
        self.transformer = GPT2RecencyModel(config)
        self._held = config.recency  # the value in its buffer
        self.post_init()

    def set_recency(self, m: float, *, saved: float | None = None) -> None:
        """Set the strength of the bias.

        Args:
            m: factor of the bias from now on.
            saved: the factor in ``config.json``; None for ``m``.
        """
        # This runs before every step, mostly with the same m; filling would wait for the GPU.
        if m != self._held:
            self.transformer.slope.fill_(m)
            self._held = m
        self.config.recency = float(m if saved is None else saved)


def register() -> None:
    """Make transformers' ``Auto`` classes know the model, so that no code of a folder is run."""
    AutoConfig.register(GPT2RecencyConfig.model_type, GPT2RecencyConfig, exist_ok=True)
    AutoModelForCausalLM.register(GPT2RecencyConfig, GPT2RecencyLMHeadModel, exist_ok=True)


GPT2RecencyConfig.register_for_auto_class()
GPT2RecencyLMHeadModel.register_for_auto_class("AutoModelForCausalLM")
