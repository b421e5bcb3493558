"""Work that other processes do, its results in the order in which it was given."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TypeVar

from poshgrid.errors import PoshgridError

S = TypeVar("S")
T = TypeVar("T")

_AHEAD = 2  # pieces of work given to each process: one to do, one to wait


@contextmanager
def beside(number: int) -> Iterator[Executor | None]:
    """Give processes that work beside this one; none where one is enough.

    Args:
        number: of processes.

    Raises:
        PoshgridError: one of them was killed.
    """
    if number < 2:
        yield None
        return
    # Not forked: polars has threads of its own
    with ProcessPoolExecutor(number, mp_context=get_context("spawn")) as pool:
        try:
            yield pool
        except BrokenProcessPool as error:
            raise PoshgridError(
                "a process beside this one was killed; give the job more memory, or one thread"
            ) from error


def mapped(function: Callable[[S], T], items: Iterable[S], number: int) -> Iterator[T]:
    """Yield what a function makes of each item, in their order; a few items are taken ahead.

    Args:
        function: of a module, so that it can be sent to a process.
        items: an error in making them is raised when all that came before it was yielded.
        number: of processes; below 2: this one.
    """
    with beside(number) as pool:
        if pool is None:
            yield from map(function, items)
            return
        coming, waiting = iter(items), deque[Future[T]]()
        fault: Exception | None = None
        more = True
        while more or waiting:
            while more and len(waiting) < _AHEAD * number:
                try:
                    waiting.append(pool.submit(function, next(coming)))
                except StopIteration:
                    more = False
                except PoshgridError as error:
                    fault, more = error, False
            if waiting:
                yield waiting.popleft().result()
        if fault:
            raise fault
