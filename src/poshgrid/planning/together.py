"""Runs of a plan that share a GPU (`together` in a regimen): one job of the cluster, one GPU."""

from __future__ import annotations

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
