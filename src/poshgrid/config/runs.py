"""A run (one point of the grid), and the words in names of runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from poshgrid.config.sizes import words
from poshgrid.core.errors import PoshgridError, did_you_mean

UNTRAINED, COUNTED, PRETRAINED = "untrained", "counted", "pretrained"
RELEASED = "released"
"""Recipe of pretrained models with a place in the grid."""
SCORED = (PRETRAINED, RELEASED)
"""Recipes of pretrained models: scored, not trained."""
BASELINE_RECIPES = (UNTRAINED, COUNTED)
"""Recipes of the baselines."""
REFERENCE = (*BASELINE_RECIPES, PRETRAINED)
"""Recipes of runs that trained ones are compared with: baselines and pretrained models."""
WORD_BASELINES = ("unigram", "ngram", "class_ngram")
"""Baselines that count words, or word classes; in runs their names replace a model's."""
WORD_ORDER, CLASS_ORDER = 5, 4
"""Length of n-grams of words and of classes, including the predicted one. Reali and Christiansen
(2005) used three words, which is a weaker baseline here."""
BASELINES = (UNTRAINED, *WORD_BASELINES)
"""All baselines, in the order of tables."""
GIVEN = "given"
"""Size of runs of pretrained models, whose number of training words is unknown."""
AXES = ("condition", "size", "model", "recipe", "bias", "seed")
SPLITS = ("train", "dev", "test")


@dataclass(frozen=True, order=True)
class Run:
    """One point of the grid: a model.

    Four recipes train nothing: ``untrained`` (only initialised), ``counted`` (the n-gram
    baselines), ``pretrained`` and ``released`` (pretrained models, without and with a place in the
    grid).
    """

    condition: str
    size: str
    model: str
    recipe: str
    bias: str
    seed: int

    @property
    def name(self) -> str:
        """The run's path below ``models/`` and ``scores/``."""
        axes = (self.condition, self.size, self.model, self.recipe, self.bias)
        return "/".join((*axes, f"seed{self.seed}"))

    @classmethod
    def parse(cls, name: str) -> Run:
        """Return the run with this :attr:`name`."""
        *axes, seed = name.split("/")
        condition, size, model, recipe, bias = axes
        return cls(condition, size, model, recipe, bias, int(seed.removeprefix("seed")))

    @classmethod
    def of(cls, wildcards: Any) -> Run:  # noqa: ANN401 - Snakemake's
        """Return the run that a job's wildcards name."""
        axes = {axis: getattr(wildcards, axis) for axis in AXES}
        return cls(**axes | {"seed": int(wildcards.seed)})

    @property
    def biases(self) -> list[str]:
        """The biases that ``bias`` combines; [] for ``none``."""
        return parts(self.bias)


def counting(baseline: str, order: int = WORD_ORDER) -> dict[str, Any]:
    """Return what one of :data:`WORD_BASELINES` counts: ``order``, and ``classes`` if it does.

    Args:
        baseline: name of the baseline.
        order: order of the n-grams of words.
    """
    if baseline == "class_ngram":
        return {"order": CLASS_ORDER, "classes": True}
    return {"order": 1 if baseline == "unigram" else order}


def words_of(size: str) -> int:
    """Return the number of words of a run's size; 0 for :data:`GIVEN`, whose words are unknown.

    Raises:
        ValueError: not a size.
    """
    return 0 if size == GIVEN else words(size)


def parts(word: str) -> list[str]:
    """Return the biases that a word such as ``dyck+recency`` combines; [] for ``none``."""
    return [part for part in word.split("+") if part != "none"]


def agrees(run: Run, kept: dict[str, set[str]]) -> bool:
    """Return whether a run has an allowed value on every axis of a :func:`parse_only` result."""
    return all(str(getattr(run, axis)) in values for axis, values in kept.items())


def parse_only(text: str | None, option: str = "") -> dict[str, set[str]]:
    """Parse ``size=10M,seed=42,seed=53``: axis -> values, which are alternatives.

    Args:
        text: axis=value, comma-separated; None for no restriction.
        option: name of the command-line option, for messages.

    Raises:
        PoshgridError: a part is not axis=value, or does not name an axis of the grid.
    """
    kept: dict[str, set[str]] = {}
    for part in filter(None, (p.strip() for p in (text or "").split(","))):
        axis, equals, value = (x.strip() for x in part.partition("="))
        if axis not in AXES or not equals or not value:
            near = did_you_mean(axis, AXES)
            axes = ", ".join(AXES)
            where = option and f"{option}: "
            raise PoshgridError(f"{where}{part!r} is not axis=value{near} (axes: {axes})")
        kept.setdefault(axis, set()).add(value)
    return kept
