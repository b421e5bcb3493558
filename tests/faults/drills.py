"""Files that change behind the workflow's back, and disks that are full or read-only."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.faults import compare, grid, processes

SIZE, PAGE = "256m", 4096
SHARE = 0.6
"""Up to this share of what a job writes fits on the full disk."""
_OTHERS = (".ballast", ".snakemake_timestamp")
"""Hidden files that no job of ours has left: the drill's own, and Snakemake's mark of a folder."""


def flip(file: Path, draw: random.Random) -> None:
    """Flip one bit; size and times stay."""
    before = file.stat()
    content = bytearray(file.read_bytes())
    content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    file.write_bytes(content)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def cut(file: Path, draw: random.Random) -> None:
    """Cut the file off; its times stay."""
    before = file.stat()
    os.truncate(file, draw.randrange(before.st_size))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def damaged(base: Path, folder: Path, seed: int) -> list[str]:
    """Damage what each rule wrote first: the next job refuses it, `verify --delete` finds it.

    Snakemake sees nothing of it, and makes it again once it is deleted.
    """
    shutil.copytree(base, folder, symlinks=True)
    expected, wrong = compare.digests(base / grid.RESULTS), []
    files = [job.outputs[0] for job in processes.jobs(base).values() if job.outputs]
    harms: tuple[Callable[[Path, random.Random], None], ...] = (flip, cut)
    for number, name in enumerate(files):
        harms[number % 2](folder / name, random.Random(f"{seed}/{name}"))
    train = processes.jobs(base)["train"]
    train.remove(folder)
    status, text = processes.make(folder, "--", train.manifest)
    if not status or "not the bytes" not in text:
        wrong.append(f"training took damaged tokens: status {status}: {text[-300:]}")
    done = processes.run(folder, ("verify", grid.RESULTS, "--delete"))
    untold = [name for name in files if f"{name}: not the bytes" not in done.stdout]
    wrong += [f"{name}: not found by verify" for name in untold if name not in train.outputs]
    status, text = processes.make(folder, "--", grid.TARGET)
    found = compare.digests(folder / grid.RESULTS)
    wrong += [f"{name} differs" for name in compare.differences(found, expected, whole=True)]
    return [*wrong, *([f"status {status}: {text[-800:]}"] if status else [])]


def disk(base: Path, folder: Path, seed: int) -> list[str]:
    """Run one job of each rule on a read-only disk, on a full one, and once there is space."""
    shutil.copytree(base, folder, symlinks=True, ignore=shutil.ignore_patterns(grid.RESULTS))
    expected, wrong = compare.digests(base / grid.RESULTS), []
    with mounted(folder / grid.RESULTS) as results:
        shutil.copytree(base / grid.RESULTS, results, dirs_exist_ok=True)

        def judge(rule: str, done: subprocess.CompletedProcess[str]) -> None:
            partial = compare.differences(compare.digests(results), expected, whole=False)
            litter = [path.name for path in results.rglob(".*") if path.name not in _OTHERS]
            if not processes.refused(done) or partial or litter:
                wrong.append(f"{rule}: {done.stderr[-200:]!r}, partial {partial}, left {litter}")

        for rule, job in sorted(processes.jobs(base).items()):
            amount = sum((folder / name).stat().st_size for name in job.outputs)
            space = int(random.Random(f"{seed}/{rule}").uniform(0, SHARE) * amount) // PAGE * PAGE
            job.remove(folder)
            _remount(results, "ro")
            judge(rule, processes.run(folder, job.command))
            _remount(results, "rw")
            ballast = results / ".ballast"
            fill(ballast, results, space)
            judge(rule, processes.run(folder, job.command))
            ballast.unlink()
            done = processes.run(folder, job.command)
            differ = compare.differences(compare.digests(results), expected, whole=True)
            if done.returncode or differ:
                wrong.append(f"{rule}, with space again: {done.stderr[-200:]!r} {differ[:3]}")
    return wrong


def fill(ballast: Path, results: Path, space: int) -> None:
    """Leave so many bytes free."""
    found = os.statvfs(results)
    with ballast.open("wb") as stream:
        os.posix_fallocate(stream.fileno(), 0, found.f_bavail * found.f_frsize - space)


@contextmanager
def mounted(folder: Path) -> Iterator[Path]:
    """Mount a small file system, which needs root."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "poshgrid-drill", str(folder)]
    subprocess.run(command, check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def _remount(folder: Path, mode: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{mode}", str(folder)], check=True)
