"""The folder of distances: its files, and how training reads them.

A folder holds, for the sentences of ``train.bin`` in their order:

* ``distances.bin``: for each sentence, row by row, the distances of its first word to the boundary
  before it, of its second word to the boundary and the first word, and so on; the last row is that
  of the boundary after it. One byte each; 255 stands for 255 and more. A sentence without a usable
  tree has none.
* ``words.bin``: a byte for each token: 1 if a word begins with it. Of a sentence without a usable
  tree only the boundaries do.
* ``offsets.npy``: [sentences + 1, 2]: where sentences begin in ``words.bin`` and ``distances.bin``.
* ``statistics.json``: how many sentences are used, and why others are not;
  the digest of the tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from poshgrid.errors import PoshgridError

# The configuration imports the biases, and they this module: no library but numpy is imported here.

DISTANCES, WORDS, OFFSETS = "distances.bin", "words.bin", "offsets.npy"
STATISTICS = "statistics.json"
FARTHEST = 255
"""Stands for this distance and all above it."""


@dataclass(frozen=True)
class Padded:
    """The distances of some sentences, padded; ``length`` is that of their rows of tokens."""

    word: np.ndarray
    """Number of the word of each token, int64, [rows, length]; 0: the boundary before the first."""
    following: np.ndarray
    """The same of the token after each, which it predicts; -1: there is none."""
    distance: np.ndarray
    """From the word that the *next* token begins to the words on its left, float32, [rows, length,
    words]; infinite: no such word, or the next token begins none, or no tree."""
    predictions: np.ndarray
    """Tokens that follow the opening boundary, the closing one included, int64, [rows]."""


class Distances:
    """What :func:`poshgrid.distances.make.make` wrote, mapped into memory.

    Args:
        distances: packed rows, see :mod:`poshgrid.distances.folder`.
        words: which tokens begin a word.
        offsets: of sentences in both, [sentences + 1, 2].
    """

    def __init__(self, distances: np.ndarray, words: np.ndarray, offsets: np.ndarray) -> None:
        self._distances, self._words, self._offsets = distances, words, offsets

    def padded(self, sentences: np.ndarray, length: int) -> Padded:
        """Return the distances of sentences, for rows of so many input tokens.

        Args:
            sentences: their numbers in the split.
            length: of the rows: tokens after it are cut off.

        Raises:
            IndexError: no such sentence.
        """
        first, last = self._offsets[sentences], self._offsets[sentences + 1]
        predictions = last[:, 0] - first[:, 0]
        column = np.arange(length + 1)
        inside = column <= predictions[:, None]
        index = np.where(inside, first[:, :1] + column, 0)
        begins = inside & (self._words[index] > 0)
        word = np.cumsum(begins, axis=1) - 1
        usable = last[:, 1] > first[:, 1]
        asked = np.nonzero(begins[:, 1:] & usable[:, None])
        number = word[:, 1:][asked]  # of the word that is asked for: it has so many on its left
        left = np.arange(max(int(word.max()), 1))
        start = first[asked[0], 1] + number * (number - 1) // 2
        real = left < number[:, None]
        packed = np.where(real, start[:, None] + left, 0)
        distance = np.full((len(sentences), length, len(left)), np.inf, np.float32)
        if len(number):
            distance[asked] = np.where(real, self._distances[packed], np.inf)
        following = np.where(inside, word, -1)[:, 1:]
        return Padded(word[:, :length], following, distance, predictions)


def load(folder: Path) -> Distances:
    """Map a folder that :func:`poshgrid.distances.make.make` wrote into memory.

    Raises:
        PoshgridError: a file is missing or broken.
    """
    folder = Path(folder)
    try:
        offsets = np.load(folder / OFFSETS, allow_pickle=False)
        distances, words = (np.memmap(folder / n, np.uint8, "r") for n in (DISTANCES, WORDS))
    except (OSError, ValueError, EOFError) as error:
        raise PoshgridError(
            f"{folder}: cannot read the distances ({error}); delete it and run "
            "the stage distances again"
        ) from error
    return Distances(distances, words, offsets)
