"""A modern decoder: rotary positions, RMSNorm, QK-norm, SwiGLU, no biases.

It is Qwen3 of transformers (Qwen Team, 2025) with as many key heads as query heads. Rotary
positions: Su et al., 2021; RMSNorm, before each block: Zhang & Sennrich, 2019; norms of queries and
keys: Dehghani et al., 2023; SwiGLU: Shazeer, 2020. Initial weights are drawn as in GPT-2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from poshgrid.config.base import Width
from poshgrid.models.architectures import gpt2
from poshgrid.models.initial import seeded

if TYPE_CHECKING:
    from torch import Tensor, nn
    from transformers import Qwen3ForCausalLM

    from poshgrid.models.tokenization.tokenizer import Vocabulary


class Options(gpt2.Options):
    """Dimensions of the decoder."""

    multiple = 2  # rotary positions rotate pairs of dimensions

    ffn: Width | None = Field(
        None,
        description=(
            "width of the feed-forward layers, which have three matrices; `null`: 8/3 of "
            "`hidden_size`, to the next multiple of 8: as many weights as GPT-2's"
        ),
    )
    tied: bool = Field(True, description="whether the output layer has the embeddings' weights")


def build(
    options: Options, vocabulary: Vocabulary, *, context_length: int, dropout: float, seed: int
) -> Qwen3ForCausalLM:
    """Build a model with seeded initial weights, in training mode.

    Args:
        options: dimensions.
        vocabulary: of the tokenizer.
        context_length: the longest input, in tokens.
        dropout: rate, the same in embeddings, attention and residuals. Qwen3 has dropout only in
            attention. Hooks add the rest in training; they are not saved with the model.
        seed: of the initial weights; the global random state does not change.
    """
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    config = Qwen3Config(
        **vocabulary.settings,
        max_position_embeddings=context_length,
        hidden_size=options.hidden_size,
        num_hidden_layers=options.layers,
        num_attention_heads=options.heads,
        num_key_value_heads=options.heads,
        head_dim=options.hidden_size // options.heads,
        intermediate_size=options.ffn or -(-options.hidden_size // 3) * 8,
        attention_dropout=dropout,
        tie_word_embeddings=options.tied,
    )
    deviation = gpt2.deviation(options.layers, "o_proj.weight", "down_proj.weight")
    model = seeded(Qwen3ForCausalLM, config, seed, deviation)

    def drop(module: nn.Module, _: object, output: Tensor) -> Tensor:
        return torch.nn.functional.dropout(output, dropout, module.training)

    if dropout:
        model.model.embed_tokens.register_forward_hook(drop)
        for layer in model.model.layers:
            layer.self_attn.o_proj.register_forward_hook(drop)
            layer.mlp.register_forward_hook(drop)
    return model
