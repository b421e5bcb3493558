"""Independent random streams; each depends only on the run's seed, its purpose and an index.

No random state is carried from step to step, so a resumed run continues exactly.
"""

from __future__ import annotations

import numpy as np

ORDER = 1  # of the training rows, by epoch
DROPOUT = 2  # by step
MASKS = 3  # which tokens are hidden, by epoch or step
TREES = 4  # which words change places in a tree, by sentence


def generator(seed: int, purpose: int, index: int) -> np.random.Generator:
    """Return the generator of one purpose and one index (an epoch, step or sentence)."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, purpose, index])))


def dropout(seed: int, step: int) -> None:
    """Set torch's random state for one step; only dropout draws from it."""
    import torch

    word = int(np.random.SeedSequence([seed, DROPOUT, step]).generate_state(1, np.uint64)[0])
    # Not torch.manual_seed: it takes milliseconds to look for devices that do not exist.
    torch.default_generator.manual_seed(word)
    if torch.cuda.is_available():
        torch.cuda.manual_seed_all(word)
