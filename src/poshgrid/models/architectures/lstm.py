"""LSTM (Hochreiter & Schmidhuber, 1997), as in Filtered Corpus Training (FiCT, section 4).

Theirs has ``hidden_size`` 1,024 and two layers, embeddings of the same width tied to the output
layer, and dropout .1: 68.0 million parameters with 50,002 types.

In training, rows are independent: the state is zero at the beginning of each, a window of the text
or a sentence, and never carried from one row to the next. There is no longest input; the context
length of the recipe only cuts the rows.
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

EMBEDDINGS = 0.1  # largest absolute value at first


class Options(plugins.Options):
    """Dimensions of an LSTM."""

    hidden_size: Width = Field(description="width of embeddings and layers")
    layers: Depth = Field(2, description="layers")


def build(
    options: Options, vocabulary: Vocabulary, *, context_length: int, dropout: float, seed: int
) -> LSTMForCausalLM:
    """Build a model with seeded initial weights and tied embeddings, in training mode.

    Embeddings are drawn from U(-0.1, 0.1), weights and biases of the layers from
    U(-1/sqrt(H), 1/sqrt(H)), H the hidden size: so began the LSTMs of Gulordava et al. (2018) and
    of Merity et al. (2018). The forget gate gets no larger bias (Jozefowicz et al., 2015, would
    add 1). GPT-2's smaller embeddings, N(0, 0.02), would hardly move the gates, as no norm scales
    them up: such an LSTM learns the frequencies of words and then little for long.

    Args:
        options: dimensions.
        vocabulary: of the tokenizer.
        context_length: not used: an LSTM has no positions.
        dropout: of embeddings, between layers, and of the last layer.
        seed: of the initial weights; the global random state is left alone.
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
