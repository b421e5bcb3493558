"""Batches of token rows whose order is a pure function of (seed, step).

*Packed* rows are windows of the text, as long as the context. *Sentence* rows are sentences with
both their boundaries. In either case every token is predicted exactly once per epoch (but for
the tail of a sentence that is longer than the context), and padding is not, unless it is asked for.

A batch of the optimiser is a random sample of the epoch's rows: with ``PCG64(SeedSequence([seed, 1,
epoch]))`` as generator, batch ``k`` of an epoch has the rows ``permutation(n)[k * size : (k + 1) *
size]``. Only the micro-batches within it are of sentences of like length (:meth:`Batch.split`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from poshgrid.models.training import seeds

if TYPE_CHECKING:
    from poshgrid.config import Recipe
    from poshgrid.models.tokenization.encode import Tokens

IGNORED = -100  # target of a position that is not predicted; torch's cross entropy leaves it out


MILESTONE_SLACK = 1.01
"""A milestone counts as reached if the last step misses it by at most 1%: a corpus of 10M words has
a few words less.
"""


def milestones(words: float) -> list[int]:
    """Return the milestones of BabyLM that so many words seen reach, in millions of words."""
    reached = int(words * MILESTONE_SLACK / 1e6)
    known = [*range(1, 10), *range(10, 100, 10), *range(100, reached + 1, 100)]
    return [million for million in known if million <= reached]


@dataclass(frozen=True)
class Batch:
    """Inputs and targets, int64, each of shape [rows, length]; targets may be :data:`IGNORED`."""

    inputs: np.ndarray
    targets: np.ndarray
    sentences: np.ndarray | None = None
    """Number of each row's sentence in its split, [rows]; None if rows are not sentences."""
    seen: np.ndarray | None = None
    """Which inputs are not padding, bool, [rows, length]; None for causal attention."""

    @property
    def tokens(self) -> int:
        """Number of predicted tokens."""
        return int((self.targets != IGNORED).sum())

    def split(self, tokens: int, padding: int) -> Iterator[Batch]:
        """Yield micro-batches; sentences are sorted by length first, the longest in front.

        Args:
            tokens: of a micro-batch at most, padding included; a single row may have more.
            padding: of a micro-batch of sentences at most, tokens.
        """
        lengths = np.full(len(self.inputs), self.inputs.shape[1])
        if self.sentences is not None:
            lengths = (self.targets != IGNORED if self.seen is None else self.seen).sum(axis=1)
        order = np.argsort(-lengths, kind="stable")
        while len(order):
            longest = int(lengths[order[0]])
            fits = np.arange(1, len(order) + 1) * longest <= tokens
            fits &= np.cumsum(longest - lengths[order]) <= padding
            number = max(1, np.count_nonzero(fits))
            if self.sentences is not None and number == len(order) - 1 > 2:
                number -= 1  # the model would be compiled anew for a single row at the end
            rows, order = order[:number], order[number:]
            yield Batch(
                self.inputs[rows, :longest],
                self.targets[rows, :longest],
                None if self.sentences is None else self.sentences[rows],
                None if self.seen is None else self.seen[rows, :longest],
            )

    def filled(self, rows: int, length: int) -> Batch:
        """Pad with empty rows and columns to at least this shape; they have no targets."""
        more = ((0, max(rows - len(self.inputs), 0)), (0, max(length - self.inputs.shape[1], 0)))
        if not np.any(more):
            return self
        targets = np.pad(self.targets, more, constant_values=IGNORED)
        seen = None if self.seen is None else np.pad(self.seen, more)
        return Batch(np.pad(self.inputs, more), targets, seen=seen)


class Rows(ABC):
    """A split cut into rows, of which a step takes those that follow, or those of a drawn order.

    Args:
        number: of rows.
        batch_size: rows of a step.
        seed: of the order drawn for each epoch; None to take rows as they follow.
    """

    truncated = 0
    """Sentences that lose their tail, or of masked rows drop out: longer than the context."""
    copies = 1
    """Rows of each sentence in one pass."""

    def __init__(self, number: int, batch_size: int, seed: int | None) -> None:
        self._number, self._size, self._seed = number, batch_size, seed
        self.steps_per_epoch = -(-number // batch_size)
        """Batches in one pass."""
        self._epoch = -1  # that an order is drawn for
        self._order = np.empty(0, np.uint8)

    @abstractmethod
    def batch(self, step: int) -> Batch:
        """Return the batch of a training step, counted from 0."""

    @abstractmethod
    def in_order(self, rows: int) -> Iterator[Batch]:
        """Yield the whole split once, unshuffled, so many rows at a time."""

    def _draw(self, random: np.random.Generator) -> np.ndarray:
        """Return the order of an epoch's rows."""
        # The smallest type of number: ten copies of each sentence of a corpus are many rows.
        return random.permutation(np.arange(self._number, dtype=np.min_scalar_type(self._number)))

    def _taken(self, step: int) -> np.ndarray:
        """Return the numbers of a step's rows, int64."""
        epoch, batch = divmod(step, self.steps_per_epoch)
        first = batch * self._size
        if self._seed is None:
            return np.arange(first, min(first + self._size, self._number))
        if epoch != self._epoch:
            random = seeds.generator(self._seed, seeds.ORDER, epoch)
            self._epoch, self._order = epoch, self._draw(random)
        return self._order[first : first + self._size].astype(np.int64)


class Packed(Rows):
    """Windows of ``context_length`` tokens.

    The stream begins and ends with the boundary token, so it is a ring: each epoch cuts it from
    another starting point, which lets every word meet every position. The last window is short.
    """

    def __init__(self, recipe: Recipe, tokens: Tokens, padding_id: int, seed: int) -> None:
        self._ids, self._length, self._padding = tokens.ids, recipe.context_length, padding_id
        self._ring = len(tokens.ids) - 1  # predictions in one pass
        self._start = 0
        number = -(-self._ring // self._length)
        super().__init__(number, recipe.batch_size, order_seed(recipe, seed))

    def batch(self, step: int) -> Batch:
        """Return the batch of a training step, counted from 0."""
        rows = self._taken(step)  # which may draw another start
        return self._cut(rows, self._start)

    def _draw(self, random: np.random.Generator) -> np.ndarray:
        self._start = int(random.integers(self._ring))
        return super()._draw(random)

    def in_order(self, rows: int) -> Iterator[Batch]:
        """Yield the whole split once, unshuffled, so many rows at a time."""
        for first in range(0, self._number, rows):
            yield self._cut(np.arange(first, min(first + rows, self._number)), 0)

    def _cut(self, rows: np.ndarray, start: int) -> Batch:
        """Return windows of the ring that starts at a token; rows: numbers of windows."""
        begin = rows[:, None] * self._length
        position = begin + np.arange(self._length)  # [rows, context], before the turn of the ring
        real = position < self._ring
        inputs = self._ids[(start + position) % self._ring].astype(np.int64)
        targets = self._ids[(start + position + 1) % self._ring].astype(np.int64)
        width = int(real.sum(axis=1).max())
        return Batch(
            np.where(real, inputs, self._padding)[:, :width],
            np.where(real, targets, IGNORED)[:, :width],
        )


class Sentences(Rows):
    """One sentence a row, padded to the longest of its batch.

    With ``padding_in_loss`` every sentence is padded to the context, and the padding predicted,
    too, in training. That was done in the published code of experiment 3 (recency arm).
    """

    def __init__(self, recipe: Recipe, tokens: Tokens, padding_id: int, seed: int) -> None:
        self._width = recipe.context_length if recipe.padding_in_loss else None
        self._ids, self._offsets, self._padding = tokens.ids, tokens.offsets, padding_id
        whole = np.diff(tokens.offsets)  # predictions: the sentence's tokens and its last boundary
        self._lengths = np.minimum(whole, recipe.context_length)
        self.truncated = int((whole > recipe.context_length).sum())
        super().__init__(len(whole), recipe.batch_size, order_seed(recipe, seed))

    def batch(self, step: int) -> Batch:
        """Return the batch of a training step, counted from 0."""
        return self._pad(self._taken(step), self._width)

    def in_order(self, rows: int) -> Iterator[Batch]:
        """Yield the whole split once, shortest sentences first, so many at a time.

        No padding is predicted, so that the losses of all recipes compare.
        """
        order = np.argsort(self._lengths, kind="stable")
        for first in range(0, len(order), rows):
            yield self._pad(order[first : first + rows])

    def _pad(self, rows: np.ndarray, width: int | None = None) -> Batch:
        """Return sentences as rows; width: of all rows, whose padding is then predicted."""
        lengths = self._lengths[rows]
        column = np.arange(width or int(lengths.max()))
        real = column < lengths[:, None]
        position = np.where(real, self._offsets[rows][:, None] + column, 0)
        return Batch(
            np.where(real, self._ids[position], self._padding).astype(np.int64),
            np.where(
                real,
                self._ids[position + 1].astype(np.int64),
                self._padding if width else IGNORED,
            ),
            sentences=rows,
        )


def rows(recipe: Recipe, tokens: Tokens, padding_id: int, seed: int) -> Rows:
    """Cut a split as a recipe's ``input`` says: ``packed`` or ``sentence``.

    Args:
        recipe: input, context, batch size and order.
        tokens: the split.
        padding_id: stands where a row has no token.
        seed: of the order.
    """
    kind = Packed if recipe.input == "packed" else Sentences
    return kind(recipe, tokens, padding_id, seed)


def order_seed(recipe: Recipe, seed: int) -> int | None:
    """Return the seed of the order of a recipe's rows, or None if it is the corpus's own."""
    return None if recipe.order == "given" else seed
