"""Initial weights as a pure function of seed and parameter name.

Neither the order in which a library creates its layers nor the length of the context changes them:
the first rows of a table of positions are the same however many rows follow. So the untrained null
of a learner has the weights that every regimen of that learner and seed starts from.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor


def normal_(weight: Tensor, seed: int, name: str, deviation: float) -> None:
    """Fill a parameter with draws from Normal(0, deviation) that only seed and name decide.

    Args:
        weight: changed in place; any shape, filled row by row.
        seed: the run's seed.
        name: the parameter's name.
        deviation: standard deviation.
    """
    import torch

    stream = np.random.SeedSequence([seed, zlib.crc32(name.encode())])
    drawn = np.random.Generator(np.random.PCG64(stream)).standard_normal(
        tuple(weight.shape), dtype=np.float32
    )
    with torch.no_grad():
        weight.copy_(torch.from_numpy(drawn * np.float32(deviation)))
