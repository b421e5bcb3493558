"""Strong structural bias: attention learns to prefer near words in the tree (paper, section 7.1).

Tree-planted transformers (Yoshida et al., 2024: "Tree-planted transformers: Unidirectional
transformer language models with implicit syntactic supervision", Findings of ACL). The model does
not change. This bias adds a loss that trains the first attention head of the last layer to attend
to words that are near in the tree:

    loss = NLL + weight * sum over predicted words w of KL(target(w) || attention(w))

``target(w)``
    softmax of ``-distance(w, v)`` over the words v to the left of w, including the opening
    boundary; see :mod:`poshgrid.models.distances.make`.
``attention(w)``
    the attention weights at the token before w, which predicts the first token of w. The weights on
    the tokens of a word are summed.
    ``rows: all`` does as the published code of TPT: it sums the rows that predict any token of w,
    and scales the weights on words to the left of w to a sum of 1. Rows after the first have seen
    the beginning of w. Only the first row shows where the model attends before it knows w, so the
    first row is the default.

The controls are ``random-trees`` and ``sequential-trees``: only the trees differ.

The term is a sum over words, in nats, as NLL is a sum over tokens; the loop divides both by the
number of predicted tokens of the step. The closing boundary counts as a predicted word. The first
word has only the boundary to its left, so its divergence is zero. Words outside the context, and
sentences without a usable tree, add nothing; the statistics of the distances count them.

The attention weights are those that the model uses, before dropout, in float32. They are computed
from the queries and keys of the last call of attention, which stores them in training
(:mod:`poshgrid.models.training.attention`). The saved model is a plain GPT-2.
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
"""The bias needs the distances in the trees of the training sentences (see ``training.bias``)."""


class Options(plugins.Options):
    """Whose trees supervise attention, and how strongly."""

    weight: float = Field(0.5, gt=0, le=1_000, description="Loss = NLL + weight * KL divergence")
    rows: Literal["first", "all"] = Field(
        "first",
        description=(
            "rows of attention for a word of several tokens: that of its first; `all`: their sum, "
            "as published"
        ),
    )
    parser: ParserName = Field(
        "spacy",
        description="parser that makes the trees; it parses every sentence of the corpus",
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
        attended: the arguments of a call of attention.
    """
    import torch

    # Without this, autocast would multiply in half precision.
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
    """A loss term: the KL divergence of attention from distances in the tree."""

    word = "tree-planting"
    """Name in the configuration."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._seed = 0
        self._distances: folder.Distances | None = None

    def prepare(self, model: PreTrainedModel, setting: Setting) -> PreTrainedModel:
        """Open the distances, and make the supervised layer store its queries and keys."""
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
        # Rows without a supervised word have only infinite distances; softmax gives NaN, which
        # becomes 0.
        target = torch.softmax(-distance, dim=-1).nan_to_num(0.0)
        weights = attention(getattr(supervised, HELD))
        setattr(supervised, HELD, None)  # no graph outlives its step
        words = target.shape[-1]
        # The last word is only predicted; no word can attend to it.
        word = losses.on_device(np.minimum(padded.word, words), device)
        of_word = torch.nn.functional.one_hot(word, words + 1)[..., :words]
        pooled = weights @ of_word.to(weights.dtype)
        if self.options.rows == "all":
            following = losses.on_device(padded.following, device)
            left = losses.on_device(np.isfinite(padded.distance), device)
            pooled = _of_words(pooled, following, left)
        # A weight of zero in float32 becomes the smallest number, so that the loss stays finite.
        logarithm = pooled.clamp_min(torch.finfo(pooled.dtype).tiny).log()
        return self.options.weight * torch.nn.functional.kl_div(logarithm, target, reduction="sum")

    def distances(self, padded: folder.Padded, sentences: np.ndarray, seed: int) -> np.ndarray:
        """Return the distances that attention learns; a control returns others.

        Args:
            padded: of the trees.
            sentences: numbers of the rows' sentences in the split.
            seed: of the run.

        Returns:
            As ``padded.distance``; infinite in the same cells.
        """
        return padded.distance


def _supervised(model: PreTrainedModel) -> nn.Module:
    """Return the attention module of the last layer."""
    return model.get_submodule(f"transformer.h.{model.config.n_layer - 1}.attn")


def _of_words(pooled: Tensor, following: Tensor, left: Tensor) -> Tensor:
    """Sum the rows of each word's tokens; scale the weights on words to its left to a sum of 1.

    Args:
        pooled: attention of tokens to words, [rows, length, words].
        following: number of the word that each token predicts, [rows, length]; -1: none.
        left: which words are to the left of a word, at the token before it, [rows, length, words].

    Returns:
        As ``pooled``, at the tokens before words; undefined elsewhere.
    """
    import torch

    same = (following[:, :, None] == following[:, None, :]) & (following >= 0)[:, :, None]
    summed = (same.to(pooled.dtype) @ pooled) * left
    return summed / summed.sum(dim=-1, keepdim=True).clamp_min(torch.finfo(pooled.dtype).tiny)


build = TreePlanting
