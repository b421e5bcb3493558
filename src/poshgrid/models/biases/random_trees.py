"""Control of tree-planting: every sentence has its own tree, with its words in other places.

What distances a sentence has, and that they are those of a tree, stays; whose they are does not.
Which words change places is drawn once for each seed and sentence, boundaries stay, and of a
sentence longer than a context those words alone are exchanged that are in it. The published code of
TPT draws every distance by itself from those of the corpus, so that its random trees are none.
"""

from __future__ import annotations

import numpy as np

from poshgrid.models.biases import tree_planting
from poshgrid.models.biases.tree_planting import ARCHITECTURES, TREES, Options, check
from poshgrid.models.distances.folder import Padded
from poshgrid.models.training import seeds

__all__ = ["ARCHITECTURES", "CONTROLS", "TREES", "Options", "build", "check"]

CONTROLS = "tree-planting"


class RandomTrees(tree_planting.TreePlanting):
    """Tree-planting whose words stand elsewhere in the tree."""

    word = "random-trees"

    def distances(self, padded: Padded, sentences: np.ndarray, seed: int) -> np.ndarray:
        """Return the distances of exchanged words; see the method of tree-planting."""
        known = np.isfinite(padded.distance)
        rows, length, words = padded.distance.shape
        row, position = np.nonzero(known.any(axis=-1))
        asked = padded.following[row, position]
        square = np.zeros((rows, words + 1, words + 1), padded.distance.dtype)
        square[row, asked, :words] = np.where(known, padded.distance, 0)[row, position]
        square += square.transpose(0, 2, 1)
        order = np.tile(np.arange(words + 1), (rows, 1))
        # The last word that is predicted is the closing boundary, unless it is cut off.
        last = padded.following.max(axis=1) - (padded.predictions <= length)
        for index, (sentence, number) in enumerate(zip(sentences, last, strict=True)):
            draw = seeds.generator(seed, seeds.TREES, int(sentence))
            order[index, 1 : number + 1] = 1 + draw.permutation(max(int(number), 0))
        moved = np.take_along_axis(square, order[:, :, None], axis=1)
        moved = np.take_along_axis(moved, order[:, None, :], axis=2)
        distance = np.full_like(padded.distance, np.inf)
        distance[row, position] = moved[row, asked, :words]
        distance[~known] = np.inf
        return distance


build = RandomTrees
