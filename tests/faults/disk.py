"""A disk that is full, or read-only, under the results: a small tmpfs, which root can mount."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.faults import compare, grid, jobs, processes
from tests.faults.outcome import Outcome

SIZE = "256m"
PAGE = 4096
SHARE = 0.6
"""Up to this share of what a job writes fits on the full disk."""
_OTHERS = (".ballast", ".snakemake_timestamp")
"""Hidden files that no job of ours has left: the drill's own, and Snakemake's mark of a folder."""


def possible() -> bool:
    """Say whether file systems can be mounted here."""
    return os.geteuid() == 0 and shutil.which("mount") is not None


def drill(base: Path, folder: Path, seed: int) -> list[Outcome]:
    """Run one job of each rule on a read-only disk, on a full one, and once there is space.

    Args:
        base: an undisturbed run.
        folder: where to run; made.
        seed: of the space that is left.
    """
    shutil.copytree(base, folder, symlinks=True, ignore=shutil.ignore_patterns(grid.RESULTS))
    expected = compare.digests(base / grid.RESULTS)
    chosen = {job.rule: job for job in jobs.jobs(base)}
    read_only, full, again = [], [], []
    with mounted(folder / grid.RESULTS) as results:
        shutil.copytree(base / grid.RESULTS, results, dirs_exist_ok=True)
        for rule, job in sorted(chosen.items()):
            amount = sum((folder / name).stat().st_size for name in job.outputs)
            share = random.Random(f"{seed}/{rule}").uniform(0, SHARE)
            job.remove(folder)

            remount(results, "ro")
            done = jobs.run(folder, job.command)
            read_only += _judge(rule, done, results, expected)
            remount(results, "rw")

            ballast = results / ".ballast"
            fill(ballast, results, int(share * amount) // PAGE * PAGE)
            done = jobs.run(folder, job.command)
            full += _judge(rule, done, results, expected)
            ballast.unlink()

            done = jobs.run(folder, job.command)
            found = compare.digests(results)
            wrong = compare.differences(found, expected, whole=True)
            again.append("" if done.returncode == 0 and not wrong else f"{rule}: {wrong[:3]}")
    orphans = processes.wait_until_empty(folder, 10)
    return [
        _outcome("read-only results", read_only),
        _outcome("disk full", full),
        _outcome("space again, job run again", again + [f"process {pid} left" for pid in orphans]),
    ]


def _judge(
    rule: str,
    done: subprocess.CompletedProcess[str],
    results: Path,
    expected: dict[str, str],
) -> list[str]:
    """Return what is wrong after a job that could not write: a list of one."""
    partial = compare.differences(compare.digests(results), expected, whole=False)
    litter = [path.name for path in results.rglob(".*") if path.name not in _OTHERS]
    faults = [
        *([] if jobs.refused(done) else [f"status {done.returncode}: {done.stderr[-200:]!r}"]),
        *([f"partial: {partial[:3]}"] if partial else []),
        *([f"left: {litter[:3]}"] if litter else []),
    ]
    return [f"{rule}: {'; '.join(faults)}" if faults else ""]


def _outcome(name: str, results: list[str]) -> Outcome:
    wrong = [each for each in results if each]
    return Outcome(name, len(results), len(results) - len(wrong), "; ".join(wrong))


def fill(ballast: Path, results: Path, space: int) -> None:
    """Leave so many bytes free."""
    found = os.statvfs(results)
    with ballast.open("wb") as stream:
        os.posix_fallocate(stream.fileno(), 0, found.f_bavail * found.f_frsize - space)


@contextmanager
def mounted(folder: Path) -> Iterator[Path]:
    folder.mkdir()
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "poshgrid-drill", str(folder)], check=True
    )
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def remount(folder: Path, mode: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{mode}", str(folder)], check=True)
