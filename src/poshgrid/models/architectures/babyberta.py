"""BabyBERTa (Huebner et al., 2021): a small RoBERTa that never predicts unmasked tokens.

Dimensions are those of the paper's section 2.1 and Table 3; the masks are
:mod:`poshgrid.training.masking`'s. What the paper leaves at the defaults of the library is
RoBERTa's: learned positions, exact GELU, layer norms after each block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pydantic import Field, model_validator

from poshgrid.config.base import Depth, Width
from poshgrid.models.initial import draw
from poshgrid.models.masked import Masking

if TYPE_CHECKING:
    from transformers import RobertaForMaskedLM

OBJECTIVE = "masked"
DEVIATION = 0.02  # of the initial weights (Table 3: weight initializer range)
EPSILON = 1e-5  # of the layer norms (Table 3)


class Options(Masking):
    """Dimensions of a BabyBERTa, and its masks."""

    hidden_size: Width = Field(256, description="width; a multiple of `heads`")
    layers: Depth = Field(8, description="layers")
    heads: Depth = Field(8, description="attention heads of a layer")
    ffn: Width = Field(1_024, description="width of the feed-forward layers")

    @model_validator(mode="after")
    def _divisible(self) -> Self:
        if self.hidden_size % self.heads:
            raise ValueError(
                f"hidden_size {self.hidden_size} is not divisible by {self.heads} heads"
            )
        return self


def build(
    options: Options,
    *,
    vocabulary_size: int,
    context_length: int,
    dropout: float,
    boundary_id: int,
    padding_id: int,
    seed: int,
) -> RobertaForMaskedLM:
    """Build a model with seeded initial weights and tied embeddings, in training mode.

    Args:
        options: dimensions.
        vocabulary_size: number of token types; the mask has the embedding after them.
        context_length: the longest input, in tokens, boundaries included.
        dropout: of embeddings, attention and residuals alike.
        boundary_id: id of the token that opens and closes a sentence.
        padding_id: id of the padding token.
        seed: of the initial weights; the global random state is left alone.
    """
    import torch
    from transformers import RobertaConfig, RobertaForMaskedLM

    config = RobertaConfig(
        vocab_size=vocabulary_size + 1,
        # RoBERTa counts positions from the one after the padding's id.
        max_position_embeddings=context_length + padding_id + 1,
        hidden_size=options.hidden_size,
        num_hidden_layers=options.layers,
        num_attention_heads=options.heads,
        intermediate_size=options.ffn,
        hidden_act="gelu",
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
        initializer_range=DEVIATION,
        layer_norm_eps=EPSILON,
        type_vocab_size=1,
        bos_token_id=boundary_id,
        eos_token_id=boundary_id,
        pad_token_id=padding_id,
        tie_word_embeddings=True,
    )
    with torch.random.fork_rng(devices=[]):
        model = RobertaForMaskedLM(config)
    model.tie_weights()
    draw(model, seed, lambda _: DEVIATION)
    with torch.no_grad():  # of padding, as in RoBERTa
        for table in (
            model.roberta.embeddings.word_embeddings,
            model.roberta.embeddings.position_embeddings,
        ):
            table.weight[padding_id] = 0.0
    return model.train()
