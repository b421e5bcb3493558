"""Control of recency: attention prefers near words, and does so as much in every epoch."""

from __future__ import annotations

from poshgrid.models.biases import recency
from poshgrid.models.biases.recency import ARCHITECTURES
from poshgrid.models.biases.recency import Shared as Options

__all__ = ["ARCHITECTURES", "CONTROLS", "Options", "build"]

CONTROLS = "recency"


class StaticRecency(recency.Attention):
    """A penalty on distance that stays."""

    def factor(self, epoch: int) -> float:
        """Return 1 in every epoch: this bias never fades."""
        return 1.0


build = StaticRecency
