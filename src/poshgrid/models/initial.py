"""Draw initial weights, which depend only on the seed and the name of the parameter.

They depend neither on the order in which a library creates its layers nor on the length of the
context: a longer table of positions begins with the rows of a shorter one. So the untrained
baseline has the same weights that every recipe of that model and seed starts from.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor
    from transformers import PreTrainedConfig, PreTrainedModel

    Model = TypeVar("Model", bound=PreTrainedModel)


def untouched(kind: type[Model], config: PreTrainedConfig) -> Model:
    """Return a model in training mode, with tied weights if the configuration ties them.

    Args:
        kind: a class of transformers' models.
        config: of the model. The global random state does not change.
    """
    import torch

    with torch.random.fork_rng(devices=[]):
        model = kind(config)
    model.tie_weights()
    return model.train()


def seeded(
    kind: type[Model], config: PreTrainedConfig, seed: int, deviation: Callable[[str], float]
) -> Model:
    """Build a transformer in training mode: matrices from a normal, biases 0, gains of norms 1.

    Args:
        kind: a class of transformers' models; parameters whose names end in ``bias`` are biases.
        config: of the model.
        seed: the run's seed; the global random state does not change.
        deviation: name of a matrix -> its standard deviation.
    """
    import torch

    model = untouched(kind, config)
    for name, weight in model.named_parameters():
        if weight.dim() > 1:
            normal_(weight, seed, name, deviation(name))
        else:
            torch.nn.init.constant_(weight, 0.0 if name.endswith("bias") else 1.0)
    return model


def normal_(weight: Tensor, seed: int, name: str, deviation: float) -> None:
    """Fill a parameter with draws from Normal(0, deviation) that depend only on seed and name.

    Args:
        weight: changed in place; any shape, filled row by row.
        seed: the run's seed.
        name: the parameter's name.
        deviation: standard deviation.
    """
    drawn = _stream(seed, name).standard_normal(tuple(weight.shape), dtype=np.float32)
    _fill(weight, drawn * np.float32(deviation))


def uniform_(weight: Tensor, seed: int, name: str, bound: float) -> None:
    """Fill a parameter with draws from U(-bound, bound) that depend only on seed and name.

    Args:
        weight: changed in place; any shape, filled row by row.
        seed: the run's seed.
        name: the parameter's name.
        bound: largest absolute value.
    """
    drawn = _stream(seed, name).random(tuple(weight.shape), dtype=np.float32)
    _fill(weight, (2 * drawn - 1) * np.float32(bound))


def _stream(seed: int, name: str) -> np.random.Generator:
    stream = np.random.SeedSequence([seed, zlib.crc32(name.encode())])
    return np.random.Generator(np.random.PCG64(stream))


def _fill(weight: Tensor, values: np.ndarray) -> None:
    import torch

    with torch.no_grad():
        weight.copy_(torch.from_numpy(values))
