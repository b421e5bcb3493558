"""A decoder that also learns to predict hidden tokens: GPT-BERT (Charpentier & Samuel, 2024).

One model, that of :mod:`poshgrid.models.architectures.modern`, is trained in two ways. In a share
of the batches, it predicts each next token. In the other batches, some tokens are hidden and
attention sees both sides; a hidden token is predicted from the position before it (*masked
next-token prediction*). :class:`poshgrid.models.training.masking.Hybrid` makes the batches. The
special layers of GPT-BERT (gates and sums of layers) are left out. Dev loss and scores are causal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from poshgrid.models.architectures import modern
from poshgrid.models.architectures.babyberta import Hiding

if TYPE_CHECKING:
    from transformers import Qwen3ForCausalLM

    from poshgrid.models.tokenization.tokenizer import Vocabulary

OBJECTIVE = "hybrid"


class Options(Hiding, modern.Options):
    """Dimensions of the decoder, and which tokens are hidden from it."""

    causal_share: float = Field(
        0.5, ge=0, le=1, description="share of the batches that predict each next token"
    )


def build(
    options: Options, vocabulary: Vocabulary, *, context_length: int, dropout: float, seed: int
) -> Qwen3ForCausalLM:
    """Build the model of `modern` with one more embedding, that of the mask."""
    wider = vocabulary._replace(size=vocabulary.size + 1)
    return modern.build(options, wider, context_length=context_length, dropout=dropout, seed=seed)
