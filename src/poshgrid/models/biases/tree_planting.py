"""Strong structural bias: attention is drawn to near words of the tree (paper, section 7.1).

Tree-planted transformers (Yoshida et al., 2024: "Tree-planted transformers: Unidirectional
transformer language models with implicit syntactic supervision", Findings of ACL). Nothing is added
to the model; its loss gets a term that asks the first attention head of the last layer to look
where the tree is near:

    loss = NLL + weight * sum over predicted words w of KL(target(w) || attention(w))

``target(w)``
    softmax of ``-distance(w, v)`` over the words v on the left of w, the boundary that opens the
    sentence among them; see :mod:`poshgrid.models.distances.make`.
``attention(w)``
    the row of the position that predicts the first token of w, i.e. of the token before it; the
    attention weights of a word's tokens are summed.
    ``rows: all`` does as the published code of TPT: the rows that predict the tokens of w, all of
    them, are summed, and what of them falls on words on the left of w is made to sum to 1. The
    rows of later tokens have seen the beginning of w; the first one alone says what the model looks
    at before it knows w, and is the default.

The controls of this bias are ``random-trees`` and ``sequential-trees``: all is the same but for the
trees.

The term is a sum over words, in nats, as NLL is one over tokens; the loop divides both by the
number of predicted tokens of the step. The closing boundary is a predicted word. A first word has
only the boundary on its left: its divergence is zero. Words beyond the context, and sentences
without a usable tree, add nothing; the statistics of the distances count them.

The attention weights are those that the model uses, before dropout, in float32. They are taken from
the queries and keys that attention is called with, which puts them aside in training
(:mod:`poshgrid.models.training.attention`). The model in its folder is a plain GPT-2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from poshgrid.config.base import ParserName
from poshgrid.core import plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.models.distances import folder
from poshgrid.models.training.attention import HELD, Attended
from poshgrid.models.training.bias import Bias, Setting
from poshgrid.models.training.data import Batch

if TYPE_CHECKING:
    from torch import Tensor, nn
    from transformers import PreTrainedModel

    from poshgrid.config.specs import TrainSpec

ARCHITECTURES = ("gpt2",)
TREES = True
"""Distances in the trees of the training sentences are needed (see ``training.bias``)."""


class Options(plugins.Options):
    """By whose trees attention is supervised, and how much."""

    weight: float = Field(0.5, gt=0, le=1_000, description="Loss = NLL + weight * KL divergence")
    rows: Literal["first", "all"] = Field(
        "first",
        description=(
            "rows of attention that stand for a word of several tokens: that of its first; `all`, "
            "summed, as published"
        ),
    )
    parser: ParserName = Field(
        "spacy",
        description="parser whose trees are taken; it parses every sentence of the corpus",
    )


def check(spec: TrainSpec) -> None:
    """Raise if a run cannot have the bias.

    Raises:
        PoshgridError: a row is no sentence.
    """
    recipe = spec.recipe
    if recipe.input != "sentence" or recipe.padding_in_loss:
        raise PoshgridError(
            f"recipes: {recipe.name}: {spec.bias} needs one sentence a row, and has no tree for "
            "padding; set input to 'sentence' and padding_in_loss to false"
        )


def attention(attended: Attended) -> Tensor:
    """Return the attention weights of the first head, float32, [rows, length, length].

    Args:
        attended: what an attention module was called with.
    """
    import torch

    # Autocast would multiply in half precision.
    with torch.autocast(attended.query.device.type, enabled=False):
        query, key = attended.query[:, 0].float(), attended.key[:, 0].float()
        scaling = query.shape[-1] ** -0.5 if attended.scaling is None else attended.scaling
        scores = query @ key.transpose(-1, -2) * scaling
        if attended.mask is not None and attended.mask.is_floating_point():  # the recency bias
            scores = scores + attended.mask[:, 0]
        future = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device)
        lowest = torch.finfo(scores.dtype).min
        return scores.masked_fill(future.triu(1), lowest).log_softmax(dim=-1).exp()


class TreePlanting(Bias):
    """KL divergence of attention from distances in the tree, added to the loss."""

    word = "tree-planting"
    """In the configuration."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._seed = 0
        self._distances: folder.Distances | None = None

    def prepare(self, model: PreTrainedModel, setting: Setting) -> PreTrainedModel:
        """Open the distances and let the supervised layers put queries and keys aside."""
        self._seed = setting.spec.seed
        if setting.distances is None:
            raise PoshgridError(
                f"biases: {self.word}: no distances of parser {self.options.parser!r}; "
                "the workflow makes them: `poshgrid run`"
            )
        self._distances = folder.Distances(setting.distances)
        setattr(_supervised(model), HELD, None)
        return model

    def penalty(self, model: PreTrainedModel, batch: Batch) -> Tensor | None:
        """Return ``weight`` times the divergence, summed over the batch's predicted words."""
        import torch

        from poshgrid.models.training import losses

        assert self._distances is not None  # prepare has opened them
        assert batch.sentences is not None  # check has looked
        device, supervised = model.device, _supervised(model)
        padded = self._distances.padded(batch.sentences, batch.inputs.shape[1])
        distance = losses.on_device(self.distances(padded, batch.sentences, self._seed), device)
        # A row of which nothing is asked has no finite distance, and no softmax.
        target = torch.softmax(-distance, dim=-1).nan_to_num(0.0)
        weights = attention(getattr(supervised, HELD))
        setattr(supervised, HELD, None)  # no graph outlives its step
        words = target.shape[-1]
        # The last word is only asked for: it is on no word's left.
        word = losses.on_device(np.minimum(padded.word, words), device)
        of_word = torch.nn.functional.one_hot(word, words + 1)[..., :words]
        pooled = weights @ of_word.to(weights.dtype)
        if self.options.rows == "all":
            following = losses.on_device(padded.following, device)
            asked = losses.on_device(np.isfinite(padded.distance), device)
            pooled = _of_words(pooled, following, asked)
        # A weight that is zero in float32 is taken as the smallest number: the loss stays finite.
        logarithm = pooled.clamp_min(torch.finfo(pooled.dtype).tiny).log()
        return self.options.weight * torch.nn.functional.kl_div(logarithm, target, reduction="sum")

    def distances(self, padded: folder.Padded, sentences: np.ndarray, seed: int) -> np.ndarray:
        """Return the distances that attention is to follow; a control has others.

        Args:
            padded: of the trees.
            sentences: numbers of the rows' sentences in the split.
            seed: of the run.

        Returns:
            As ``padded.distance``, and infinite where that is.
        """
        return padded.distance


def _supervised(model: PreTrainedModel) -> nn.Module:
    """Return the attention module of the last layer."""
    return model.get_submodule(f"transformer.h.{model.config.n_layer - 1}.attn")


def _of_words(pooled: Tensor, following: Tensor, asked: Tensor) -> Tensor:
    """Sum the rows of each word's tokens, and let what falls on words on its left sum to 1.

    Args:
        pooled: attention of tokens to words, [rows, length, words].
        following: number of the word that each token predicts, [rows, length]; -1: none.
        asked: the words on the left of each word, at the token before it, [rows, length, words].

    Returns:
        As ``pooled``, at the tokens before words; what it holds elsewhere means nothing.
    """
    import torch

    same = (following[:, :, None] == following[:, None, :]) & (following >= 0)[:, :, None]
    summed = (same.to(pooled.dtype) @ pooled) * asked
    return summed / summed.sum(dim=-1, keepdim=True).clamp_min(torch.finfo(pooled.dtype).tiny)


build = TreePlanting
