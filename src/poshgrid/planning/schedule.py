"""How long jobs take on so many GPUs and cores, told by list scheduling.

Whenever something is free, the ready job goes first that the longest chain of jobs hangs on
(Graham, 1969; the priority is the critical path's). Waiting in a cluster's queue is not in it.
Runs that share a GPU (`together` in a regimen) are one job of the cluster, on one GPU.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from poshgrid.grid.grid import Grid
from poshgrid.planning.jobs import Job
from poshgrid.planning.work import run_of
from poshgrid.training import together


def groups(grid: Grid, jobs: Iterable[Job]) -> list[tuple[int, ...]]:
    """Return the numbers of jobs that share a GPU, two or more.

    Args:
        grid: the configuration's, of which all targets decide who shares, as in the workflow.
        jobs: those that would run; a run that is done shares with nobody.
    """
    number = {run_of(job.wildcards): job.number for job in jobs if job.rule == "train"}
    sharing = {name: regimen.together for name, regimen in grid.regimens.items()}
    cells = together.cells(itertools.chain.from_iterable(grid.targets.values()), sharing)
    found = (tuple(number[run] for run in runs if run in number) for runs in cells.values())
    return [members for members in found if len(members) > 1]


def joined(
    jobs: Sequence[Job], seconds: Mapping[int, float], members: Iterable[Sequence[int]]
) -> tuple[list[Job], dict[int, float]]:
    """Make one job of each group, which takes the sum of its runs' parts of the time.

    Args:
        jobs: each after those that it needs.
        seconds: number of a job that would run -> its seconds.
        members: numbers of the jobs of each group.

    Returns:
        The jobs, a group in the place and by the number of its last run, and their seconds.
    """
    stands = {number: max(group) for group in members for number in group}
    needs: dict[int, set[int]] = {}
    total: dict[int, float] = {}
    for job in jobs:
        number = stands.get(job.number, job.number)
        needs.setdefault(number, set()).update(stands.get(need, need) for need in job.needs)
        if job.number in seconds:
            total[number] = total.get(number, 0.0) + seconds[job.number]
    kept = [
        replace(job, needs=tuple(sorted(needs[job.number])))
        for job in jobs
        if stands.get(job.number, job.number) == job.number
    ]
    return kept, total


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
