"""Dynamic recency bias: attention prefers near words, less so each epoch (paper, section 7.1).

This module holds its options only. It becomes trainable when it gets a function
``build(options) -> poshgrid.training.bias.Bias``.
"""

from __future__ import annotations

from pydantic import Field

from poshgrid import plugins


class Options(plugins.Options):
    """How fast the bias fades: it is multiplied by decay ** epoch, epochs counted from 0."""

    decay: float = Field(0.6, gt=0, lt=1)
