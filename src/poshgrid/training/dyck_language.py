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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from poshgrid.tokenization.tokenizer import Vocabulary
from poshgrid.training import seeds
from poshgrid.training.data import Batch, Rows


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

    def draw(
        self, seed: int, indices: Sequence[int] | np.ndarray, part: str = "train"
    ) -> np.ndarray:
        """Return sequences, each a pure function of the seed, the part and its index.

        They are drawn side by side, place after place: a thousand of them take little longer than
        one.

        Args:
            seed: of the run.
            indices: numbers of the sequences, in any order.
            part: which of the seed's streams, e.g. ``train`` or ``dev``.

        Returns:
            Kinds, int32, of shape [indices, length]: ``i`` opens a bracket of kind i, and ``k + i``
            closes one.
        """
        number, length = len(indices), self.length
        # [length, number]: what is read at one place lies together
        coins, picks = np.empty((2, length, number), np.float32)
        kinds, brackets = np.empty((2, length, number), np.int32)
        purpose = zlib.crc32(f"dyck {part}".encode())
        for column, index in enumerate(indices):
            # The same draws for every sequence, whether it needs them or not, and no other's.
            random = seeds.generator(seed, purpose, int(index))
            coins[:, column] = random.random(length, np.float32)
            picks[:, column] = random.random(length, np.float32)
            kinds[:, column] = random.integers(self.k, size=length, dtype=np.int32)

        sequences = np.arange(number)
        held = np.zeros((number, self.depth), np.int32)  # kinds of the open brackets, in no order
        count = np.zeros(number, np.int64)
        for position in range(length):
            most = min(self.depth, length - position)
            opens = (count == 0) | ((count < most) & (coins[position] < self.p_open))
            # Picks are below 1 by no less than half a unit in the last place of float32, so that
            # the product is below the count, rounded as it may be.
            slot = np.where(opens, count, (picks[position] * count).astype(np.int64))
            brackets[position] = np.where(opens, kinds[position], held[sequences, slot] + self.k)
            # What closes leaves its slot to the last one that is open.
            held[sequences, slot] = np.where(opens, kinds[position], held[sequences, count - 1])
            count += np.where(opens, 1, -1)
        return np.ascontiguousarray(brackets.T)


SAMPLE = 2**18  # brackets that bigrams are counted in
# What may follow: the same bracket's kind or another one, opening or closing
_STEPS = ((True, True), (True, False), (False, True), (False, False))  # opens, of the same kind


class Flat(Language):
    """A flat language of the same bigrams: each bracket depends on the one before it alone.

    How often an opening or a closing bracket is followed by one that opens or closes, of its own
    kind or of another, is counted in sequences of the language; kinds are alike there, and so here.
    What is missing is all that needs more memory than one bracket: that each closes what is open.
    """

    @cached_property
    def bigrams(self) -> np.ndarray:
        """Probabilities of what follows a closing and an opening bracket, [2, 4]: ``_STEPS``."""
        number = -(-SAMPLE // self.length)
        drawn = super().draw(0, range(number), "bigrams")
        opens, kinds = drawn < self.k, drawn % self.k
        same = kinds[:, 1:] == kinds[:, :-1]
        which = np.select([opens[:, 1:] & same, opens[:, 1:], same], [0, 1, 2], 3)
        counted = np.zeros((2, len(_STEPS)))
        np.add.at(counted, (opens[:, :-1].astype(int), which), 1)
        return counted / counted.sum(axis=1, keepdims=True).clip(min=1)

    def draw(
        self, seed: int, indices: Sequence[int] | np.ndarray, part: str = "train"
    ) -> np.ndarray:
        """Return sequences; see :meth:`Language.draw`. The first bracket opens."""
        number, length, k = len(indices), self.length, self.k
        purpose = zlib.crc32(f"flat {part}".encode())
        coins = np.empty((length, number))
        jumps, brackets = np.empty((2, length, number), np.int32)
        kind = np.empty(number, np.int32)
        for column, index in enumerate(indices):
            random = seeds.generator(seed, purpose, int(index))
            coins[:, column] = random.random(length)
            kind[column] = random.integers(k)
            jumps[:, column] = random.integers(max(k - 1, 1), size=length)
        below = self.bigrams.cumsum(axis=1)
        below[:, -1] = 1  # whatever rounding leaves
        opens = np.ones(number, bool)
        brackets[0] = kind
        for position in range(1, length):
            # The first of the four whose cumulated probability the coin is below
            which = (coins[position, :, None] >= below[opens.astype(int)]).sum(axis=1)
            opens, same = np.array(_STEPS)[which].T
            # Of k - 1 other kinds: so many further on, in a circle
            other = (kind + 1 + jumps[position]) % k
            kind = np.where(same, kind, other).astype(np.int32)
            brackets[position] = np.where(opens, kind, kind + k)
        return np.ascontiguousarray(brackets.T)


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
