"""Independent random streams, each a pure function of the run's seed and a place in the run.

No random state is carried from step to step, so a resumed run needs none to go on exactly.
"""

from __future__ import annotations

import numpy as np

ORDER = 1  # of the training rows, by epoch
DROPOUT = 2  # by step


def generator(seed: int, purpose: int, index: int) -> np.random.Generator:
    """Return a generator for one purpose at one place (epoch or step)."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, purpose, index])))


def dropout(seed: int, step: int) -> None:
    """Set torch's random state, which only dropout draws from, for one step."""
    import torch

    word = np.random.SeedSequence([seed, DROPOUT, step]).generate_state(1, np.uint64)[0]
    torch.manual_seed(int(word))
