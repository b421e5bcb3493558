"""The folder of distances: its files, and how training reads them.

A folder has these files. Sentences are in the order of ``train.bin``.

* ``distances.bin``: for each sentence, row by row, the distance of its first word to the boundary
  before it, the distances of its second word to the boundary and the first word, and so on; the
  last row is that of the boundary after it. Each distance is one byte; 255 means 255 or more. A
  sentence without a usable tree has no distances.
* ``words.bin``: a byte for each token: 1 if a word begins with it. In a sentence without a usable
  tree, only the boundaries have 1.
* ``offsets.npy``: [sentences + 1, 2]: the start of each sentence in ``words.bin`` and in
  ``distances.bin``.
* ``statistics.json``: how many sentences are used, why others are not, and the digest of the
  tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from poshgrid.core.errors import PoshgridError

# The configuration imports the biases, which import this module: import no library except numpy.

DISTANCES, WORDS, OFFSETS = "distances.bin", "words.bin", "offsets.npy"
STATISTICS = "statistics.json"
FARTHEST = 255
"""This number means this distance or a larger one."""


@dataclass(frozen=True)
class Padded:
    """The distances of some sentences, padded to rows of ``length`` tokens."""

    word: np.ndarray
    """Number of each token's word, int64, [rows, length]; 0 is the boundary before the first."""
    following: np.ndarray
    """Number of the next token's word, int64, [rows, length]; -1 without a next token."""
    distance: np.ndarray
    """Distances between the word that begins with the *next* token and the words to its left,
    float32, [rows, length, words]. Infinite if there is no such word to the left, no word begins
    with the next token, or the sentence has no usable tree."""
    predictions: np.ndarray
    """Number of tokens after the opening boundary, including the closing one, int64, [rows]."""


class Distances:
    """The files that :func:`poshgrid.models.distances.make.make` wrote, mapped into memory.

    Args:
        folder: their folder.

    Raises:
        PoshgridError: a file is missing or broken.
    """

    def __init__(self, folder: Path) -> None:
        try:
            self._offsets = np.load(folder / OFFSETS, allow_pickle=False)
            self._distances, self._words = (
                np.memmap(folder / name, np.uint8, "r") for name in (DISTANCES, WORDS)
            )
        except (OSError, ValueError, EOFError) as error:
            raise PoshgridError(
                f"{folder}: cannot read the distances ({error}); delete it and run "
                "the stage distances again"
            ) from error

    def padded(self, sentences: np.ndarray, length: int) -> Padded:
        """Return the distances of sentences, in rows of ``length`` input tokens.

        Args:
            sentences: their numbers in the split.
            length: of the rows; later tokens are left out.

        Raises:
            IndexError: a sentence does not exist.
        """
        first, last = self._offsets[sentences], self._offsets[sentences + 1]
        predictions = last[:, 0] - first[:, 0]
        column = np.arange(length + 1)
        inside = column <= predictions[:, None]
        index = np.where(inside, first[:, :1] + column, 0)
        begins = inside & (self._words[index] > 0)
        word = np.cumsum(begins, axis=1) - 1
        usable = last[:, 1] > first[:, 1]
        predicting = np.nonzero(begins[:, 1:] & usable[:, None])  # tokens before a word's start
        number = word[:, 1:][predicting]  # of the next word, which equals its words to the left
        left = np.arange(max(int(word.max()), 1))
        start = first[predicting[0], 1] + number * (number - 1) // 2
        real = left < number[:, None]
        packed = np.where(real, start[:, None] + left, 0)
        distance = np.full((len(sentences), length, len(left)), np.inf, np.float32)
        if len(number):
            distance[predicting] = np.where(real, self._distances[packed], np.inf)
        following = np.where(inside, word, -1)[:, 1:]
        return Padded(word[:, :length], following, distance, predictions)
