"""The shuffled k-Dyck language: k kinds of brackets, each well-balanced by itself.

Brackets of one kind nest as ever; those of different kinds may cross, ``( [ ) ]``. It is k Dyck
languages of one kind each, shuffled into one another (Suzgun et al., 2019; Hu et al., 2025).

A sequence is drawn from left to right. Let ``open`` be the number of brackets that are open and
``room`` the number of places that are left, this one included.

- Nothing is open: a bracket opens.
- As many are open as may be (``depth``), or as there is room to close: one closes.
- Else the place is *free*: a bracket opens with probability ``p_open``, or one closes.

The kind of a bracket that opens is drawn uniformly from all kinds. The bracket that closes is drawn
uniformly from those that are open, so that a kind which is open twice is twice as likely. (Whether
it is drawn from open brackets or from open kinds matters little where kinds are many and depth is
not.)
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
    """Probability that a bracket opens where it may open or close."""
    depth: int
    """Brackets open at once, at most, of all kinds together."""
    length: int
    """Brackets in a sequence; even."""

    name = "dyck"
    """Of its streams of random numbers."""

    def draw(
        self, seed: int, indices: Sequence[int] | np.ndarray, part: str = "train"
    ) -> np.ndarray:
        """Return sequences, each a pure function of the seed, the part and its index.

        Args:
            seed: of the run.
            indices: numbers of the sequences, in any order.
            part: which of the seed's streams, e.g. ``train`` or ``dev``.

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
                # What closes leaves its slot to the last one that is open
                slot = int(pick * len(held))
                brackets.append(held[slot] + self.k)
                held[slot] = held[-1]
                held.pop()
            room -= 1
        return brackets


SAMPLE = 2**18  # brackets that bigrams are counted in
# What may follow: the same bracket's kind or another one, opening or closing
_STEPS = ((True, True), (True, False), (False, True), (False, False))  # opens, of the same kind


class Flat(Language):
    """A flat language of the same bigrams: each bracket depends on the one before it alone.

    How often an opening or a closing bracket is followed by one that opens or closes, of its own
    kind or of another, is counted in sequences of the language; kinds are alike there, and so here.
    What is missing is all that needs more memory than one bracket: that each closes what is open.
    """

    name = "flat"

    @cached_property
    def bigrams(self) -> np.ndarray:
        """Probabilities of what follows a closing and an opening bracket, [2, 4]: ``_STEPS``."""
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
            # The first of the four whose cumulated probability the coin is below
            opens, same = _STEPS[bisect_right(below[opens], coin)]
            if not same:  # of k - 1 other kinds: so many further on, in a circle
                kind = (kind + 1 + jump) % self.k
            brackets.append(kind if opens else kind + self.k)
        return brackets


LANGUAGES = {"dyck": Language, "flat-brackets": Flat}
"""Bias -> what its sequences are drawn from."""


@dataclass(frozen=True)
class Alphabet:
    """How brackets become token ids, and the size of the model that reads them."""

    pieces: list[list[int]]
    """Ids of every bracket, 2 k of them, in the order of :meth:`Language.draw`."""
    vocabulary: Vocabulary

    def ids(self, brackets: np.ndarray) -> np.ndarray:
        """Return the first ids of sequences, as many as they have brackets: [rows, length]."""
        table = np.full((len(self.pieces), max(map(len, self.pieces))), -1, np.int64)
        for bracket, pieces in enumerate(self.pieces):
            table[bracket, : len(pieces)] = pieces
        rows = (table[row].ravel() for row in brackets)
        return np.stack([row[row >= 0][: brackets.shape[1]] for row in rows])


class Brackets(Rows):
    """Rows of the language: each is the boundary and a sequence, of which all is predicted.

    A pass is as long as training, so no sequence comes twice.

    Args:
        language: what sequences are drawn from.
        alphabet: how they are written. A sequence whose ids are more than its brackets loses the
            rest, so that every row is as long as the language's ``length``.
        seed: of the run.
        part: of the seed's sequences; see :meth:`Language.draw`.
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
        self._drawn_by, self._part = seed, part

    def batch(self, step: int) -> Batch:
        """Return the batch of a training step, counted from 0."""
        return self._rows(np.arange(step * self._size, (step + 1) * self._size))

    def in_order(self, rows: int) -> Iterator[Batch]:
        """Yield a whole pass once, so many rows at a time."""
        for first in range(0, self._number, rows):
            yield self._rows(np.arange(first, min(first + rows, self._number)))

    def _rows(self, indices: np.ndarray) -> Batch:
        """Return the sequences of these numbers."""
        targets = self._alphabet.ids(self._language.draw(self._drawn_by, indices, self._part))
        inputs = np.roll(targets, 1, axis=1)
        inputs[:, 0] = self._alphabet.vocabulary.boundary_id
        return Batch(inputs, targets)
