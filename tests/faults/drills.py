"""The drills: SIGKILL of every rule at random moments; files that change behind the workflow."""

from __future__ import annotations

import os
import random
import shutil
import time
from pathlib import Path

from tests.faults import compare, grid, processes

SHARE = 0.9
"""Moments are drawn up to this share of a job's duration: later ones often find it gone."""


def different(folder: Path, expected: dict[str, str], *, whole: bool = True) -> list[str]:
    """Return a line for each result that differs from what an undisturbed run wrote."""
    names = compare.differences(compare.digests(folder / grid.RESULTS), expected, whole=whole)
    return [f"{name} differs" for name in names]


def killed(corpus: Path, folder: Path, seed: int, kills: int) -> list[str]:
    """Kill a job of each rule at random moments, then let it come to its end.

    Args:
        corpus: an undisturbed run.
        folder: where to run; made.
        seed: of the moments.
        kills: of each rule.

    Returns:
        Files that were not whole after a kill, or differ at the end, and jobs that failed.
    """
    shutil.copytree(corpus, folder, symlinks=True)
    expected, wrong = compare.digests(corpus / grid.RESULTS), []
    for rule, job in sorted(processes.jobs(corpus).items()):
        draw = random.Random(f"{seed}/{rule}")
        job.remove(folder)
        for _ in range(kills):
            process = processes.start(folder, job.command)
            time.sleep(draw.uniform(0, SHARE) * job.seconds)
            process.kill()
            process.communicate()
            wrong += [
                f"{rule}, killed: {line}" for line in different(folder, expected, whole=False)
            ]
        done = processes.run(folder, job.command)
        if done.returncode:
            wrong.append(f"{rule}, after the kills: {done.stderr[-200:]!r}")
    return wrong + different(folder, expected)


def damage(file: Path, draw: random.Random, *, cut: bool) -> None:
    """Flip one bit, or cut the file off; its times stay."""
    before = file.stat()
    content = bytearray(file.read_bytes())
    at = draw.randrange(len(content))
    content[at] ^= 1 << draw.randrange(8)
    file.write_bytes(content[:at] if cut else content)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def damaged(corpus: Path, folder: Path, seed: int) -> list[str]:
    """Damage what each rule wrote first: the next job refuses it, `verify --delete` finds it.

    Snakemake sees nothing of it, and makes it again once it is deleted.
    """
    shutil.copytree(corpus, folder, symlinks=True)
    expected, wrong = compare.digests(corpus / grid.RESULTS), []
    files = [job.outputs[0] for job in processes.jobs(corpus).values() if job.outputs]
    for number, name in enumerate(files):
        damage(folder / name, random.Random(f"{seed}/{name}"), cut=bool(number % 2))
    train = processes.jobs(corpus)["train"]
    train.remove(folder)
    status, text = processes.make(folder, "--", train.manifest)
    if not status or "not the bytes" not in text:
        wrong.append(f"training took damaged tokens: status {status}: {text[-300:]}")
    done = processes.run(folder, ("verify", grid.RESULTS, "--delete"))
    untold = [name for name in files if f"{name}: not the bytes" not in done.stdout]
    wrong += [f"{name}: not found by verify" for name in untold if name not in train.outputs]
    status, text = processes.make(folder, "--", grid.TARGET)
    return wrong + different(folder, expected) + [f"status: {text[-800:]}"] * bool(status)
