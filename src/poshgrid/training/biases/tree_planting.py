"""Strong structural bias: attention is drawn to near words of the tree (paper, section 7.1).

Tree-planted transformers (Yoshida et al., 2024: "Tree-planted transformers: Unidirectional
transformer language models with implicit syntactic supervision", Findings of ACL). Nothing is added
to the model; its loss gets a term that asks of some attention heads to look where the tree is near:

    loss = NLL + weight * sum over predicted words w of KL(target(w) || attention(w))

``target(w)``
    softmax of ``-distance(w, v)`` over the words v on the left of w, the boundary that opens the
    sentence among them; see :mod:`poshgrid.distances.measure`.
``attention(w)``
    the row of the position that predicts the first token of w, i.e. of the token before it; the
    attention weights of a word's tokens are summed. Weights are *averaged over the supervised
    heads of all supervised layers first*; the divergence is that of the average.
    ``rows: all`` does as the published code of TPT: the rows that predict the tokens of w, all of
    them, are summed, and what of them falls on words on the left of w is made to sum to 1. The
    rows of later tokens have seen the beginning of w; the first one alone says what the model looks
    at before it knows w, and is the default.

The controls of this bias are ``random-trees`` and ``sequential-trees``: all is the same but for the
trees.

The term is a sum over words, in nats, as NLL is one over tokens; the loop divides both by the
number of predicted tokens of the step. The closing boundary is a predicted word. A first word has
only the boundary on its left: its divergence is nought. Words beyond the context, and sentences
without a usable tree, add nothing; the statistics of the distances count them.

The attention weights are those that the model uses, before dropout, in float32. They are taken from
the queries and keys that attention is called with, which puts them aside in training
(:mod:`poshgrid.training.attention`). The model in its folder is a plain GPT-2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field

from poshgrid import plugins
from poshgrid.distances import folder
from poshgrid.errors import PoshgridError
from poshgrid.training import bias
from poshgrid.training import learner as learners
from poshgrid.training.attention import HELD, Attended
from poshgrid.training.bias import Bias, Setting
from poshgrid.training.data import Batch

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn
    from transformers import PreTrainedModel

    from poshgrid.config.specs import TrainSpec

ARCHITECTURES = ("gpt2",)
TREES = True
"""Distances in the trees of the training sentences are needed (see ``training.bias``)."""


Place = Annotated[int, Field(ge=-1_000, le=1_000)]
"""Of a layer or head, counted from 0, or from the end below it."""


class Options(plugins.Options):
    """Which heads are supervised, by whose trees, and how much."""

    weight: float = Field(0.5, gt=0, le=1_000, description="Loss = NLL + weight * KL divergence")
    layers: list[Place] = Field([-1], min_length=1, description="-1: the last layer")
    heads: list[Place] = Field(
        [0], min_length=1, description="heads of each of these layers that are trained"
    )
    rows: Literal["first", "all"] = Field(
        "first",
        description=(
            "rows of attention that stand for a word of several tokens: that of its first; `all`, "
            "summed, as published"
        ),
    )
    parser: str = Field(
        "spacy",
        min_length=1,
        description="parser whose trees are taken; it parses every sentence of the base",
    )


def check(spec: TrainSpec) -> None:
    """Raise if a run cannot have the bias.

    Raises:
        PoshgridError: the learner lacks a layer or head, or a row is no sentence.
    """
    regimen, learner = spec.regimen, spec.learner
    word, planted = list(bias.build(spec.bias, spec.options).items())[-1]  # trees come last
    if regimen and (regimen.input != "sentence" or regimen.padding_in_loss):
        raise PoshgridError(
            f"regimens: {regimen.name}: {word} needs one sentence a row, and has no tree for "
            "padding; set input to 'sentence' and padding_in_loss to false"
        )
    model = learners.options(learner)
    for kind, number in (("layers", model.layers), ("heads", model.heads)):
        asked = getattr(planted.options, kind)  # type: ignore[attr-defined]  # ours has them
        places = {place % number for place in asked if -number <= place < number}
        if len(places) < len(asked):
            raise PoshgridError(
                f"biases.{word}.{kind}: learner {learner.name!r} has {number}, but {asked} are "
                f"asked for; give each once, from 0 to {number - 1}, or -1 for the last"
            )


def logarithms(attended: Attended, heads: list[int]) -> Tensor:
    """Return the logarithms of attention weights, float32, [rows, heads, length, length].

    Args:
        attended: what an attention module was called with.
        heads: which ones.
    """
    import torch

    assert attended.query is not None  # attention has put them aside
    assert attended.key is not None
    # Autocast would multiply in half precision.
    with torch.autocast(attended.query.device.type, enabled=False):
        query, key = _of(attended.query, heads).float(), _of(attended.key, heads).float()
        scaling = query.shape[-1] ** -0.5 if attended.scaling is None else attended.scaling
        scores = query @ key.transpose(-1, -2) * scaling
        future = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device)
        lowest = torch.finfo(scores.dtype).min
        return scores.masked_fill(future.triu(1), lowest).log_softmax(dim=-1)


def _of(every: Tensor, heads: list[int]) -> Tensor:
    """Return the part of a tensor that belongs to some heads, its second dimension."""
    import torch

    # Not by a list as index, whose gradient is slow where it must be deterministic.
    return torch.stack([every[:, head] for head in heads], dim=1)


class TreePlanting(Bias):
    """KL divergence of attention from distances in the tree, added to the loss."""

    word = "tree-planting"
    """In the configuration."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._seed = 0
        self._distances: folder.Distances | None = None
        self._layers: list[int] = []
        self._heads: list[int] = []

    def prepare(self, model: PreTrainedModel, setting: Setting) -> PreTrainedModel:
        """Open the distances and let the supervised layers put queries and keys aside."""
        self._seed = setting.spec.seed
        if setting.distances is None:
            raise PoshgridError(
                f"biases: {self.word}: no distances of parser {self.options.parser!r}; "
                "the workflow makes them: `poshgrid run`"
            )
        self._layers = [layer % model.config.n_layer for layer in self.options.layers]
        self._heads = [head % model.config.n_head for head in self.options.heads]
        self._distances = folder.load(setting.distances)
        for module in self._modules(model):
            setattr(module, HELD, Attended())
        return model

    def penalty(self, model: PreTrainedModel, batch: Batch) -> Tensor | None:
        """Return ``weight`` times the divergence, summed over the batch's predicted words."""
        import torch

        from poshgrid.training import losses

        device = model.device
        found, target = self._target(batch, device)
        held = [getattr(module, HELD).take() for module in self._modules(model)]
        weights = [logarithms(each, self._heads) for each in held]
        total = torch.cat(weights, dim=1).exp().mean(dim=1)  # [rows, length, length]
        words = target.shape[-1]
        # The last word is only asked for: it is on no word's left.
        word = losses.on_device(np.minimum(found.word, words), device)
        of_word = torch.nn.functional.one_hot(word, words + 1)[..., :words]
        pooled = total @ of_word.to(total.dtype)
        if self.options.rows == "all":
            pooled = _of_words(
                pooled,
                *(
                    losses.on_device(each, device)
                    for each in (found.following, np.isfinite(found.distance))
                ),
            )
        # A weight that is nought in float32 is taken as the smallest number: the loss stays finite.
        logarithm = pooled.clamp_min(torch.finfo(pooled.dtype).tiny).log()
        return self.options.weight * torch.nn.functional.kl_div(logarithm, target, reduction="sum")

    def _modules(self, model: PreTrainedModel) -> list[nn.Module]:
        return [model.get_submodule(f"transformer.h.{layer}.attn") for layer in self._layers]

    def distances(self, found: folder.Padded, sentences: np.ndarray, seed: int) -> np.ndarray:
        """Return the distances that attention is to follow; a control has others.

        Args:
            found: of the trees.
            sentences: numbers of the rows' sentences in the split.
            seed: of the run.

        Returns:
            As ``found.distance``, and infinite where that is.
        """
        return found.distance

    def _target(self, batch: Batch, device: torch.device) -> tuple[folder.Padded, Tensor]:
        """Return the words and distances of a batch, and what attention should be.

        Returns:
            Of the batch's sentences; and distributions over words, float32, [rows, length, words],
            nought wherever nothing is asked.
        """
        import torch

        from poshgrid.training import losses

        assert self._distances is not None  # prepare has opened them
        assert batch.sentences is not None  # check has looked
        found = self._distances.padded(batch.sentences, batch.inputs.shape[1])
        distance = losses.on_device(self.distances(found, batch.sentences, self._seed), device)
        # A row of which nothing is asked has no finite distance, and no softmax.
        return found, torch.softmax(-distance, dim=-1).nan_to_num(0.0)


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
