"""Snakemake in a session of its own, the stages that it runs, their manifests, and how to kill."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from poshgrid.provenance import adopt
from tests.faults import grid

TICK = 0.05
"""Seconds between two looks at the processes."""
PATIENCE = 1800
"""Seconds that one start of Snakemake may take."""
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


def rule_of(arguments: Sequence[str]) -> str:
    """Return the rule whose job a command is, by its arguments after ``poshgrid``."""
    return arguments[1] if arguments[0] == "stage" else arguments[0]


def jobs(folder: Path) -> dict[str, Job]:
    """Return the first job of each rule, as the manifests of a folder's results tell."""
    found: dict[str, Job] = {}
    for path in sorted((folder / grid.RESULTS).rglob("*manifest.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        command = tuple(content["command"][1:])
        names = [(path.parent / name).relative_to(folder).as_posix() for name in content["outputs"]]
        job = Job(rule_of(command), command, path.relative_to(folder).as_posix(), tuple(names),
                  content["wall_seconds"] + STARTING)  # fmt: skip
        found.setdefault(job.rule, job)
    return found


def run(folder: Path, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a command of poshgrid in a folder, as Snakemake would."""
    return subprocess.run(
        [str(folder / "bin" / "poshgrid"), *command], cwd=folder, env=grid.environment(folder),
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip


def refused(done: subprocess.CompletedProcess[str], name: str = "") -> bool:
    """Say whether a command has failed with one line for people, which names a file."""
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    known = len(errors) == 1 and "internal error" not in errors[0] and name in errors[0]
    return done.returncode == 1 and known and "Traceback" not in done.stderr


def stages(folder: Path) -> list[tuple[int, str]]:
    """Return the number and rule of the stages that run in a folder, oldest first."""
    return sorted(_stages(folder))


def _stages(folder: Path) -> Iterator[tuple[int, str]]:
    for pid in left(folder):
        with suppress(OSError):
            arguments = Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8").split("\0")
            if len(arguments) > 2 and arguments[1] == str(folder / "bin" / "poshgrid"):
                yield pid, rule_of(arguments[2:])


def left(folder: Path) -> list[int]:
    """Return the processes whose working folder is this one, less those that have ended."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                if (entry / "cwd").readlink() == folder:
                    found.append(int(entry.name))
    return found


def wait_until_empty(folder: Path, seconds: float) -> list[int]:
    """Wait for the processes of a folder to end; return those that have not."""
    end = time.monotonic() + seconds
    while (found := left(folder)) and time.monotonic() < end:
        time.sleep(TICK)
    return found


def kill(*pids: int) -> None:
    """Send SIGKILL to processes, all stopped first so that none sees another's end."""
    for sent in (signal.SIGSTOP, signal.SIGKILL):
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, sent)


def make(
    folder: Path, *arguments: str, watch: Callable[[int], bool] = lambda _: True
) -> tuple[int, str]:
    """Run Snakemake in a folder; return its status and what it printed.

    Args:
        folder: a copy (:func:`tests.faults.grid.checkout`).
        arguments: more arguments.
        watch: called again and again with the process's number until it returns true.
    """
    log = folder / ".drill.log"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            grid.snakemake(*arguments), cwd=folder, env=grid.environment(folder),
            stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
        end, over = time.monotonic() + PATIENCE, False
        while process.poll() is None:
            over = over or watch(process.pid)
            if time.monotonic() > end:
                kill(*left(folder))
            time.sleep(TICK)
    return process.returncode, log.read_text(encoding="utf-8", errors="replace")


def unlock(folder: Path) -> bool:
    """Take away Snakemake's lock as users do; return whether there was one."""
    locked = any((folder / ".snakemake" / "locks").glob("*"))
    if locked and (failed := make(folder, "--unlock"))[0]:
        raise RuntimeError(f"{folder}: snakemake --unlock failed:\n{failed[1]}")
    return locked
