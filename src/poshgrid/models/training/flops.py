"""Count the floating-point operations of training, for each token.

A weight that is multiplied with the activations of each token costs 6 FLOPs per token: one
multiplication and one addition forward, and twice that backward (Kaplan et al., 2020, section 2.1;
Chowdhery et al., 2022, PaLM, appendix B). Attention adds 12 * layers * width * keys; ``keys`` is
the number of tokens that a token attends to. In a causal model that is half the context, as in
Kaplan et al. (PaLM counts the whole context); in a masked model, the whole context. A hybrid model
counts as causal. Not counted: looking up embeddings, additions, norms, activations, the softmax,
the optimiser.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from transformers import PreTrainedModel


def per_token(model: PreTrainedModel, context_length: int) -> float:
    """Return the FLOPs of training on one token, forward and backward.

    It assumes that every matrix except embeddings is multiplied once per token. The output layer
    counts, even if its weights are those of the embeddings. A masked model is assumed to predict at
    every position, as those of transformers do.

    Args:
        model: its matrices must belong to its modules, as in GPT-2, RoBERTa and our LSTM.
        context_length: tokens in a row.
    """
    multiplied = sum(
        weight.numel()
        for module in model.modules()
        if not isinstance(module, torch.nn.Embedding)
        for weight in module.parameters(recurse=False)
        if weight.dim() > 1
    )
    config = model.config
    heads = getattr(config, "num_attention_heads", None)
    if not heads:  # no attention
        return 6.0 * multiplied
    width = heads * (getattr(config, "head_dim", None) or config.hidden_size // heads)
    masked = type(model).__name__.endswith("ForMaskedLM")
    keys = context_length if masked else context_length / 2
    return 6.0 * multiplied + 12.0 * config.num_hidden_layers * width * keys
