"""A long short-term memory language model (Hochreiter & Schmidhuber, 1997) for transformers.

Token embeddings, a stack of LSTM layers of the same width, and an output layer that is tied to the
embeddings; dropout on the embeddings and on what each layer gives. It has no positions, so no
longest input.

The file needs torch and transformers only, because it travels with the weights: elsewhere,
``AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=True)`` opens a saved model. Where
this package is installed, :func:`register` makes it one of transformers' own families.
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
from transformers.modeling_outputs import BaseModelOutputWithPast, CausalLMOutputWithPast


class LSTMConfig(PretrainedConfig):
    """Dimensions of an LSTM.

    Args:
        vocab_size: number of token types.
        hidden_size: width of embeddings and of every layer.
        num_hidden_layers: number of layers.
        dropout: of embeddings and of what each layer gives.
        tie_word_embeddings: whether the output layer has the embeddings' weights.
        kwargs: what every configuration has, e.g. ``bos_token_id``.
    """

    model_type = "poshgrid-lstm"
    keys_to_ignore_at_inference = ("past_key_values",)

    def __init__(
        self,
        vocab_size: int = 8_192,
        hidden_size: int = 1_024,
        num_hidden_layers: int = 2,
        dropout: float = 0.1,
        tie_word_embeddings: bool = True,
        **kwargs: Any,  # noqa: ANN401 - transformers' own
    ) -> None:
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.num_hidden_layers = num_hidden_layers
        self.dropout = dropout
        kwargs["tie_word_embeddings"] = tie_word_embeddings
        super().__init__(**kwargs)


class LSTMState:
    """Hidden and cell state of every layer after the tokens that were read.

    Args:
        layers: (hidden, cell) of each layer, both [1, rows, width].
        tokens: how many were read, padding included.
    """

    is_compileable = False  # transformers asks its caches

    def __init__(self, layers: list[tuple[Tensor, Tensor]], tokens: int) -> None:
        self.layers, self.tokens = layers, tokens

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """Return how many tokens were read; transformers asks its caches."""
        return self.tokens

    def reorder_cache(self, beam_idx: Tensor) -> None:
        """Keep the rows that a beam search goes on with, in its order."""
        self.layers = [
            (hidden.index_select(1, beam_idx), cell.index_select(1, beam_idx))
            for hidden, cell in self.layers
        ]


class LSTMPreTrainedModel(PreTrainedModel):
    """What body and language model have in common."""

    config_class = LSTMConfig
    base_model_prefix = "model"
    _input_embed_layer = "embeddings"
    _is_stateful = True  # a state cannot be taken back to an earlier token


class LSTMModel(LSTMPreTrainedModel):
    """Embeddings and layers.

    Each layer is a module of its own, with our dropout between two: cuDNN's dropout inside a stack
    keeps a random state that no seed resets, so that a resumed run would differ.
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
        past_key_values: LSTMState | None = None,
        use_cache: bool = False,
    ) -> BaseModelOutputWithPast:
        """Read tokens.

        Args:
            input_ids: token rows, [rows, length].
            attention_mask: 0 at padding, which must stand to the right, where nothing sees it,
                [rows, length] or with the columns of earlier tokens before them.
            past_key_values: state to go on from; none: every row begins at zero.
            use_cache: return the state after the last token.

        Raises:
            ValueError: padding stands before a token, or before the state that is asked for; or
                the mask is none of padding.
        """
        length = input_ids.shape[1]
        if attention_mask is not None:
            if attention_mask.dim() != 2:
                raise ValueError("an LSTM reads from left to right: give a mask of two dimensions")
            real = attention_mask[:, -length:].bool()
            if bool((real[:, 1:] > real[:, :-1]).any()) or (use_cache and not bool(real.all())):
                raise ValueError(
                    "an LSTM would read padding: pad on the right, and continue texts of one "
                    "length together"
                )
        states: Tensor = self.dropout(self.embeddings(input_ids))
        after = []
        # On a CPU without AVX-512, oneDNN has no LSTM in bfloat16, and raises.
        low = torch.is_autocast_enabled("cpu") and torch.ops.mkldnn._is_mkldnn_bf16_supported()
        for number, layer in enumerate(self.layers):
            before = past_key_values.layers[number] if past_key_values else None
            with torch.autocast("cpu", enabled=low):
                states, state = layer(states, before)
            after.append(state)
            states = self.dropout(states)
        read = length + (past_key_values.tokens if past_key_values else 0)
        # An LSTMState has what transformers asks of a cache, and is none of its caches.
        state_after: Any = LSTMState(after, read) if use_cache else None
        return BaseModelOutputWithPast(last_hidden_state=states, past_key_values=state_after)


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
        return False  # keys and values of attention; ours is a state

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        past_key_values: LSTMState | None = None,
        use_cache: bool = False,
        logits_to_keep: int = 0,
        **_: Any,  # noqa: ANN401 - what generate() says to every model
    ) -> CausalLMOutputWithPast:
        """Predict the token that follows each token.

        Args:
            input_ids: token rows, [rows, length].
            attention_mask: see :meth:`LSTMModel.forward`.
            past_key_values: state to go on from; none: every row begins at zero.
            use_cache: return the state after the last token.
            logits_to_keep: logits of so many last tokens; 0: of all.
        """
        body = self.model(input_ids, attention_mask, past_key_values, use_cache)
        logits = self.lm_head(body.last_hidden_state[:, -logits_to_keep:])
        return CausalLMOutputWithPast(logits=logits, past_key_values=body.past_key_values)


def register() -> None:
    """Make transformers' ``Auto`` classes know the family, so that no code of a folder is run."""
    AutoConfig.register(LSTMConfig.model_type, LSTMConfig, exist_ok=True)
    AutoModelForCausalLM.register(LSTMConfig, LSTMForCausalLM, exist_ok=True)


# Models are saved together with this file.
LSTMConfig.register_for_auto_class()
LSTMForCausalLM.register_for_auto_class("AutoModelForCausalLM")
