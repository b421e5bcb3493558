"""The shuffled k-Dyck language: k kinds of brackets, each well-balanced by itself.

Brackets of one kind nest as usual; brackets of different kinds may cross: ``( [ ) ]``. So k Dyck
languages of one kind each are shuffled into one (Suzgun et al., 2019; Hu et al., 2025).

A sequence is drawn from left to right. Let ``open`` be the number of open brackets and ``room`` the
number of positions that are left, including this one.

- No bracket is open: one opens.
- ``open`` is as large as ``depth`` or as ``room``: one closes.
- Otherwise the position is *free*: one opens with probability ``p_open``, or one closes.

The kind of an opening bracket is drawn uniformly from all kinds. The closing bracket is drawn
uniformly from the open brackets, so that a kind that is open twice is twice as likely. (If there
are many kinds and the depth is small, it would hardly matter to draw from open kinds instead.)
"""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from poshgrid.models.tokenization.tokenizer import Vocabulary
from poshgrid.models.training import seeds
from poshgrid.models.training.data import Batch, Rows


@dataclass(frozen=True)
class Language:
    """A shuffled k-Dyck language; see this module."""

    k: int
    """Kinds of brackets."""
    p_open: float
    """Probability that a bracket opens at a position where it may open or close."""
    depth: int
    """Most brackets that may be open at the same time, all kinds together."""
    length: int
    """Brackets in a sequence; even."""

    name = "dyck"
    """Name in the keys of its random streams."""

    def draw(
        self, seed: int, indices: Sequence[int] | np.ndarray, part: str = "train"
    ) -> np.ndarray:
        """Return sequences. Each depends only on the seed, the part and its index.

        Args:
            seed: of the run.
            indices: numbers of the sequences, in any order.
            part: ``train``, ``dev`` ...: each has its own random stream.

        Returns:
            Kinds, int32, of shape [indices, length]: ``i`` opens a bracket of kind i, and ``k + i``
            closes one.
        """
        purpose = zlib.crc32(f"{self.name} {part}".encode())
        streams = (seeds.generator(seed, purpose, int(index)) for index in indices)
        return np.array([self._sequence(random) for random in streams], np.int32)

    def _sequence(self, random: np.random.Generator) -> list[int]:
        coins, picks = (random.random(self.length, np.float32).tolist() for _ in range(2))
        kinds = random.integers(self.k, size=self.length, dtype=np.int32).tolist()
        p_open, room = float(np.float32(self.p_open)), self.length
        held: list[int] = []  # kinds of the open brackets, in no order
        brackets = []
        for coin, pick, kind in zip(coins, picks, kinds, strict=True):
            if not held or (len(held) < min(self.depth, room) and coin < p_open):
                held.append(kind)
                brackets.append(kind)
            else:
                # The last open bracket moves into the slot of the closed one
                slot = int(pick * len(held))
                brackets.append(held[slot] + self.k)
                held[slot] = held[-1]
                held.pop()
            room -= 1
        return brackets


SAMPLE = 2**18  # brackets in the sample in which bigrams are counted
# What may follow a bracket: one that opens or closes, of the same kind or another
_STEPS = ((True, True), (True, False), (False, True), (False, False))  # opens, of the same kind


class Flat(Language):
    """A flat language with the same bigrams: each bracket depends only on the one before it.

    The bigrams are counted in sequences of :class:`Language`: how often a bracket that opens (or
    closes) is followed by one that opens (or closes), of the same kind or another. Both languages
    use all kinds equally often. This one lacks everything that needs more memory than one bracket:
    its brackets do not match.
    """

    name = "flat"

    @cached_property
    def bigrams(self) -> np.ndarray:
        """Probability of each of ``_STEPS`` after a closing and an opening bracket, [2, 4]."""
        number = -(-SAMPLE // self.length)
        drawn = Language(**vars(self)).draw(0, range(number), "bigrams")
        opens, kinds = drawn < self.k, drawn % self.k
        same = kinds[:, 1:] == kinds[:, :-1]
        which = np.select([opens[:, 1:] & same, opens[:, 1:], same], [0, 1, 2], 3)
        counted = np.zeros((2, len(_STEPS)))
        np.add.at(counted, (opens[:, :-1].astype(int), which), 1)
        return counted / counted.sum(axis=1, keepdims=True).clip(min=1)

    def _sequence(self, random: np.random.Generator) -> list[int]:
        """Return a sequence whose first bracket opens."""
        coins, kind = random.random(self.length).tolist(), int(random.integers(self.k))
        jumps = random.integers(max(self.k - 1, 1), size=self.length).tolist()
        below = self.bigrams.cumsum(axis=1)[:, :-1].tolist()
        opens, brackets = True, [kind]
        for coin, jump in zip(coins[1:], jumps[1:], strict=True):
            # The first of the four whose cumulative probability is above the coin
            opens, same = _STEPS[bisect_right(below[opens], coin)]
            if not same:  # one of the k - 1 other kinds
                kind = (kind + 1 + jump) % self.k
            brackets.append(kind if opens else kind + self.k)
        return brackets


LANGUAGES = {"dyck": Language, "flat-brackets": Flat}
"""Bias -> the language of its sequences."""


@dataclass(frozen=True)
class Alphabet:
    """How brackets become token ids, and the vocabulary of the model that reads them."""

    pieces: list[list[int]]
    """Token ids of each of the 2 k brackets, in the order of :meth:`Language.draw`."""
    vocabulary: Vocabulary

    def ids(self, brackets: np.ndarray) -> np.ndarray:
        """Return the first ids of sequences, as many as their brackets: [rows, length]."""
        table = np.full((len(self.pieces), max(map(len, self.pieces))), -1, np.int64)
        for bracket, pieces in enumerate(self.pieces):
            table[bracket, : len(pieces)] = pieces
        rows = (table[row].ravel() for row in brackets)
        return np.stack([row[row >= 0][: brackets.shape[1]] for row in rows])


class Brackets(Rows):
    """Rows of the language: each is the boundary and a sequence, all of which is predicted.

    One pass is the whole training, so no sequence occurs twice.

    Args:
        language: draws the sequences.
        alphabet: writes them. A sequence with more ids than brackets is cut, so that every row is
            as long as the language's ``length``.
        seed: of the run.
        part: see :meth:`Language.draw`.
        batch_size: sequences in a batch.
        steps: batches in a pass.
    """

    def __init__(
        self,
        language: Language,
        alphabet: Alphabet,
        *,
        seed: int,
        part: str,
        batch_size: int,
        steps: int,
    ) -> None:
        super().__init__(batch_size * steps, batch_size, None)
        self._language, self._alphabet = language, alphabet
        self._language_seed, self._part = seed, part

    def batch(self, step: int) -> Batch:
        """Return the batch of a training step, counted from 0."""
        return self._rows(np.arange(step * self._size, (step + 1) * self._size))

    def in_order(self, rows: int) -> Iterator[Batch]:
        """Yield the whole pass once, ``rows`` rows at a time."""
        for first in range(0, self._number, rows):
            yield self._rows(np.arange(first, min(first + rows, self._number)))

    def _rows(self, indices: np.ndarray) -> Batch:
        """Return the sequences with these numbers."""
        targets = self._alphabet.ids(self._language.draw(self._language_seed, indices, self._part))
        inputs = np.roll(targets, 1, axis=1)
        inputs[:, 0] = self._alphabet.vocabulary.boundary_id
        return Batch(inputs, targets)
