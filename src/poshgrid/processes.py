"""Run work in other processes, and return the results in the order of the items."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import TypeVar

from poshgrid.errors import PoshgridError

S = TypeVar("S")
T = TypeVar("T")

_AHEAD = 2  # items submitted per process: one running, one waiting


def mapped(function: Callable[[S], T], items: Iterable[S], number: int) -> Iterator[T]:
    """Yield a function's result for each item, in order; a few items are submitted ahead.

    Args:
        function: a function of a module, so that it can be sent to another process.
        items: the items. A PoshgridError while they are made is raised after the results of all
            earlier items.
        number: number of processes; below 2: only this one.

    Raises:
        PoshgridError: a process was killed.
    """
    if number < 2:
        yield from map(function, items)
        return
    coming, waiting = iter(items), deque[Future[T]]()
    fault: Exception | None = None
    more = True
    # Not forked, because polars has its own threads
    with ProcessPoolExecutor(number, mp_context=get_context("spawn")) as pool:
        try:
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
        except BrokenProcessPool as error:
            raise PoshgridError(
                "a worker process was killed; give the job more memory, or one thread"
            ) from error
    if fault:
        raise fault
