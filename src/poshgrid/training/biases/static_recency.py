"""Control of recency: attention prefers near words, and does so as much in every epoch."""

from __future__ import annotations

from pydantic import Field

from poshgrid.training.biases import recency
from poshgrid.training.biases.recency import ARCHITECTURES

__all__ = ["ARCHITECTURES", "CONTROLS", "Options", "build"]

CONTROLS = "recency"


class Options(recency.Shared):
    """How strong the bias is."""

    slope: float = Field(1.0, gt=0, le=100, description="factor of the bias in every epoch")


class StaticRecency(recency.Attention):
    """A penalty on distance that stays."""

    options: Options

    def factor(self, epoch: int) -> float:
        """Return ``slope``."""
        return self.options.slope


build = StaticRecency
