"""Control of recency: the preference for near words decreases in equal steps, not by a factor.

Its strength is 1 in the first epoch, as in recency, and ``1 - t / epochs`` in epoch t, counted from
0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poshgrid.core.errors import PoshgridError
from poshgrid.models.biases import recency
from poshgrid.models.biases.recency import ARCHITECTURES
from poshgrid.models.biases.recency import Shared as Options
from poshgrid.models.training.bias import Setting

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from poshgrid.config.specs import TrainSpec

__all__ = ["ARCHITECTURES", "CONTROLS", "Options", "build", "check"]

CONTROLS = "recency"


class LinearRecency(recency.Attention):
    """A penalty on distance that decreases in equal steps."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._epochs = 1.0

    def prepare(self, model: PreTrainedModel, setting: Setting) -> PreTrainedModel:
        """Read the number of epochs from the recipe; see :class:`recency.Attention`."""
        self._epochs = float(setting.recipe.epochs or 1)
        return super().prepare(model, setting)

    def factor(self, epoch: int) -> float:
        """Return ``1 - epoch / epochs``."""
        return max(0.0, 1.0 - epoch / self._epochs)


def check(spec: TrainSpec) -> None:
    """Raise if a run cannot have the control.

    Raises:
        PoshgridError: the recipe has no epochs.
    """
    if spec.recipe.epochs is None:
        raise PoshgridError(
            f"recipes: {spec.recipe.name}: linear-recency fades over a number of epochs; give "
            "epochs, not steps"
        )


build = LinearRecency
