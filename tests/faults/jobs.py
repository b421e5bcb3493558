"""The jobs of an undisturbed run, as their manifests tell them, and how to run one by hand."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from poshgrid.provenance import adopt
from tests.faults import grid
from tests.faults.processes import rule_of

STARTING = 3.0
"""Seconds that a command takes before its manifest counts them: imports."""


@dataclass(frozen=True)
class Job:
    """A job of the grid.

    Attributes:
        rule: its rule.
        command: its arguments after ``poshgrid``.
        manifest: its manifest, relative to the copy; of one that writes none, its output.
        inputs: what it read, as far as its manifest tells.
        outputs: what it wrote, relative to the copy.
        seconds: how long it took.
    """

    rule: str
    command: tuple[str, ...]
    manifest: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    seconds: float

    @property
    def output(self) -> str:
        """What the job was told to write."""
        return self.command[self.command.index("--output") + 1]

    def elsewhere(self, output: Path) -> tuple[str, ...]:
        """Return the command with another output."""
        place = self.command.index("--output") + 1
        name = output / Path(self.output).name if Path(self.output).suffix else output
        return (*self.command[:place], str(name), *self.command[place + 1 :])

    def remove(self, folder: Path) -> None:
        """Remove what the job wrote, its resumable checkpoints among it, and what is kept of it."""
        for name in (self.manifest, *self.outputs):
            (folder / name).unlink(missing_ok=True)
        shutil.rmtree(adopt.folder_of(folder / self.manifest), ignore_errors=True)
        if self.rule == "train":
            shutil.rmtree(folder / grid.RESULTS / "checkpoints", ignore_errors=True)


def jobs(folder: Path) -> list[Job]:
    """Return the jobs of a folder's results, by the order of their manifests' paths."""
    found = []
    for path in sorted((folder / grid.RESULTS).rglob("*manifest.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        command = content["command"]
        output = command[command.index("--output") + 1]
        found.append(
            Job(
                rule=rule_of(command[1], output),
                command=tuple(command[1:]),
                manifest=path.relative_to(folder).as_posix(),
                inputs=tuple(content["inputs"]),
                outputs=tuple(
                    (path.parent / name).relative_to(folder).as_posix()
                    for name in content["outputs"]
                ),
                seconds=content["wall_seconds"] + STARTING,
            )
        )
    return found


def run(folder: Path, command: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    """Run a command of poshgrid in a folder, as Snakemake would."""
    return subprocess.run(
        [str(folder / "bin" / "poshgrid"), *command],
        cwd=folder,
        env=grid.environment(folder),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def refused(done: subprocess.CompletedProcess[str], name: str = "") -> bool:
    """Say whether a command has failed with one line for people, which names a file."""
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    known = len(errors) == 1 and "internal error" not in errors[0] and name in errors[0]
    return done.returncode == 1 and known and "Traceback" not in done.stderr
