"""Drawing a uniform sample in one pass, without knowing how many there are.

Each sentence has a rank: a keyed hash of its number. The sample is the sentences of lowest rank, in
the order of rank. So it depends on the seed, not on the order in which sentences come; a larger
sample begins with the smaller one; and the first lines of a sheet are themselves a uniform sample,
so that a person may stop at any line.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")
_BYTES = 8


class Sample(Generic[T]):
    """A uniform sample without replacement of what is offered.

    Args:
        size: number of sentences to keep.
        seed: another seed gives another sample.
        name: a sample of its own for each name, e.g. ``"binding.leakage"``.
    """

    def __init__(self, size: int, seed: int, name: str) -> None:
        self.size = size
        self.offered = 0
        key = hashlib.blake2b(f"{seed}\0{name}".encode()).digest()
        self._hash = hashlib.blake2b(key=key, digest_size=_BYTES)
        # The worst of the kept is on top: negated, since heapq keeps the smallest there.
        self._kept: list[tuple[int, int, T]] = []

    def rank(self, sent_id: int) -> int:
        """Return the place of a sentence in the order of choice."""
        state = self._hash.copy()
        state.update(sent_id.to_bytes(_BYTES, "little"))
        return int.from_bytes(state.digest(), "little")

    def offer(self, sent_id: int, content: Callable[[], T]) -> None:
        """Count a sentence, and keep it if it is among the best so far.

        Args:
            sent_id: its number; each is offered once.
            content: returns what to keep of it; called only if it is kept.
        """
        self.offered += 1
        order = (-self.rank(sent_id), -sent_id)
        if len(self._kept) < self.size:
            heapq.heappush(self._kept, (*order, content()))
        elif order > self._kept[0][:2]:
            heapq.heapreplace(self._kept, (*order, content()))

    def result(self) -> list[T]:
        """Return what was kept, in the order of rank."""
        return [item for *_, item in sorted(self._kept, key=lambda kept: kept[:2], reverse=True)]
