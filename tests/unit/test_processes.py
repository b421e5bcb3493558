"""Work in other processes: in order, a few pieces ahead, and what goes wrong is told."""

from __future__ import annotations

import os
import signal

import pytest

from poshgrid.errors import PoshgridError
from poshgrid.processes import mapped


def _own(number: int) -> tuple[int, int]:
    return number * number, os.getpid()


def _ends(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def _refuses(number: int) -> int:
    if number == 2:
        raise PoshgridError(f"no {number}")
    return number


@pytest.mark.parametrize("number", [1, 2])
def test_results_come_in_order_and_no_more_is_taken_than_is_at_work(number):
    taken = []

    def coming():
        for piece in range(12):
            taken.append(piece)
            yield piece

    processes, behind = set(), []
    for result, (square, process) in enumerate(mapped(_own, coming(), number)):
        assert square == result * result
        processes.add(process)
        behind.append(len(taken) - result - 1)
    assert len(taken) == 12
    assert max(behind) <= (0 if number == 1 else 2 * number - 1)
    assert (os.getpid() in processes) == (number == 1)


@pytest.mark.parametrize("number", [1, 2])
def test_what_came_before_an_error_is_yielded(number):
    seen = []
    with pytest.raises(PoshgridError, match="no 2"):
        for piece in mapped(_refuses, range(9), number):
            seen.append(piece)
    assert seen == [0, 1]


def test_a_killed_process_is_told():
    with pytest.raises(PoshgridError, match="a worker process was killed"):
        list(mapped(_ends, range(9), 2))
