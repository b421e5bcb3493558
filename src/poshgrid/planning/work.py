"""The size of a learner: its parameters, and the FLOPs of training it on a token.

Both are counted from the options alone, so that a plan needs no torch; a test compares the counts
with the models themselves and with :func:`poshgrid.training.flops.per_token`, whose docstring names
the sources. An architecture that is not known here is built and counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from poshgrid.config import Learner, Regimen
from poshgrid.grid.grid import Grid
from poshgrid.training import learner as learners


@dataclass(frozen=True)
class LearnerSize:
    """Parameters of a learner, and FLOPs per token of its training, forward and backward."""

    parameters: int
    flops: float


def learner_size(learner: Learner, regimen: Regimen, vocabulary: int) -> LearnerSize:
    """Return the size of a learner.

    Args:
        learner: architecture and options.
        regimen: that it is trained in.
        vocabulary: number of token types.
    """
    context = regimen.context_length
    positions = regimen.positions or context
    count = _SHAPES.get(learner.architecture)
    if count is None:
        return _built(learner, vocabulary, context, positions)
    return count(learners.options(learner), vocabulary, context, positions)


def _gpt2(o: Any, vocabulary: int, context: int, positions: int) -> LearnerSize:  # noqa: ANN401
    width, ffn = o.hidden_size, o.ffn or 4 * o.hidden_size
    layer = 4 * width * width + 2 * width * ffn
    vectors = 9 * width + ffn  # of a layer: biases, and gains and biases of two norms
    matrices = o.layers * layer + vocabulary * width
    parameters = matrices + positions * width + o.layers * vectors + 2 * width
    return LearnerSize(parameters, 6.0 * matrices + 12.0 * o.layers * width * context / 2)


def _lstm(o: Any, vocabulary: int, context: int, positions: int) -> LearnerSize:  # noqa: ANN401
    layer = 8 * o.hidden_size * o.hidden_size
    matrices = o.layers * layer + vocabulary * o.hidden_size
    parameters = matrices + o.layers * 8 * o.hidden_size
    return LearnerSize(parameters, 6.0 * matrices)


def _babyberta(o: Any, vocabulary: int, context: int, positions: int) -> LearnerSize:  # noqa: ANN401
    width, types = o.hidden_size, vocabulary + 1  # the mask's embedding
    layer = 4 * width * width + 2 * width * o.ffn
    vectors = 9 * width + o.ffn
    matrices = o.layers * layer + width * width + types * width
    around = (positions + 3) * width + 5 * width + types
    return LearnerSize(
        matrices + o.layers * vectors + around, 6.0 * matrices + 12.0 * o.layers * width * context
    )


_SHAPES: dict[str, Callable[[Any, int, int, int], LearnerSize]] = {
    "gpt2": _gpt2,
    "lstm": _lstm,
    "babyberta": _babyberta,
}


def _built(learner: Learner, vocabulary: int, context: int, positions: int) -> LearnerSize:
    """Build the model without memory for its weights, and count."""
    import torch

    from poshgrid.training import flops

    with torch.device("meta"):
        model = learners.build(learner, vocabulary_size=vocabulary, context_length=positions,
                               dropout=0.0, boundary_id=0, padding_id=1, seed=0)  # fmt: skip
    found = sum(weight.numel() for weight in model.parameters())
    return LearnerSize(found, flops.per_token(model, context))


def kept(grid: Grid, name: str) -> int:
    """Return how many checkpoints a regimen keeps in addition to the model."""
    regimen = grid.regimens.get(name)
    if regimen is None:
        return 0
    epochs = regimen.checkpoint_epochs
    passes = (regimen.epochs or 0) if epochs == "every" else len(epochs)
    return len(regimen.checkpoints) + passes
