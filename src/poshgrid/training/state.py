"""A model's weights and an optimiser's moments as named tensors, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from transformers import PreTrainedModel


def weights(model: PreTrainedModel) -> dict[str, Tensor]:
    """Return a copy of every parameter by name; tied ones appear once."""
    return {name: weight.detach().clone() for name, weight in model.named_parameters()}


def load_weights(model: PreTrainedModel, named: dict[str, Tensor]) -> None:
    """Put back what :func:`weights` returned."""
    import torch

    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.copy_(named[name])


def moments(adam: torch.optim.AdamW, model: PreTrainedModel) -> dict[str, Tensor]:
    """Return the optimiser's state, flat: ``{parameter}:{entry}`` -> tensor."""
    return {
        f"{name}:{entry}": value
        for name, weight in model.named_parameters()
        for entry, value in adam.state[weight].items()
    }


def load_moments(adam: torch.optim.AdamW, model: PreTrainedModel, flat: dict[str, Tensor]) -> None:
    """Put back what :func:`moments` returned."""
    named = dict(model.named_parameters())
    for key, value in flat.items():
        name, entry = key.rsplit(":", 1)
        weight = named[name]
        # On a GPU the optimiser keeps the count of steps where its fused kernel reads it.
        adam.state[weight][entry] = value.to(weight.device)
