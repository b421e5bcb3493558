"""SIGKILL at random moments, of every rule: of a job, of Snakemake, of both at once."""

from __future__ import annotations

import random
import shutil
import subprocess
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.faults import compare, grid, jobs, processes
from tests.faults.outcome import Outcome

KINDS = ("job", "session", "job", "snakemake")
"""What is killed: a job's process; Snakemake and all jobs; Snakemake alone, so that jobs run on."""
SHARE = 0.9
"""Moments are drawn up to this share of a job's duration: later ones often find it gone."""
TRIES = 6
"""How often a moment is drawn, each time earlier: the job may be over before it comes."""


@dataclass(frozen=True)
class Moment:
    """When to kill what.

    Attributes:
        kind: one of :data:`KINDS`.
        after: seconds after the job's process was first seen.
        tries: how often it has been drawn.
    """

    kind: str
    after: float
    tries: int = 1


@dataclass
class Killer:
    """Watches a run and kills at the moments that are due.

    Attributes:
        folder: where it runs.
        expected: digests of an undisturbed run.
        plan: rule -> the moments that have not come.
        draw: of moments that are drawn again.
        due: the jobs whose moments come next, with the time at which each was first seen.
        hits: rules that were killed, with their moments.
        missed: rules whose jobs were over before the last of their tries.
        partial: files that were not whole after a kill.
        ran_on: jobs that ran on without Snakemake.
    """

    folder: Path
    expected: dict[str, str]
    plan: dict[str, list[Moment]]
    draw: random.Random
    due: list[tuple[float, processes.Stage, Moment]] = field(default_factory=list)
    hits: list[tuple[str, Moment]] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    partial: list[str] = field(default_factory=list)
    ran_on: int = 0
    _seen: set[int] = field(default_factory=set)

    def __call__(self, process: subprocess.Popen[bytes]) -> bool:
        """Look once; say whether there is nothing left to watch."""
        now = time.monotonic()
        alive = processes.stages(self.folder)
        for stage in alive:
            if stage.pid not in self._seen:
                self._seen.add(stage.pid)
                if self.plan.get(stage.rule):
                    self.due.append((now, stage, self.plan[stage.rule].pop(0)))
        for entry in list(self.due):
            seen, stage, moment = entry
            if stage not in alive:
                self.due.remove(entry)
                self.too_late(stage.rule, moment, now - seen)
            elif now >= seen + moment.after:
                self.due.remove(entry)
                self._hit(process.pid, stage, moment)
                if moment.kind != "job":
                    return True
        return False

    def too_late(self, rule: str, moment: Moment, lived: float) -> None:
        """Plan an earlier moment, within the life that the job was seen to have."""
        if moment.tries == TRIES:
            self.missed.append(rule)
            return
        after = self.draw.uniform(0, SHARE * lived)
        self.plan[rule].append(replace(moment, after=after, tries=moment.tries + 1))

    def ended(self, status: int) -> None:
        """Plan again what was due when a run ended: of one that was killed, as it was."""
        for seen, stage, moment in self.due:
            if status == 0:  # its last jobs were over between two looks
                self.too_late(stage.rule, moment, time.monotonic() - seen)
            else:
                self.plan[stage.rule].append(moment)
        self.due.clear()

    def _hit(self, snakemake: int, stage: processes.Stage, moment: Moment) -> None:
        if moment.kind == "job":
            processes.kill(stage.pid)
        elif moment.kind == "session":
            processes.kill(*processes.left(self.folder))
        else:
            processes.kill(snakemake)
            self.ran_on += len(processes.stages(self.folder))
        self.hits.append((stage.rule, moment))
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
    expected = compare.digests(base / grid.RESULTS)
    draw = random.Random(f"{seed}/again")
    killer = Killer(folder, expected, _plan(one, seed, each), draw)
    asked = len(one) * each
    starts = locks = 0
    targets = [grid.TARGET]
    while True:
        before = len(killer.hits)
        starts += 1
        status, text = processes.make(folder, "--retries", "9", "--", *targets, watch=killer)
        killer.ended(status)
        if status == 0:
            # Rules whose jobs were over before their moments came run again
            again = [job for rule, job in one.items() if killer.plan[rule]]
            if targets == [grid.TARGET] and not again:
                break
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
        f"moments: {hits} of {asked}; {_covered(killer)}; partial files after each kill: "
        f"{len(killer.partial)}; processes left: {len(orphans)}; locks taken away: {locks} in "
        f"{starts} starts; jobs that ran on without Snakemake: {killer.ran_on}; "
        f"files that differ: {len(wrong)} of {len(expected)}"
        f" {' '.join(wrong[:5])} {' '.join(killer.partial[:5])}"
    )
    return Outcome("SIGKILL", hits, hits if well else 0, note.strip()), _table(killer)


def _plan(one: dict[str, jobs.Job], seed: int, each: int) -> dict[str, list[Moment]]:
    """Draw the moments of each rule within its job's duration."""
    plan = {}
    for number, rule in enumerate(sorted(one)):
        draw = random.Random(f"{seed}/{rule}")
        plan[rule] = [
            Moment(KINDS[(number + turn) % len(KINDS)], draw.uniform(0, SHARE) * one[rule].seconds)
            for turn in range(each)
        ]
    return plan


def _covered(killer: Killer) -> str:
    """Return how many rules of the workflow were killed, and which were not."""
    rules = grid.rules()
    killed = {rule for rule, _ in killer.hits} & rules
    missed = Counter(killer.missed)
    notes = [
        f"rules: {len(killed)} of {len(rules)}",
        *([f"never killed: {', '.join(sorted(rules - killed))}"] if rules - killed else []),
        *(f"{rule}: {n} moments not hit in {TRIES} tries" for rule, n in sorted(missed.items())),
    ]
    return "; ".join(notes)


def _table(killer: Killer) -> list[str]:
    counted: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for rule, moment in killer.hits:
        counted[rule][moment.kind].append(moment.after)
    kinds = list(dict.fromkeys(KINDS))
    lines = [f"| rule | {' | '.join(kinds)} | after seconds |", f"|{'---|' * (len(kinds) + 2)}"]
    for rule, found in sorted(counted.items()):
        seconds = ", ".join(f"{each:.1f}" for kind in kinds for each in found[kind])
        numbers = " | ".join(str(len(found[kind])) for kind in kinds)
        lines.append(f"| {rule} | {numbers} | {seconds} |")
    return lines
