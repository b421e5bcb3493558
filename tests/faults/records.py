"""A disk that is full under ``.snakemake``: Snakemake itself cannot write its records."""

from __future__ import annotations

import random
import shutil
from functools import partial
from pathlib import Path

from tests.faults import compare, disk, grid, jobs, processes
from tests.faults.outcome import Outcome

RULES = ("accuracy", "curves", "deltas", "measures")
"""Whose jobs are run while the disk is full."""
PAGES = 4
"""Fewer than so many pages are left free: a lock may fit, not what follows."""


def drill(base: Path, folder: Path, seed: int) -> list[Outcome]:
    """Start Snakemake on a full disk, on one that fills soon, and fill it while jobs run.

    Args:
        base: an undisturbed run.
        folder: where to run; made.
        seed: of the space that is left, and of the moment.
    """
    shutil.copytree(base, folder, symlinks=True, ignore=shutil.ignore_patterns(".snakemake"))
    expected = compare.digests(base / grid.RESULTS)
    removed = [job for job in jobs.jobs(base) if job.rule in RULES]
    targets = [job.manifest for job in removed]
    draw = random.Random(f"{seed}/records")
    notes, wrong = [], []
    with disk.mounted(folder / ".snakemake") as records:
        shutil.copytree(base / ".snakemake", records, symlinks=True, dirs_exist_ok=True)
        ballast = records / ".ballast"
        trials: list[tuple[str, int | None]] = [("full", 0), ("full while jobs ran", None)]
        trials += [("soon full", draw.randrange(1, PAGES) * disk.PAGE) for _ in range(3)]
        for name, space in trials:
            for job in removed:
                job.remove(folder)
            watch = None
            if space is None:
                fill = partial(disk.fill, ballast, records, 0)
                watch = processes.once(folder, fill, draw.uniform(0, jobs.STARTING))
            else:
                disk.fill(ballast, records, space)
            first, text = processes.make(folder, "--", *targets, watch=watch)
            orphans = processes.wait_until_empty(folder, 60)
            found = compare.digests(folder / grid.RESULTS)
            halves = compare.differences(found, expected, whole=False)
            ballast.unlink(missing_ok=True)
            lock = processes.locked(folder)
            if lock:
                processes.unlock(folder)
            second, more = processes.make(folder, "--", *targets)
            found = compare.digests(folder / grid.RESULTS)
            differ = compare.differences(found, expected, whole=True)
            notes.append(f"{name}: {_told(first, text)}{', a lock was left' if lock else ''}")
            if second or halves or orphans or differ:
                faults = f"next start {second}, {halves[:3]}, {orphans}, {differ[:3]}"
                wrong.append(f"{name}: {faults} {more[-300:] if second else ''}")
    tried = len(trials)
    note = "; ".join(notes + wrong)
    return [Outcome("Snakemake's records on a full disk", tried, tried - len(wrong), note)]


def _told(status: int, text: str) -> str:
    """Return how Snakemake ended, and whether it said what was wrong."""
    told = "told of it" if "No space left" in text else "did not tell of it"
    return f"{'ended well' if status == 0 else f'ended with {status}'}, {told}"
