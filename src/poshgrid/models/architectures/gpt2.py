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

from typing import TYPE_CHECKING, ClassVar, Self

from pydantic import Field, model_validator

from poshgrid.config.base import Depth, Width
from poshgrid.core import plugins
from poshgrid.models.initial import seeded

if TYPE_CHECKING:
    from collections.abc import Callable

    from transformers import GPT2LMHeadModel

    from poshgrid.models.tokenization.tokenizer import Vocabulary

DEVIATION = 0.02  # of the initial weights, as in GPT-2


class Options(plugins.Options):
    """Dimensions of a GPT-2; also base class of the options of other transformers."""

    multiple: ClassVar[int] = 1
    """A head's width must be a multiple of this number."""

    hidden_size: Width = Field(description="width; a multiple of `heads`")
    layers: Depth = Field(description="layers")
    heads: Depth = Field(description="attention heads of a layer")
    ffn: Width | None = Field(
        None, description="width of the feed-forward layers; `null`: four times `hidden_size`"
    )

    @model_validator(mode="after")
    def _divisible(self) -> Self:
        if self.hidden_size % (self.heads * self.multiple):
            even = " of an even width" if self.multiple > 1 else ""
            raise ValueError(
                f"hidden_size {self.hidden_size} is not divisible by {self.heads} heads{even}"
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
        dropout: rate, the same in embeddings, attention and residuals.
        seed: of the initial weights; the global random state does not change.
    """
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
    return seeded(GPT2LMHeadModel, config, seed, deviation(options.layers, "c_proj.weight"))


def deviation(layers: int, *residual: str) -> Callable[[str], float]:
    """Return a function from the name of a parameter to the deviation of its initial weights.

    Args:
        layers: number of layers.
        residual: ends of the names of weights whose results are added to the residual stream. There
            are ``2 * layers`` of them, and they are scaled down (GPT-2, section 2.3).
    """
    smaller = DEVIATION * (2 * layers) ** -0.5
    return lambda name: smaller if name.endswith(residual) else DEVIATION
