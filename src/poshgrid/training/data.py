"""Batches of token rows whose order is a pure function of (seed, step).

*Packed* rows are windows of the text, as long as the context. *Sentence* rows are sentences with
both their boundaries. In either case every token is predicted exactly once per epoch (but for
the tail of a sentence that is longer than the context), and padding is not, unless it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from poshgrid.errors import PoshgridError
from poshgrid.training import seeds

if TYPE_CHECKING:
    from poshgrid.tokenization.encode import Tokens

IGNORED = -100  # target of a position that is not predicted; torch's cross entropy leaves it out
CHUNK = 64  # batches of sentences that are sorted by length together


@dataclass(frozen=True)
class Batch:
    """Inputs and targets, int64, each of shape [rows, length]; targets may be :data:`IGNORED`."""

    inputs: np.ndarray
    targets: np.ndarray
    sentences: np.ndarray | None = None
    """Number of each row's sentence in its split, [rows]; none: rows are not sentences."""
    seen: np.ndarray | None = None
    """Which inputs are not padding, bool, [rows, length]; none: causal attention needs no mask."""

    @property
    def tokens(self) -> int:
        """Number of predicted tokens."""
        return int((self.targets != IGNORED).sum())

    def split(self, rows: int) -> Iterator[Batch]:
        """Yield micro-batches of at most so many rows."""
        for start in range(0, len(self.inputs), rows):
            part = slice(start, start + rows)
            yield Batch(
                self.inputs[part],
                self.targets[part],
                None if self.sentences is None else self.sentences[part],
                None if self.seen is None else self.seen[part],
            )

    def filled(self, rows: int, length: int) -> Batch:
        """Return as many rows, as long, as asked for at least; nothing is predicted in the new."""
        more = ((0, max(rows - len(self.inputs), 0)), (0, max(length - self.inputs.shape[1], 0)))
        if not np.any(more):
            return self
        return Batch(np.pad(self.inputs, more), np.pad(self.targets, more, constant_values=IGNORED))


class Rows(Protocol):
    """A split cut into rows."""

    truncated: int
    """Sentences that lose their tail, or of masked rows drop out: longer than the context."""

    @property
    def steps_per_epoch(self) -> int:
        """Batches in one pass."""

    def batch(self, step: int) -> Batch:
        """Return the batch of a training step, counted from 0."""

    def in_order(self, rows: int) -> Iterator[Batch]:
        """Yield the whole split once, unshuffled, so many rows at a time."""


class Packed:
    """Windows of ``context_length`` tokens.

    The stream begins and ends with the boundary token, so it is a ring: each epoch cuts it from
    another starting point, which lets every word meet every position. The last window is short.
    """

    def __init__(
        self,
        tokens: Tokens,
        context_length: int,
        batch_size: int,
        padding_id: int,
        seed: int,
        order: str = "shuffled",
    ) -> None:
        self.truncated, self._given = 0, order == "given"
        self._ids, self._length, self._size = tokens.ids, context_length, batch_size
        self._padding, self._seed = padding_id, seed
        self._ring = len(tokens.ids) - 1  # predictions in one pass
        self._rows = -(-self._ring // context_length)
        self._epoch: tuple[int, int, np.ndarray] | None = None

    @property
    def steps_per_epoch(self) -> int:
        """Batches in one pass."""
        return -(-self._rows // self._size)

    def batch(self, step: int) -> Batch:
        """Return the batch of a training step, counted from 0."""
        epoch, place = divmod(step, self.steps_per_epoch)
        if self._given:
            first = place * self._size
            return self._cut(np.arange(first, min(first + self._size, self._rows)), 0)
        if self._epoch is None or self._epoch[0] != epoch:
            random = seeds.generator(self._seed, seeds.ORDER, epoch)
            self._epoch = epoch, int(random.integers(self._ring)), random.permutation(self._rows)
        _, start, order = self._epoch
        return self._cut(order[place * self._size : (place + 1) * self._size], start)

    def in_order(self, rows: int) -> Iterator[Batch]:
        """Yield the whole split once, unshuffled, so many rows at a time."""
        for first in range(0, self._rows, rows):
            yield self._cut(np.arange(first, min(first + rows, self._rows)), 0)

    def _cut(self, rows: np.ndarray, start: int) -> Batch:
        """Return windows of the ring that starts at a token; rows: numbers of windows."""
        begin = rows[:, None].astype(np.int64) * self._length
        place = begin + np.arange(self._length)  # [rows, context], before the turn of the ring
        real = place < self._ring
        inputs = self._ids[(start + place) % self._ring].astype(np.int64)
        targets = self._ids[(start + place + 1) % self._ring].astype(np.int64)
        width = int(real.sum(axis=1).max())
        return Batch(
            np.where(real, inputs, self._padding)[:, :width],
            np.where(real, targets, IGNORED)[:, :width],
        )


class Sentences:
    """One sentence a row, padded to the longest of its batch; batches hold similar lengths."""

    def __init__(
        self,
        tokens: Tokens,
        context_length: int,
        batch_size: int,
        padding_id: int,
        seed: int,
        order: str = "shuffled",
        *,
        padding_in_loss: bool = False,
    ) -> None:
        self._given = order == "given"
        self._width = context_length if padding_in_loss else None
        self._ids, self._offsets, self._size = tokens.ids, tokens.offsets, batch_size
        self._padding, self._seed = padding_id, seed
        whole = np.diff(tokens.offsets)  # predictions: the sentence's tokens and its last boundary
        self._lengths = np.minimum(whole, context_length)
        self.truncated = int((whole > context_length).sum())
        self._epoch: tuple[int, np.ndarray, np.ndarray] | None = None

    @property
    def steps_per_epoch(self) -> int:
        """Batches in one pass."""
        return -(-len(self._lengths) // self._size)

    def batch(self, step: int) -> Batch:
        """Return the batch of a training step, counted from 0."""
        epoch, place = divmod(step, self.steps_per_epoch)
        if self._given:
            first = place * self._size
            chosen = np.arange(first, min(first + self._size, len(self._lengths)))
        else:
            if self._epoch is None or self._epoch[0] != epoch:
                random = seeds.generator(self._seed, seeds.ORDER, epoch)
                order = random.permutation(len(self._lengths))
                sort_chunks(order, self._lengths, self._size)
                self._epoch = epoch, order, random.permutation(self.steps_per_epoch)
            _, order, batches = self._epoch
            first = int(batches[place]) * self._size
            chosen = order[first : first + self._size]
        return self._pad(chosen, self._width)

    def in_order(self, rows: int) -> Iterator[Batch]:
        """Yield the whole split once, shortest sentences first, so many at a time.

        No padding is predicted, so that the losses of all regimens compare.
        """
        order = np.argsort(self._lengths, kind="stable")
        for first in range(0, len(order), rows):
            yield self._pad(order[first : first + rows])

    def _pad(self, rows: np.ndarray, width: int | None = None) -> Batch:
        """Return sentences as rows; width: of all rows, whose padding is then predicted."""
        lengths = self._lengths[rows]
        column = np.arange(width or int(lengths.max()))
        real = column < lengths[:, None]
        place = np.where(real, self._offsets[rows][:, None] + column, 0)
        return Batch(
            np.where(real, self._ids[place], self._padding).astype(np.int64),
            np.where(
                real,
                self._ids[place + 1].astype(np.int64),
                self._padding if width else IGNORED,
            ),
            sentences=rows,
        )


def sort_chunks(order: np.ndarray, lengths: np.ndarray, batch_size: int) -> None:
    """Sort shuffled rows by length, :data:`CHUNK` batches at a time: batches hold little padding.

    Rows of one length stay in their order, so that the result is the same everywhere.

    Args:
        order: rows of an epoch, shuffled; changed in place.
        lengths: of each row, by its number.
        batch_size: rows in a batch.
    """
    size = CHUNK * batch_size
    for first in range(0, len(order), size):
        chunk = order[first : first + size]
        order[first : first + size] = chunk[np.argsort(lengths[chunk], kind="stable")]


def rows(
    kind: str,
    tokens: Tokens,
    *,
    context_length: int,
    batch_size: int,
    padding_id: int,
    seed: int,
    order: str = "shuffled",
    padding_in_loss: bool = False,
) -> Rows:
    """Cut a split as a regimen's ``input`` says: ``packed`` or ``sentence``.

    Args:
        kind: the regimen's ``input``.
        tokens: the split.
        context_length: tokens in a row, at most.
        batch_size: rows in a batch.
        padding_id: stands where a row has no token.
        seed: of the order.
        order: ``shuffled``; ``given``: as the split has them, every epoch alike.
        padding_in_loss: pad every sentence to the context and predict the padding, too, in
            training. That was done in the published code of experiment 3 (recency arm).
    """
    same = (tokens, context_length, batch_size, padding_id, seed, order)
    if kind == "packed":
        return Packed(*same)
    return Sentences(*same, padding_in_loss=padding_in_loss)


def check_length(kind: str, tokens: Tokens, context_length: int, place: str) -> None:
    """Raise :class:`PoshgridError` if packed text does not fill a single row."""
    if kind == "packed" and len(tokens.ids) - 1 < context_length:
        raise PoshgridError(
            f"{place}: {len(tokens.ids) - 1:,} tokens do not fill one row of "
            f"{context_length:,}; lower the regimen's context_length or give more text"
        )
