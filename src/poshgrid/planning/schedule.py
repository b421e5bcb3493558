"""How long a plan takes on so many GPUs and cores: jobs in the order of their needs.

List scheduling: whenever something is free, the ready job goes first that the longest chain of
jobs hangs on (Graham, 1969; the priority is the critical path's). Waiting in a cluster's queue is
not in it.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

from poshgrid.planning.jobs import Job


def makespan(jobs: Sequence[Job], seconds: Mapping[int, float], on_gpu: Mapping[int, bool],
             *, gpus: int, cores: int) -> float:  # fmt: skip
    """Return the seconds from the first job's start to the last one's end.

    Args:
        jobs: each after those that it needs; only those with seconds are run.
        seconds: number of a job -> its clock time.
        on_gpu: number of a job -> whether it holds one GPU; else it holds its threads.
        gpus: that are there at once.
        cores: of the jobs without a GPU.
    """
    todo = {job.number: job for job in jobs if job.number in seconds}
    waiting = {n: sum(need in todo for need in job.needs) for n, job in todo.items()}
    after: dict[int, list[int]] = {n: [] for n in todo}
    chain: dict[int, float] = {}
    for number, job in todo.items():
        for need in job.needs:
            if need in todo:
                after[need].append(number)
    for number in reversed(list(todo)):
        chain[number] = seconds[number] + max((chain[n] for n in after[number]), default=0.0)

    free = {True: gpus, False: cores}
    ready: dict[bool, list[tuple[float, int]]] = {True: [], False: []}
    running: list[tuple[float, int]] = []
    now = 0.0
    for number, count in waiting.items():
        if not count:
            heapq.heappush(ready[on_gpu[number]], (-chain[number], number))
    while running or any(ready.values()):
        for kind, queue in ready.items():
            while queue and free[kind] >= _held(todo[queue[0][1]], kind, cores):
                _, number = heapq.heappop(queue)
                free[kind] -= _held(todo[number], kind, cores)
                heapq.heappush(running, (now + seconds[number], number))
        now, number = heapq.heappop(running)
        kind = on_gpu[number]
        free[kind] += _held(todo[number], kind, cores)
        for follower in after[number]:
            waiting[follower] -= 1
            if not waiting[follower]:
                heapq.heappush(ready[on_gpu[follower]], (-chain[follower], follower))
    return now


def _held(job: Job, on_gpu: bool, cores: int) -> int:
    """Return how many GPUs or cores a job holds: never more than there are."""
    return 1 if on_gpu else min(job.threads, cores)
