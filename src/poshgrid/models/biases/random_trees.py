"""Control of tree-planting: each sentence has its tree, but with words at random positions in it.

The tree keeps its shape and its distances; the words are moved to other positions in it. The new
positions are drawn once for each seed and sentence. Boundaries keep their positions. In a sentence
that is longer than the context, only words inside the context are moved. The published code of TPT
draws each distance separately from the distances of the corpus, so its random trees are no trees.
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
    """Tree-planting with words at random positions in the tree."""

    word = "random-trees"

    def distances(self, padded: Padded, sentences: np.ndarray, seed: int) -> np.ndarray:
        """Return the distances between the moved words; see the method of tree-planting."""
        known = np.isfinite(padded.distance)
        rows, length, words = padded.distance.shape
        row, position = np.nonzero(known.any(axis=-1))
        predicted = padded.following[row, position]
        square = np.zeros((rows, words + 1, words + 1), padded.distance.dtype)
        square[row, predicted, :words] = np.where(known, padded.distance, 0)[row, position]
        square += square.transpose(0, 2, 1)
        order = np.tile(np.arange(words + 1), (rows, 1))
        # The last predicted word is the closing boundary, unless the context ends before it.
        last = padded.following.max(axis=1) - (padded.predictions <= length)
        for index, (sentence, number) in enumerate(zip(sentences, last, strict=True)):
            draw = seeds.generator(seed, seeds.TREES, int(sentence))
            order[index, 1 : number + 1] = 1 + draw.permutation(max(int(number), 0))
        moved = np.take_along_axis(square, order[:, :, None], axis=1)
        moved = np.take_along_axis(moved, order[:, None, :], axis=2)
        distance = np.full_like(padded.distance, np.inf)
        distance[row, position] = moved[row, predicted, :words]
        distance[~known] = np.inf
        return distance


build = RandomTrees
