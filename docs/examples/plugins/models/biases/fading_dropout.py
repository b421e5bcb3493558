"""Dropout that fades over epochs: a noisy memory that clears."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from poshgrid.core import plugins
from poshgrid.models.training.bias import Bias

if TYPE_CHECKING:
    from transformers import PreTrainedModel


class Options(plugins.Options):
    """How strong dropout is, and how fast it fades."""

    start: float = Field(0.5, ge=0, lt=1)
    decay: float = Field(0.6, gt=0, lt=1, description="Factor for each epoch")


class FadingDropout(Bias):
    """Sets every dropout layer to ``start * decay ** epoch``."""

    def __init__(self, options: Options) -> None:
        self.options = options

    def at(self, model: PreTrainedModel, epoch: int) -> None:
        """Set the rate of an epoch."""
        from torch.nn import Dropout

        for module in model.modules():
            if isinstance(module, Dropout):
                module.p = self.options.start * self.options.decay**epoch


def build(options: Options) -> Bias:
    """Return the bias with its options."""
    return FadingDropout(options)
