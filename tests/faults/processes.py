"""Snakemake in a session of its own, the stages that it runs, and how to kill them."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.faults import grid

TICK = 0.05
"""Seconds between two looks at the processes."""
PATIENCE = 1800
"""Seconds that one start of Snakemake may take."""


@dataclass(frozen=True)
class Stage:
    """A job's process.

    Attributes:
        pid: its id.
        rule: the rule whose job it is.
        output: where it writes.
    """

    pid: int
    rule: str
    output: str


def stages(folder: Path) -> list[Stage]:
    """Return the stages that run in a folder, oldest first."""
    found = []
    for pid in _inside(folder):
        arguments = _arguments(pid)
        if len(arguments) > 2 and arguments[1] == str(folder / "bin" / "poshgrid"):
            output = arguments[arguments.index("--output") + 1] if "--output" in arguments else ""
            found.append(Stage(pid, rule_of(arguments[2], output), output))
    return sorted(found, key=lambda stage: stage.pid)


def left(folder: Path) -> list[int]:
    """Return the processes whose working folder is this one."""
    return _inside(folder)


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
    folder: Path, *arguments: str, watch: Callable[[subprocess.Popen[bytes]], bool] | None = None
) -> tuple[int, str]:
    """Run Snakemake in a folder; return its status and what it printed.

    Args:
        folder: a copy (:func:`tests.faults.grid.checkout`).
        arguments: more arguments.
        watch: called again and again with the process until it returns true.
    """
    log = folder / ".drill.log"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            grid.snakemake(*arguments),
            cwd=folder,
            env=grid.environment(folder),
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        end, watching = time.monotonic() + PATIENCE, watch is not None
        while process.poll() is None:
            if watching and watch is not None:
                watching = not watch(process)
            if time.monotonic() > end:
                kill(*left(folder))
            time.sleep(TICK)
    return process.returncode, log.read_text(encoding="utf-8", errors="replace")


def once(
    folder: Path, act: Callable[[], None], after: float, rule: str = ""
) -> Callable[[subprocess.Popen[bytes]], bool]:
    """Return a watch that acts once, so many seconds after a job was first seen.

    Args:
        folder: of the run.
        act: what to do.
        after: seconds.
        rule: of the job; empty: any.
    """
    seen: list[float] = []

    def look(_: subprocess.Popen[bytes]) -> bool:
        if not seen and any(rule in ("", stage.rule) for stage in stages(folder)):
            seen.append(time.monotonic())
        if not seen or time.monotonic() < seen[0] + after:
            return False
        act()
        return True

    return look


def locked(folder: Path) -> bool:
    """Say whether Snakemake has left its lock."""
    return any((folder / ".snakemake" / "locks").glob("*"))


def unlock(folder: Path) -> None:
    """Take Snakemake's lock away as users do."""
    status, text = make(folder, "--unlock")
    if status:
        raise RuntimeError(f"{folder}: snakemake --unlock failed:\n{text}")


def _inside(folder: Path) -> list[int]:
    """Return the processes whose working folder is this one, less those that have ended."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                if (entry / "cwd").readlink() == folder:
                    found.append(int(entry.name))
    return found


def _arguments(pid: int) -> list[str]:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8").split("\0")
    return []


def rule_of(command: str, output: str) -> str:
    """Return the rule that runs a command; two serve two rules each, two have another name."""
    if command == "count" and "/ngrams/" in output:
        return "ngrams"
    if command == "train" and "/untrained/" in output:
        return "untrained"
    named = {"measure-collateral": "collateral", "rules": "rule_preferences"}
    return named.get(command, command.replace("-", "_"))
