"""Control of recency: attention prefers near words equally strongly in every epoch."""

from __future__ import annotations

from poshgrid.models.biases.recency import ARCHITECTURES, Attention
from poshgrid.models.biases.recency import Shared as Options

__all__ = ["ARCHITECTURES", "CONTROLS", "Options", "build"]

CONTROLS = "recency"
build = Attention
