"""SIGKILL at random moments, of every rule: of a job, of Snakemake, of both at once."""

from __future__ import annotations

import random
import shutil
import subprocess
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults import compare, grid, jobs, processes
from tests.faults.outcome import Outcome

KINDS = ("job", "session", "job", "snakemake")
"""What is killed: a job's process; Snakemake and all jobs; Snakemake alone, so that jobs run on."""
SHARE = 0.9
"""Moments are drawn up to this share of a job's usual duration: later ones often find it gone."""
ROUNDS = 6
"""How often rules are run again whose jobs were done before they could be killed."""


@dataclass
class Killer:
    """Watches a run and kills at the moments that are due."""

    folder: Path
    expected: dict[str, str]
    plan: dict[str, list[tuple[str, float]]]
    seen: set[int] = field(default_factory=set)
    due: list[tuple[float, processes.Stage, str, float]] = field(default_factory=list)
    hits: list[tuple[str, str, float]] = field(default_factory=list)
    partial: list[str] = field(default_factory=list)
    missed: int = 0
    ran_on: int = 0

    def __call__(self, process: subprocess.Popen[bytes]) -> bool:
        """Look once; say whether there is nothing left to watch."""
        now = time.monotonic()
        alive = processes.stages(self.folder)
        for stage in alive:
            if stage.pid not in self.seen:
                self.seen.add(stage.pid)
                if self.plan.get(stage.rule):
                    kind, after = self.plan[stage.rule].pop(0)
                    self.due.append((now + after, stage, kind, after))
        for entry in sorted(self.due, key=lambda entry: entry[0]):
            moment, stage, kind, after = entry
            if now < moment:
                break
            self.due.remove(entry)
            if stage not in alive:
                self.missed += 1
                self.plan[stage.rule].append((kind, after / 2))
                continue
            self._hit(process.pid, stage, kind)
            self.hits.append((stage.rule, kind, after))
            if kind != "job":
                return True
        return False

    def put_back(self) -> None:
        """Plan again what was due when a run ended."""
        for _, stage, kind, after in self.due:
            self.plan[stage.rule].append((kind, after / 2))
        self.due.clear()

    def _hit(self, snakemake: int, stage: processes.Stage, kind: str) -> None:
        if kind == "job":
            processes.kill(stage.pid)
        elif kind == "session":
            processes.kill(*processes.left(self.folder))
        else:
            processes.kill(snakemake)
            self.ran_on += len(processes.stages(self.folder))
        found = compare.digests(self.folder / grid.RESULTS)
        self.partial += compare.differences(found, self.expected, whole=False)


def drill(base: Path, folder: Path, seed: int, each: int) -> tuple[Outcome, list[str]]:
    """Run the grid from nothing, kill every rule, start again until it is complete.

    Args:
        base: an undisturbed run.
        folder: where to run; made.
        seed: of the moments.
        each: kills of each rule.

    Returns:
        What came of it, and a table of the kills.
    """
    shutil.copytree(
        base, folder, symlinks=True, ignore=shutil.ignore_patterns(grid.RESULTS, ".snakemake")
    )
    one: dict[str, jobs.Job] = {}
    for job in jobs.jobs(base):
        one.setdefault(job.rule, job)
    plan = {}
    for number, rule in enumerate(sorted(one)):
        draw = random.Random(f"{seed}/{rule}")
        moments = [draw.uniform(0, SHARE) * one[rule].seconds for _ in range(each)]
        kinds = [KINDS[(number + turn) % len(KINDS)] for turn in range(each)]
        plan[rule] = list(zip(kinds, moments, strict=True))
    expected = compare.digests(base / grid.RESULTS)
    killer = Killer(folder, expected, plan)
    starts = locks = rounds = 0
    targets = [grid.TARGET]
    while True:
        before = len(killer.hits)
        starts += 1
        status, text = processes.make(folder, "--retries", "9", "--", *targets, watch=killer)
        killer.put_back()
        if status == 0:
            # Rules whose jobs were done before their moments came run again
            again = [job for rule, job in one.items() if plan[rule]] if rounds < ROUNDS else []
            if targets == [grid.TARGET] and not again:
                break
            rounds += 1
            for job in again:
                job.remove(folder)
            targets = [job.manifest for job in again] or [grid.TARGET]
            continue
        if len(killer.hits) == before:
            return Outcome("SIGKILL", len(killer.hits), 0, text.strip()[-2000:]), []
        if processes.locked(folder):
            locks += 1
            processes.unlock(folder)
    orphans = processes.wait_until_empty(folder, 60)
    found = compare.digests(folder / grid.RESULTS)
    wrong = compare.differences(found, expected, whole=True)
    hits = len(killer.hits)
    well = not wrong and not orphans and not killer.partial and not processes.locked(folder)
    note = (
        f"{starts} starts of Snakemake, {locks} after a lock was taken away; jobs that ran on "
        f"without it: {killer.ran_on}; moments that came too late: {killer.missed}; "
        f"partial files: {len(killer.partial)}; processes left: {len(orphans)}; "
        f"files that differ: {len(wrong)} of {len(expected)}"
        f" {' '.join(wrong[:5])} {' '.join(killer.partial[:5])}"
    )
    return Outcome("SIGKILL", hits, hits if well else 0, note.strip()), _table(killer)


def _table(killer: Killer) -> list[str]:
    counted: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for rule, kind, after in killer.hits:
        counted[rule][kind].append(after)
    kinds = list(dict.fromkeys(KINDS))
    lines = [f"| rule | {' | '.join(kinds)} | after seconds |", f"|{'---|' * (len(kinds) + 2)}"]
    for rule, found in sorted(counted.items()):
        seconds = ", ".join(f"{each:.1f}" for kind in kinds for each in found[kind])
        numbers = " | ".join(str(len(found[kind])) for kind in kinds)
        lines.append(f"| {rule} | {numbers} | {seconds} |")
    return lines
