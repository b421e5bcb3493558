"""A long short-term memory language model (Hochreiter & Schmidhuber, 1997) for transformers.

It has token embeddings, LSTM layers of the same width, and an output layer tied to the embeddings;
dropout follows the embeddings and each layer. It has no positions, so inputs may be of any length.

This file is saved with the weights, so it needs only torch and transformers. Without this package,
``AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=True)`` opens a saved model. With
this package, :func:`register` makes transformers know the model.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    GenerationMixin,
    PretrainedConfig,
    PreTrainedModel,
)
from transformers.modeling_outputs import BaseModelOutput, CausalLMOutput


class LSTMConfig(PretrainedConfig):
    """Dimensions of an LSTM.

    Args:
        vocab_size: number of token types.
        hidden_size: width of embeddings and of every layer.
        num_hidden_layers: number of layers.
        dropout: after the embeddings and after each layer.
        tie_word_embeddings: whether the output layer has the weights of the embeddings.
    """

    model_type = "poshgrid-lstm"
    vocab_size: int = 8_192
    hidden_size: int = 1_024
    num_hidden_layers: int = 2
    dropout: float | int = 0.1
    tie_word_embeddings: bool = True


class LSTMPreTrainedModel(PreTrainedModel):
    """The common base of body and language model."""

    config_class = LSTMConfig
    base_model_prefix = "model"
    _input_embed_layer = "embeddings"


class LSTMModel(LSTMPreTrainedModel):
    """Embeddings and layers.

    Each layer is its own module, with our dropout after it: cuDNN's dropout between layers has a
    random state that no seed resets, so that a resumed run would differ.
    """

    def __init__(self, config: LSTMConfig) -> None:
        super().__init__(config)
        width = config.hidden_size
        self.embeddings: nn.Module = nn.Embedding(config.vocab_size, width)
        self.layers = nn.ModuleList(
            nn.LSTM(width, width, batch_first=True) for _ in range(config.num_hidden_layers)
        )
        self.dropout = nn.Dropout(config.dropout)
        self.post_init()

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        **_: Any,  # noqa: ANN401 - transformers' own
    ) -> BaseModelOutput:
        """Read tokens. Each row begins with a state of zero.

        Args:
            input_ids: token rows, [rows, length].
            attention_mask: 0 at padding, [rows, length]. Padding must be on the right, where no
                token sees it.

        Raises:
            ValueError: padding is before a token, or the mask is not one of padding.
        """
        if attention_mask is not None:
            if attention_mask.dim() != 2:
                raise ValueError("an LSTM reads from left to right: give a mask of two dimensions")
            real = attention_mask.bool()
            if bool((real[:, 1:] > real[:, :-1]).any()):
                raise ValueError("an LSTM would read padding: pad on the right")
        states: Tensor = self.dropout(self.embeddings(input_ids))
        # On a CPU without AVX-512, oneDNN has no LSTM in bfloat16 and raises an error.
        low = torch.is_autocast_enabled("cpu") and torch.ops.mkldnn._is_mkldnn_bf16_supported()
        for layer in self.layers:
            with torch.autocast("cpu", enabled=low):
                states, _state = layer(states)
            states = self.dropout(states)
        return BaseModelOutput(last_hidden_state=states)


class LSTMForCausalLM(LSTMPreTrainedModel, GenerationMixin):
    """The body and an output layer without bias."""

    _tied_weights_keys = {"lm_head.weight": "model.embeddings.weight"}  # noqa: RUF012 - theirs

    def __init__(self, config: LSTMConfig) -> None:
        super().__init__(config)
        self.model = LSTMModel(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.post_init()

    @classmethod
    def _supports_default_dynamic_cache(cls) -> bool:
        return False

    def prepare_inputs_for_generation(
        self,
        input_ids: Tensor,
        *_: Any,  # noqa: ANN401 - transformers' own
        attention_mask: Tensor | None = None,
        **__: Any,  # noqa: ANN401
    ) -> dict[str, Tensor | None]:
        """Return the whole text for each new token: no state is kept between tokens."""
        return {"input_ids": input_ids, "attention_mask": attention_mask}

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        logits_to_keep: int = 0,
        **_: Any,  # noqa: ANN401 - transformers' own
    ) -> CausalLMOutput:
        """Predict the token that follows each token.

        Args:
            input_ids: token rows, [rows, length].
            attention_mask: see :meth:`LSTMModel.forward`.
            logits_to_keep: return logits only for this many last tokens; 0: for all.
        """
        body = self.model(input_ids, attention_mask)
        return CausalLMOutput(logits=self.lm_head(body.last_hidden_state[:, -logits_to_keep:]))


def register() -> None:
    """Make transformers' ``Auto`` classes know the model, so that no code of a folder is run."""
    AutoConfig.register(LSTMConfig.model_type, LSTMConfig, exist_ok=True)
    AutoModelForCausalLM.register(LSTMConfig, LSTMForCausalLM, exist_ok=True)


# Models are saved together with this file.
LSTMConfig.register_for_auto_class()
LSTMForCausalLM.register_for_auto_class("AutoModelForCausalLM")
