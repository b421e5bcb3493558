"""Weak hierarchical bias: pre-pretraining on a shuffled k-Dyck language (paper, section 7.1).

This module holds its options only. It becomes trainable when it gets a function
``build(options) -> poshgrid.training.bias.Bias``.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from poshgrid import plugins


class Options(plugins.Options):
    """The formal language and what of its model is carried over (FACTS, section 1: Dyck)."""

    k: int = Field(64, gt=0, description="Kinds of brackets")
    p_open: float = Field(0.5, gt=0, lt=1, description="Probability of an opening bracket")
    depth: int = Field(8, gt=0, description="Brackets open at once, at most")
    length: int = Field(2_048, gt=0, description="Brackets in a sequence")
    steps: int = Field(2_000, gt=0, description="Steps of pre-pretraining")
    transfer: Literal["all", "body"] = Field("body", description="body: not the embeddings")
