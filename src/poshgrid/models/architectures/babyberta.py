"""BabyBERTa (Huebner et al., 2021): a small RoBERTa that never predicts unmasked tokens.

Dimensions are those of the paper's section 2.1 and Table 3. The masks are described in
:mod:`poshgrid.models.training.masking`. Everything else is as in RoBERTa, the default of the
paper's library: learned positions, exact GELU, layer norms after each block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pydantic import Field, model_validator

from poshgrid.config.base import Depth, Width
from poshgrid.core import plugins
from poshgrid.models.architectures import gpt2
from poshgrid.models.initial import seeded

if TYPE_CHECKING:
    from transformers import RobertaForMaskedLM

    from poshgrid.models.tokenization.tokenizer import Vocabulary

OBJECTIVE = "masked"
DEVIATION = 0.02  # of the initial weights (Table 3: weight initializer range)
EPSILON = 1e-5  # of the layer norms (Table 3)


class Hiding(plugins.Options):
    """Which tokens are hidden from a model that predicts hidden tokens."""

    mask: float = Field(
        0.15,
        ge=0.01,
        lt=1,
        description="probability that a token is selected; in each sentence at least one is",
    )
    random: float = Field(
        0.1, ge=0, le=1, description="share of those that a random token replaces"
    )
    unmask: float = Field(0.0, ge=0, le=1, description="share of those that are left as they are")

    @model_validator(mode="after")
    def _shares(self) -> Self:
        for name in ("unmask", "unmask_end"):
            left = getattr(self, name, None) or 0.0
            if self.random + left > 1:
                raise ValueError(
                    f"random {self.random:g} and {name} {left:g} add up to more than 1"
                )
        return self


class Masking(Hiding):
    """Which tokens are hidden, and how often; base class of the ``Options`` of masked models."""

    unmask_end: float | None = Field(
        None,
        ge=0,
        le=1,
        description=(
            "`unmask` at the last step of the recipe; it changes in a straight line from the first "
            "step; `null`: no change"
        ),
    )
    duplicates: int = Field(
        10,
        gt=0,
        le=10_000,
        description="masked copies of every sentence in an epoch",
    )
    sentences: int = Field(1, gt=0, le=1_000, description="consecutive sentences in a row")


class Options(Masking, gpt2.Options):
    """Dimensions of a BabyBERTa, and its masks."""

    hidden_size: Width = Field(256, description="width; a multiple of `heads`")
    layers: Depth = Field(8, description="layers")
    heads: Depth = Field(8, description="attention heads of a layer")
    ffn: Width = Field(1_024, description="width of the feed-forward layers")


def build(
    options: Options, vocabulary: Vocabulary, *, context_length: int, dropout: float, seed: int
) -> RobertaForMaskedLM:
    """Build a model with seeded initial weights and tied embeddings, in training mode.

    Args:
        options: dimensions.
        vocabulary: of the tokenizer; the embedding of the mask comes after its types.
        context_length: the longest input, in tokens, boundaries included.
        dropout: rate, the same in embeddings, attention and residuals.
        seed: of the initial weights; the global random state does not change.
    """
    import torch
    from transformers import RobertaConfig, RobertaForMaskedLM

    config = RobertaConfig(
        **vocabulary._replace(size=vocabulary.size + 1).settings,
        # RoBERTa counts positions from the one after the padding's id.
        max_position_embeddings=context_length + vocabulary.padding_id + 1,
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
        tie_word_embeddings=True,
    )
    model = seeded(RobertaForMaskedLM, config, seed, lambda _: DEVIATION)
    with torch.no_grad():  # padding has zero embeddings, as in RoBERTa
        for table in (
            model.roberta.embeddings.word_embeddings,
            model.roberta.embeddings.position_embeddings,
        ):
            table.weight[vocabulary.padding_id] = 0.0
    return model
