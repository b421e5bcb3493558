"""Floating-point operations that training takes for each token.

A weight that is multiplied with each token's activations costs a multiplication and an addition
forward and twice that backward: 6 FLOPs per token (Kaplan et al., 2020, section 2.1; Chowdhery et
al., 2022, PaLM, appendix B). Attention adds 12 * layers * width * keys, where ``keys`` is how many
tokens one attends to: half the context under a causal mask, as Kaplan et al. count it (PaLM counts
the whole context), all of it for a masked model (a hybrid one is counted as causal). Not counted:
looking up embeddings, additions, norms, activations, the softmax, the optimiser.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from transformers import PreTrainedModel


def per_token(model: PreTrainedModel, context_length: int) -> float:
    """Return the FLOPs of training on one token, forward and backward.

    Every matrix of the model but those of embeddings is taken to be multiplied once per token; an
    output layer counts, whether or not it shares the embeddings' weights. A masked model is taken
    to predict at every position, as transformers' do.

    Args:
        model: any whose matrices are those of its modules: GPT-2, RoBERTa, our LSTM.
        context_length: tokens of a row.
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
