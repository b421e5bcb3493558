"""GPT-2 (Radford et al., 2019) in the sizes of the paper's Table 5.

=============  ===========  ======  =====  =====
model        hidden_size  layers  heads  ffn
=============  ===========  ======  =====  =====
gpt2-mini      512          4       8      2,048
gpt2-xs        512          6       8      2,048
gpt2-xxs       512          6       4      2,048
gpt2-small     768          12      12     3,072
=============  ===========  ======  =====  =====
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pydantic import Field, model_validator

from poshgrid import plugins
from poshgrid.config.base import Depth, Width
from poshgrid.models.initial import draw

if TYPE_CHECKING:
    from transformers import GPT2LMHeadModel

    from poshgrid.tokenization.tokenizer import Vocabulary

DEVIATION = 0.02  # of the initial weights, as in GPT-2


class Options(plugins.Options):
    """Dimensions of a GPT-2; also base class of the options of other transformers."""

    hidden_size: Width = Field(description="width; a multiple of `heads`")
    layers: Depth = Field(description="layers")
    heads: Depth = Field(description="attention heads of a layer")
    ffn: Width | None = Field(
        None, description="width of the feed-forward layers; `null`: four times `hidden_size`"
    )

    @model_validator(mode="after")
    def _divisible(self) -> Self:
        if self.hidden_size % self.heads:
            raise ValueError(
                f"hidden_size {self.hidden_size} is not divisible by {self.heads} heads"
            )
        return self


def build(
    options: Options, vocabulary: Vocabulary, *, context_length: int, dropout: float, seed: int
) -> GPT2LMHeadModel:
    """Build a model with seeded initial weights and tied embeddings, in training mode.

    Args:
        options: dimensions.
        vocabulary: of the tokenizer.
        context_length: the longest input, in tokens.
        dropout: of embeddings, attention and residuals alike.
        seed: of the initial weights; the global random state is left alone.
    """
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        **vocabulary.settings,
        n_positions=context_length,
        n_embd=options.hidden_size,
        n_layer=options.layers,
        n_head=options.heads,
        n_inner=options.ffn or 4 * options.hidden_size,
        # GPT-2's own activation (gelu_new) under the name of its fused implementation
        activation_function="gelu_pytorch_tanh",
        embd_pdrop=dropout,
        attn_pdrop=dropout,
        resid_pdrop=dropout,
        tie_word_embeddings=True,
    )
    with torch.random.fork_rng(devices=[]):
        model = GPT2LMHeadModel(config)
    model.tie_weights()
    # What is added to the residual stream 2 * layers times is scaled down (GPT-2, 2.3).
    residual = (2 * options.layers) ** -0.5
    draw(
        model,
        seed,
        lambda name: DEVIATION * (residual if name.endswith("c_proj.weight") else 1.0),
    )
    return model.train()
