"""Dynamic recency bias: attention prefers near words, but less in each epoch (paper, section 7.1).

The scores of query ``i`` are ``q_i K^T + r^t * b_i`` with ``b_i = [-(i-1), ..., 0]``, in all heads
and layers; ``r`` is ``decay`` and ``t`` the epoch, counted from 0 (Mita et al., 2025:
"Developmentally-plausible working memory shapes a critical period for language acquisition", ACL).
:mod:`poshgrid.models.recency` adds the bias to attention.

The initial weights are those of the run without the bias. A checkpoint has the bias of the epoch
that it ends; the model has the bias of the epoch with the best dev loss. The strength is stored in
``config.json`` and used in scoring. Two options make the run as published: ``positions: none``
removes the learned positions. ``scored: none`` stores a strength of 0, so that sentences are scored
without the bias; the losses of the training log still include it.

The controls are ``static-recency``, whose bias is constant, and ``linear-recency``, whose bias
decreases in equal steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

from pydantic import Field

from poshgrid.core import plugins
from poshgrid.models.training.bias import Bias, Setting

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from poshgrid.models.recency import GPT2RecencyLMHeadModel

ARCHITECTURES = ("gpt2",)


class Shared(plugins.Options):
    """The options that this bias and its controls share."""

    positions: Literal["learned", "none"] = Field(
        "learned", description="`none`: position embeddings are zero and stay so, as published"
    )
    scored: Literal["epoch", "none"] = Field(
        "epoch",
        description=(
            "the bias in scoring: that of the weights' epoch; `none`: no bias, as published"
        ),
    )


class Options(Shared):
    """How fast the bias decreases: it is multiplied by decay ** epoch, with epochs from 0."""

    decay: float = Field(0.6, gt=0, lt=1, description="factor of the bias for each epoch")


class Attention(Bias):
    """A penalty on distance that is the same in every epoch; subclasses change it.

    Args:
        options: see :class:`Shared`.
    """

    options: Shared

    def __init__(self, options: Shared) -> None:
        self.options = options

    def factor(self, epoch: int) -> float:
        """Return the penalty for each token of distance, in units of attention scores."""
        return 1.0

    def prepare(self, model: PreTrainedModel, setting: Setting) -> PreTrainedModel:
        """Return a model with the same weights whose attention has the bias; see :class:`Bias`.

        The bias is zero until :meth:`at` is called.
        """
        import torch

        from poshgrid.models.recency import GPT2RecencyConfig, GPT2RecencyLMHeadModel

        settings = model.config.to_dict()
        for key in ("model_type", "architectures", "dtype"):
            settings.pop(key, None)
        config = GPT2RecencyConfig(**settings, recency=0.0)
        config._attn_implementation = model.config._attn_implementation
        with torch.random.fork_rng(devices=[]):
            biased = GPT2RecencyLMHeadModel(config)
        biased.load_state_dict(model.state_dict())
        biased.generation_config = model.generation_config
        if self.options.positions == "none":
            torch.nn.init.zeros_(biased.transformer.wpe.weight).requires_grad_(False)
        biased.to(setting.device)  # type: ignore[arg-type]  # the wrapper of it asks for self
        return biased.train(model.training)

    def at(self, model: PreTrainedModel, epoch: int) -> None:
        """Set the bias of a model to its strength in an epoch."""
        cast("GPT2RecencyLMHeadModel", model).set_recency(  # which prepare() returned
            self.factor(epoch), saved=0.0 if self.options.scored == "none" else None
        )


class Recency(Attention):
    """A penalty on distance that decreases by a factor."""

    options: Options

    def factor(self, epoch: int) -> float:
        """Return ``decay ** epoch``."""
        return self.options.decay**epoch


build = Recency
