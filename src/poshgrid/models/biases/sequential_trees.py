"""Control of tree-planting: the distance of two words is the number of words from one to the other.

Boundaries count as words. So attention learns to prefer words that are near in the sentence, not in
the tree. The published code of TPT has this control, too.
"""

from __future__ import annotations

import numpy as np

from poshgrid.models.biases import tree_planting
from poshgrid.models.biases.tree_planting import ARCHITECTURES, TREES, Options, check
from poshgrid.models.distances.folder import Padded

__all__ = ["ARCHITECTURES", "CONTROLS", "TREES", "Options", "build", "check"]

CONTROLS = "tree-planting"


class SequentialTrees(tree_planting.TreePlanting):
    """Tree-planting in which the head of every word is the word before it."""

    word = "sequential-trees"

    def distances(self, padded: Padded, sentences: np.ndarray, seed: int) -> np.ndarray:
        """Return distances in words; see the method of tree-planting."""
        back = padded.following[:, :, None] - np.arange(padded.distance.shape[-1])
        return np.where(np.isfinite(padded.distance), back, np.inf).astype(padded.distance.dtype)


build = SequentialTrees
