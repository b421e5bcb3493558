"""Batches of token rows. The rows of a batch depend only on the seed and the step.

*Packed* rows are windows of the text, as long as the context. *Sentence* rows are sentences with
both boundaries. In both cases every token is predicted exactly once per epoch, except the end of a
sentence that is longer than the context. Padding is predicted only with ``padding_in_loss``.

The batch of a step is a random sample of the epoch's rows. The random generator of an epoch is
``PCG64(SeedSequence([seed, 1, epoch]))``. Batch ``k`` of the epoch has the rows ``permutation(n)[k
* size : (k + 1) * size]``. Only its micro-batches group sentences by length (:meth:`Batch.split`).
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

IGNORED = -100  # target of a position that is not predicted; torch's cross entropy ignores it


MILESTONE_SLACK = 1.01
"""A milestone counts as reached if the last step misses it by at most 1%, because a
corpus of 10M words may have a few words less.
"""


def milestones(words: float) -> list[int]:
    """Return the milestones of BabyLM, in millions of words, that training on ``words`` reaches."""
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
        """Yield micro-batches; sentences are sorted by length, the longest first.

        Args:
            tokens: most tokens in a micro-batch, padding included; a single row may have more.
            padding: most padding tokens in a micro-batch of sentences.
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
                number -= 1  # a last row alone would need a new compilation
            rows, order = order[:number], order[number:]
            yield Batch(
                self.inputs[rows, :longest],
                self.targets[rows, :longest],
                None if self.sentences is None else self.sentences[rows],
                None if self.seen is None else self.seen[rows, :longest],
            )

    def filled(self, rows: int, length: int) -> Batch:
        """Return the batch padded to at least this shape; what is added has no targets."""
        more = ((0, max(rows - len(self.inputs), 0)), (0, max(length - self.inputs.shape[1], 0)))
        if not np.any(more):
            return self
        targets = np.pad(self.targets, more, constant_values=IGNORED)
        seen = None if self.seen is None else np.pad(self.seen, more)
        return Batch(np.pad(self.inputs, more), targets, seen=seen)


class Rows(ABC):
    """The rows of a split. Each step takes the next ones, in their own or in a random order.

    Args:
        number: number of rows.
        batch_size: rows in a step.
        seed: of the random order, which each epoch draws; None for their own order.
    """

    truncated = 0
    """Sentences longer than the context: they lose their end; masked rows are left out."""
    copies = 1
    """Rows of each sentence in one pass."""

    def __init__(self, number: int, batch_size: int, seed: int | None) -> None:
        self._number, self._size, self._seed = number, batch_size, seed
        self.steps_per_epoch = -(-number // batch_size)
        """Batches in one pass."""
        self._epoch = -1  # whose order was drawn last
        self._order = np.empty(0, np.uint8)

    @abstractmethod
    def batch(self, step: int) -> Batch:
        """Return the batch of a training step, counted from 0."""

    @abstractmethod
    def in_order(self, rows: int) -> Iterator[Batch]:
        """Yield the whole split once, unshuffled, ``rows`` rows at a time."""

    def _begin_epoch(self, random: np.random.Generator) -> None:
        """Draw the order of an epoch's rows."""
        # The smallest integer type: ten copies of each sentence of a corpus are many rows.
        numbers = np.arange(self._number, dtype=np.min_scalar_type(self._number))
        self._order = random.permutation(numbers)

    def _step_rows(self, step: int) -> np.ndarray:
        """Return the numbers of a step's rows, int64; begin its epoch if that is a new one."""
        epoch, batch = divmod(step, self.steps_per_epoch)
        first = batch * self._size
        if self._seed is None:
            return np.arange(first, min(first + self._size, self._number))
        if epoch != self._epoch:
            self._epoch = epoch
            self._begin_epoch(seeds.generator(self._seed, seeds.ORDER, epoch))
        return self._order[first : first + self._size].astype(np.int64)


class Packed(Rows):
    """Windows of ``context_length`` tokens.

    The stream begins and ends with the boundary token, so it is used as a ring. Each epoch starts
    at another token of the ring, so that a word is not always at the same position of its window.
    The last window is short.
    """

    def __init__(self, recipe: Recipe, tokens: Tokens, padding_id: int, seed: int) -> None:
        self._ids, self._length, self._padding = tokens.ids, recipe.context_length, padding_id
        self._ring = len(tokens.ids) - 1  # predictions in one pass
        self._start = 0
        number = -(-self._ring // self._length)
        super().__init__(number, recipe.batch_size, order_seed(recipe, seed))

    def batch(self, step: int) -> Batch:
        """Return the batch of a training step, counted from 0."""
        rows = self._step_rows(step)  # in a new epoch, this sets the start, too
        return self._cut(rows, self._start)

    def _begin_epoch(self, random: np.random.Generator) -> None:
        """Draw the token that an epoch starts at, then the order of its windows."""
        self._start = int(random.integers(self._ring))
        super()._begin_epoch(random)

    def in_order(self, rows: int) -> Iterator[Batch]:
        """Yield the whole split once, unshuffled, ``rows`` rows at a time."""
        for first in range(0, self._number, rows):
            yield self._cut(np.arange(first, min(first + rows, self._number)), 0)

    def _cut(self, rows: np.ndarray, start: int) -> Batch:
        """Return windows of the ring, by their numbers; the first begins at token ``start``."""
        begin = rows[:, None] * self._length
        position = begin + np.arange(self._length)  # [rows, context], counted from `start`
        real = position < self._ring
        inputs = self._ids[(start + position) % self._ring].astype(np.int64)
        targets = self._ids[(start + position + 1) % self._ring].astype(np.int64)
        width = int(real.sum(axis=1).max())
        return Batch(
            np.where(real, inputs, self._padding)[:, :width],
            np.where(real, targets, IGNORED)[:, :width],
        )


class Sentences(Rows):
    """One sentence in each row, padded to the longest of its batch.

    With ``padding_in_loss``, training pads every sentence to the context and predicts the padding,
    too, as in the published code of experiment 3 (recency arm).
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
        return self._pad(self._step_rows(step), self._width)

    def in_order(self, rows: int) -> Iterator[Batch]:
        """Yield the whole split once, shortest sentences first, ``rows`` at a time.

        No padding is predicted, so that the losses of all recipes are comparable.
        """
        order = np.argsort(self._lengths, kind="stable")
        for first in range(0, len(order), rows):
            yield self._pad(order[first : first + rows])

    def _pad(self, rows: np.ndarray, width: int | None = None) -> Batch:
        """Return sentences as rows. With a ``width``, all have it and padding is predicted."""
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
        padding_id: token id of positions without a token.
        seed: of the order.
    """
    kind = Packed if recipe.input == "packed" else Sentences
    return kind(recipe, tokens, padding_id, seed)


def order_seed(recipe: Recipe, seed: int) -> int | None:
    """Return the seed of the order of rows, or None if a recipe keeps the order of the corpus."""
    return None if recipe.order == "given" else seed
