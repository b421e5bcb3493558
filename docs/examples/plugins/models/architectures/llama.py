"""Llama (Touvron et al., 2023)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from poshgrid.core import plugins
from poshgrid.models.initial import normal_

if TYPE_CHECKING:
    from transformers import LlamaForCausalLM

    from poshgrid.models.tokenization.tokenizer import Vocabulary


class Options(plugins.Options):
    """Dimensions of the model."""

    hidden_size: int = Field(gt=0)
    layers: int = Field(gt=0)
    heads: int = Field(gt=0)
    ffn: int = Field(gt=0)


def build(
    options: Options, vocabulary: Vocabulary, *, context_length: int, dropout: float, seed: int
) -> LlamaForCausalLM:
    """Build a model with seeded weights; Llama has dropout in the attention only."""
    from transformers import LlamaConfig, LlamaForCausalLM

    model = LlamaForCausalLM(
        LlamaConfig(
            **vocabulary.settings,
            max_position_embeddings=context_length,
            hidden_size=options.hidden_size,
            num_hidden_layers=options.layers,
            num_attention_heads=options.heads,
            intermediate_size=options.ffn,
            attention_dropout=dropout,
            tie_word_embeddings=True,
        )
    )
    for name, weight in model.named_parameters():
        if weight.dim() > 1:
            normal_(weight, seed, name, 0.02)
    return model.train()
