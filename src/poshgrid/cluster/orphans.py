"""Jobs that outlive their Snakemake: after SIGKILL nobody waits for them, and they run on.

The plug-in calls all jobs of a run by the run's id. Snakemake writes that id, and its host, into
its log, which it keeps open while it lives. So on that host a run is alive if a process holds its
log open, and dead otherwise; of a run that was started elsewhere nothing is certain. Where logs are
silent (``--quiet all``), SLURM knows the host, and all silent logs of the folder are looked at.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from poshgrid.cluster import slurm
from poshgrid.cluster.slurm import Job
from poshgrid.errors import PoshgridError

LOGS = Path(".snakemake/log")
LOCKS = Path(".snakemake/locks")
AT_ONCE = 200
"""Jobs of one ``scancel``: a command line has an end."""
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
# slurm-jobname-prefix goes before the id.
_RUN = re.compile(rf"(?:[A-Za-z0-9_-]{{1,50}}_)?{_UUID}")
_SAID = re.compile(r"SLURM run ID: (\S+)")
_HOST = re.compile(r"^\s*[Hh]ost: (\S+)", re.M)
_HEAD = 1_000_000
"""Bytes of a log that are read: the id stands among its first lines."""

Life = Literal["alive", "dead", "unknown"]


@dataclass(frozen=True)
class Run:
    """The jobs of one start of Snakemake."""

    id: str
    jobs: tuple[Job, ...]
    life: Life
    why: str


def runs(folder: Path) -> list[Run]:
    """Return the runs of a working folder that have jobs in the queue.

    Args:
        folder: where Snakemake was started, or its ``--directory``.

    Raises:
        PoshgridError: SLURM is not there or does not answer.
    """
    folder = folder.resolve()
    found: dict[str, list[Job]] = {}
    for job in slurm.jobs():
        if _RUN.fullmatch(job.name) and Path(job.folder).resolve() == folder:
            found.setdefault(job.name, []).append(job)
    logs, silent = _logs(folder) if found else ({}, [])
    return [
        Run(name, tuple(jobs), *_life(logs.get(name), silent, jobs[0]))
        for name, jobs in found.items()
    ]


def locked(folder: Path) -> bool:
    """Say whether a Snakemake has locked the folder, or has left its lock."""
    return any((folder / LOCKS).glob("*.lock"))


def chosen(found: Sequence[Run], run: str | None) -> list[Run]:
    """Return the runs whose jobs are to be cancelled: the dead ones, or the one that is named.

    Raises:
        PoshgridError: the run that is named has no jobs here, or its Snakemake lives.
    """
    if run is None:
        return [each for each in found if each.life == "dead"]
    for each in found:
        if each.id == run:
            if each.life == "alive":
                raise PoshgridError(
                    f"{run}: {each.why}; end that Snakemake first: Ctrl-C cancels its jobs"
                )
            return [each]
    known = ", ".join(each.id for each in found) or "none"
    raise PoshgridError(f"--run: no jobs of {run!r} in the queue; runs of this folder: {known}")


def cancel(found: Iterable[Run]) -> tuple[int, list[str]]:
    """Cancel the jobs of runs; return how many were, and what SLURM said of the others."""
    numbers = [job.id for run in found for job in run.jobs]
    done, said = 0, []
    for start in range(0, len(numbers), AT_ONCE):
        some = numbers[start : start + AT_ONCE]
        try:
            slurm.run("scancel", *some)
            done += len(some)
        except PoshgridError as problem:
            said.append(str(problem))
    return done, said


def _logs(folder: Path) -> tuple[dict[str, tuple[Path, str]], list[Path]]:
    """Return run -> its log and host; and the logs that name no run (``--quiet all``)."""
    found, silent = {}, []
    for path in sorted((folder / LOGS).glob("*.log")):
        try:
            with path.open("rb") as stream:
                head = stream.read(_HEAD).decode("utf-8", errors="replace")
        except OSError:
            continue
        names = _SAID.findall(head)
        host = _HOST.search(head)
        found.update({run: (path, host.group(1) if host else "") for run in names})
        silent += [] if names else [path]
    return found, silent


def _life(log: tuple[Path, str] | None, silent: Sequence[Path], job: Job) -> tuple[Life, str]:
    host = (log and log[1]) or slurm.submitted_from(job.id)
    if _short(host) != _short(platform.node()):
        return "unknown", f"its Snakemake was started on {host or 'an unknown host'}: look there"
    if not Path("/proc/self/fd").is_dir():
        return "unknown", "this system does not tell which files its processes hold open"
    if log is not None:
        holders = _holders(log[0])
        if holders:
            return "alive", f"Snakemake is process {holders[0]} of this host"
        return "dead", f"no process of this host holds {log[0].name} open"
    holders = [process for path in silent for process in _holders(path)]
    if holders:
        return "unknown", f"no log names it; it may be process {holders[0]}, whose log is silent"
    return "dead", "no log names it, and no Snakemake of this host with a silent log works here"


def _short(host: str) -> str:
    return host.partition(".")[0].lower()


def _holders(path: Path) -> list[int]:
    """Return the processes that hold a file open; those of others cannot be seen."""
    try:
        wanted = path.stat()
    except OSError:
        return []
    found = []
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        try:
            for descriptor in os.scandir(process / "fd"):
                held = Path(descriptor.path).stat()
                if (held.st_dev, held.st_ino) == (wanted.st_dev, wanted.st_ino):
                    found.append(int(process.name))
                    break
        except OSError:  # it has ended, or is somebody else's
            continue
    return sorted(found)
