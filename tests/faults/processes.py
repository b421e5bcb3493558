"""The jobs of an undisturbed run, as their manifests tell, and how to run them again."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from poshgrid.core import adopt
from tests.faults import grid

STARTING = 3.0
"""Seconds that a command takes before its manifest counts them: imports."""


@dataclass(frozen=True)
class Job:
    """A job of an undisturbed run.

    Attributes:
        rule: whose job it is.
        command: its arguments after ``poshgrid``.
        manifest: relative to the copy.
        outputs: what it wrote, relative to the copy.
        seconds: how long it took.
    """

    rule: str
    command: tuple[str, ...]
    manifest: str
    outputs: tuple[str, ...]
    seconds: float

    def remove(self, folder: Path) -> None:
        """Remove what the job wrote, its resumable checkpoints among it, and what is kept of it."""
        for name in (self.manifest, *self.outputs):
            (folder / name).unlink(missing_ok=True)
        shutil.rmtree(adopt.folder_of(folder / self.manifest), ignore_errors=True)
        if self.rule == "train":
            shutil.rmtree(folder / grid.RESULTS / "checkpoints", ignore_errors=True)


def jobs(folder: Path) -> dict[str, Job]:
    """Return the first job of each rule, as the manifests of a folder's results tell."""
    first: dict[str, Job] = {}
    for path in sorted((folder / grid.RESULTS).rglob("*manifest.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        command = tuple(content["command"][1:])
        names = [(path.parent / name).relative_to(folder).as_posix() for name in content["outputs"]]
        job = Job(command[1], command, path.relative_to(folder).as_posix(), tuple(names),
                  content["wall_seconds"] + STARTING)  # fmt: skip
        first.setdefault(job.rule, job)
    return first


def start(folder: Path, command: Sequence[str]) -> subprocess.Popen[str]:
    """Start a command of poshgrid in a folder, as Snakemake would."""
    return subprocess.Popen(
        [str(folder / "bin" / "poshgrid"), *command], cwd=folder, env=grid.environment(folder),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def run(folder: Path, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a command of poshgrid to its end; return its status and what it printed."""
    process = start(folder, command)
    texts = process.communicate()
    return subprocess.CompletedProcess(command, process.returncode, *texts)


def make(folder: Path, *arguments: str) -> tuple[int, str]:
    """Run Snakemake in a folder; return its status and what it printed."""
    done = subprocess.run(
        grid.snakemake(*arguments), cwd=folder, env=grid.environment(folder),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False,
    )  # fmt: skip
    return done.returncode, done.stdout
