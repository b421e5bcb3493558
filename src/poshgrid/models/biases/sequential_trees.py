"""Control of tree-planting: the distance of two words is the number of words from one to the other.

Boundaries count as words. Attention is drawn to near words of the sentence instead of the tree, as
in the published code of TPT.
"""

from __future__ import annotations

import numpy as np

from poshgrid.models.biases import tree_planting
from poshgrid.models.biases.tree_planting import ARCHITECTURES, TREES, Options, check
from poshgrid.models.distances.folder import Padded

__all__ = ["ARCHITECTURES", "CONTROLS", "TREES", "Options", "build", "check"]

CONTROLS = "tree-planting"


class SequentialTrees(tree_planting.TreePlanting):
    """Tree-planting in which every word hangs off the one before it."""

    word = "sequential-trees"

    def distances(self, padded: Padded, sentences: np.ndarray, seed: int) -> np.ndarray:
        """Return how many words back; see the method of tree-planting."""
        back = padded.following[:, :, None] - np.arange(padded.distance.shape[-1])
        return np.where(np.isfinite(padded.distance), back, np.inf).astype(padded.distance.dtype)


build = SequentialTrees
