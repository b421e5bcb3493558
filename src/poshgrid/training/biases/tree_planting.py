"""Strong structural bias: attention is drawn to near words of the tree (paper, section 7.1).

This module holds its options only. It becomes trainable when it gets a function
``build(options) -> poshgrid.training.bias.Bias``.
"""

from __future__ import annotations

from pydantic import Field

from poshgrid import plugins


class Options(plugins.Options):
    """Which heads are supervised, and how much (FACTS, section 1: tree planting)."""

    weight: float = Field(0.5, gt=0, description="Loss = NLL + weight * KL divergence")
    layers: list[int] = Field([-1], min_length=1, description="-1: the last layer")
    heads: list[int] = Field([0], min_length=1)
