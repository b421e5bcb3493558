"""LSTM (Hochreiter & Schmidhuber, 1997), as in Filtered Corpus Training (FiCT, section 4).

The model of FiCT has ``hidden_size`` 1,024 and two layers, embeddings of the same width tied to the
output layer, and dropout .1: 68.0 million parameters with 50,002 types.

In training, rows are independent: each row (a window of the text, or a sentence) begins with a
state of zero. Inputs may be of any length; the context length of the recipe only cuts the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from poshgrid.config.base import Depth, Width
from poshgrid.core import plugins
from poshgrid.models.initial import uniform_, untouched

if TYPE_CHECKING:
    from poshgrid.models.lstm import LSTMForCausalLM
    from poshgrid.models.tokenization.tokenizer import Vocabulary

EMBEDDINGS = 0.1  # largest absolute initial value


class Options(plugins.Options):
    """Dimensions of an LSTM."""

    hidden_size: Width = Field(description="width of embeddings and layers")
    layers: Depth = Field(2, description="layers")


def build(
    options: Options, vocabulary: Vocabulary, *, context_length: int, dropout: float, seed: int
) -> LSTMForCausalLM:
    """Build a model with seeded initial weights and tied embeddings, in training mode.

    Embeddings are drawn from U(-0.1, 0.1), and weights and biases of the layers from
    U(-1/sqrt(H), 1/sqrt(H)), with hidden size H, as in Gulordava et al. (2018) and Merity et al.
    (2018). The forget gate gets no larger bias (Jozefowicz et al., 2015, would add 1). The smaller
    embeddings of GPT-2, N(0, 0.02), would hardly move the gates, because no norm scales them up:
    such an LSTM learns the frequencies of words, and then little else for a long time.

    Args:
        options: dimensions.
        vocabulary: of the tokenizer.
        context_length: not used: an LSTM has no positions.
        dropout: rate, after the embeddings and after each layer.
        seed: of the initial weights; the global random state does not change.
    """
    from poshgrid.models.lstm import LSTMConfig, LSTMForCausalLM

    config = LSTMConfig(
        **vocabulary.settings,
        hidden_size=options.hidden_size,
        num_hidden_layers=options.layers,
        dropout=dropout,
    )
    model = untouched(LSTMForCausalLM, config)
    for name, weight in model.named_parameters():
        layer = name.startswith("model.layers.")
        uniform_(weight, seed, name, options.hidden_size**-0.5 if layer else EMBEDDINGS)
    return model
