"""SIGKILL at random moments, of every rule: of a job, of Snakemake, of both at once."""

from __future__ import annotations

import random
import shutil
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults import compare, grid, processes

KINDS = ("job", "session", "job", "snakemake")
"""What is killed: a job's process; Snakemake and all jobs; Snakemake alone, so that jobs run on."""
SHARE = 0.9
"""Moments are drawn up to this share of a job's duration: later ones often find it gone."""


@dataclass
class Killer:
    """Watches a run and kills at the moments that are due.

    Attributes:
        folder: where it runs.
        expected: digests of an undisturbed run.
        plan: rule -> kinds and seconds of the moments that have not come.
        due: process -> when it is to be killed, its rule, and how.
        hits: rules that were killed, and how.
        partial: files that were not whole after a kill.
    """

    folder: Path
    expected: dict[str, str]
    plan: dict[str, list[tuple[str, float]]]
    due: dict[int, tuple[float, str, str]] = field(default_factory=dict)
    hits: list[tuple[str, str]] = field(default_factory=list)
    partial: list[str] = field(default_factory=list)
    _seen: set[int] = field(default_factory=set)

    def __call__(self, snakemake: int) -> bool:
        """Look once; say whether there is nothing left to watch."""
        now = time.monotonic()
        alive = dict(processes.stages(self.folder))
        for pid, rule in alive.items():
            if pid not in self._seen and self.plan.get(rule):
                kind, after = self.plan[rule].pop(0)
                self.due[pid] = now + after, rule, kind
            self._seen.add(pid)
        for pid, (moment, rule, kind) in list(self.due.items()):
            if pid not in alive:
                del self.due[pid]  # it was over before
            elif now >= moment:
                del self.due[pid]
                session = processes.left(self.folder)
                processes.kill(*{"job": [pid], "session": session, "snakemake": [snakemake]}[kind])
                self.hits.append((rule, kind))
                found = compare.digests(self.folder / grid.RESULTS)
                self.partial += compare.differences(found, self.expected, whole=False)
                if kind != "job":
                    return True
        return False


def drill(base: Path, folder: Path, seed: int, each: int) -> list[str]:
    """Run the grid from nothing, kill every rule, start again until it is complete.

    Args:
        base: an undisturbed run.
        folder: where to run; made.
        seed: of the moments.
        each: kills of each rule.

    Returns:
        What went wrong.
    """
    shutil.copytree(
        base, folder, symlinks=True, ignore=shutil.ignore_patterns(grid.RESULTS, ".snakemake")
    )
    plan = {}
    for number, (rule, job) in enumerate(sorted(processes.jobs(base).items())):
        draw = random.Random(f"{seed}/{rule}")
        plan[rule] = [
            (KINDS[(number + turn) % len(KINDS)], draw.uniform(0, SHARE) * job.seconds)
            for turn in range(each)
        ]
    expected = compare.digests(base / grid.RESULTS)
    killer = Killer(folder, expected, plan)
    while True:
        hits = len(killer.hits)
        status, text = processes.make(
            folder, "--retries", "9", "--", grid.TARGET, watch=killer
        )  # fmt: skip
        killer.due.clear()
        if status == 0:
            break
        if len(killer.hits) == hits:
            return [f"failed though nothing was killed: {text.strip()[-2000:]}"]
        processes.unlock(folder)
    orphans = processes.wait_until_empty(folder, 60)
    wrong = compare.differences(compare.digests(folder / grid.RESULTS), expected, whole=True)
    killed = {rule for rule, _ in killer.hits}
    sys.stdout.write(f"{len(killer.hits)} kills of {len(killed)} of {len(plan)} rules\n")
    return [*(f"{name} differs" for name in wrong), *(f"process {pid} is left" for pid in orphans),
            *(f"{name} was not whole after a kill" for name in killer.partial)]  # fmt: skip
