"""Independent random streams, each a pure function of the run's seed and a place in the run.

No random state is carried from step to step, so a resumed run needs none to go on exactly.
"""

from __future__ import annotations

import numpy as np

ORDER = 1  # of the training rows, by epoch
DROPOUT = 2  # by step
MASKS = 3  # what is hidden of sentences, by epoch
TREES = 4  # which words change places in a tree, by sentence


def generator(seed: int, purpose: int, index: int) -> np.random.Generator:
    """Return a generator for one purpose at one place (epoch or step)."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, purpose, index])))


def dropout(seed: int, step: int) -> None:
    """Set torch's random state, which only dropout draws from, for one step."""
    import torch

    word = int(np.random.SeedSequence([seed, DROPOUT, step]).generate_state(1, np.uint64)[0])
    # Not torch.manual_seed, which takes milliseconds to ask for devices that are not there.
    torch.default_generator.manual_seed(word)
    if torch.cuda.is_available():
        torch.cuda.manual_seed_all(word)
