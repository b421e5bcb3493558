"""Jobs that outlive their Snakemake: after SIGKILL nobody waits for them, and they run on.

The plug-in calls all jobs of a run by the run's id. Snakemake writes that id, and its host, into
its log, which it keeps open while it lives. So on that host a run is alive if a process holds its
log open, and dead if none does; of a run that was started elsewhere nothing is certain. Where logs
are silent (``--quiet all``), SLURM knows the host, and all silent logs of the folder are looked at.
Nothing is certain, either, where logs are gone, or a process of the user does not tell what it
holds open.

What a job of the cluster makes, by its log: of one rule, or of a group.

The plug-in names folders: ``rule_RULE/WILDCARDS/NUMBER.log`` and ``group_GROUP_RULES/NUMBER.log``.
SLURM's comment names the cell of a rule's job, but of a group only the rules: which runs share it
is in its log, where the Snakemake inside the job lists them.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from poshgrid.cluster import slurm
from poshgrid.cluster.slurm import Job
from poshgrid.errors import PoshgridError

JOB_LOGS = Path(".snakemake/slurm_logs")
_PLACES = ("rule_*/{}.log", "rule_*/*/{}.log", "group_*/{}.log")
_LINE = re.compile(r"^\s*(?:(?:local)?rule (\w+):|wildcards: (.+))$", re.M)


def made_by(folder: Path, job: Job) -> list[str]:
    """Return what a job makes, ``rule cell`` of each job of Snakemake that is in it.

    Args:
        folder: where Snakemake was started.
        job: in the queue. One that has not started has no log: of it the comment is returned.
    """
    path = find(folder, job.id)
    return (path and listed(path)) or [job.comment]


def find(folder: Path, number: str) -> Path | None:
    """Return the log of a job; the newest, as a cluster may begin to count anew; none: no log."""
    found = [path for place in _PLACES for path in (folder / JOB_LOGS).glob(place.format(number))]
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


def listed(path: Path) -> list[str]:
    """Return the rules and cells that a job's log lists, each once."""
    found: list[tuple[str, str]] = []
    for rule, wildcards in _LINE.findall(_head(path)):
        if rule:
            found.append((rule, ""))
        elif found:
            values = [part.partition("=")[2] for part in wildcards.split(", ")]
            found[-1] = (found[-1][0], "/".join(values))
    # The Snakemake inside lists a job again when it starts it, and without its cell when it fails.
    celled = {rule for rule, cell in found if cell}
    made = (f"{rule} {cell}".rstrip() for rule, cell in found if cell or rule not in celled)
    return list(dict.fromkeys(made))


_PROCESSES = Path("/proc")
_INIT = "1"  # closed to root, too, in some containers


def told() -> bool:
    """Say whether this system tells which files its processes hold open."""
    return (_PROCESSES / "self/fd").is_dir()


def holders(
    paths: Iterable[Path], *, deleted_from: Path | None = None
) -> tuple[list[int], list[int]]:
    """Return the processes that hold files open, and those of this user that do not tell.

    Args:
        paths: any of these files will do.
        deleted_from: a folder of logs; a log that was deleted from it will do, too.

    Raises:
        OSError: a file cannot be looked at.
    """
    wanted = {_identity(path.stat()) for path in paths}
    holding, closed = [], []
    for process in _PROCESSES.iterdir():
        if not process.name.isdigit():
            continue
        try:
            if any(_is_one(held, wanted, deleted_from) for held in (process / "fd").iterdir()):
                holding.append(int(process.name))
        except PermissionError:
            # Linux tells a user of processes that have the user's number *and* group. /proc gives
            # to root those that nobody may look into (ssh-agent): no Snakemake is one.
            with suppress(OSError):
                if process.stat().st_uid == os.getuid() and process.name != _INIT:
                    closed.append(int(process.name))
        except OSError:  # it has ended
            continue
    return sorted(holding), sorted(closed)


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _is_one(held: Path, wanted: Collection[tuple[int, int]], deleted_from: Path | None) -> bool:
    """Say whether a descriptor is one of the files wanted.

    Raises:
        PermissionError: its process does not tell.
    """
    try:
        if _identity(held.stat()) in wanted:
            return True
        path = held.readlink()
    except PermissionError:
        raise
    except OSError:  # closed meanwhile, or of a file system that does not answer
        return False
    # Of a deleted file Linux says "NAME (deleted)"; NFS calls it .nfsNUMBER.
    return path.parent == deleted_from and path.suffix != ".log"


RUN_LOGS = Path(".snakemake/log")
LOCKS = Path(".snakemake/locks")
AT_ONCE = 200
"""Jobs of one ``scancel``: a command line has an end."""
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
# slurm-jobname-prefix goes before the id.
_RUN = re.compile(rf"(?:[A-Za-z0-9_-]{{1,50}}_)?{_UUID}")
_SAID = re.compile(r"SLURM run ID: (\S+)")
_HOST = re.compile(r"^\s*[Hh]ost: (\S+)", re.M)
_HEAD = 1_000_000
"""Bytes of a log that are read: Snakemake's id, and what a job makes, stand above what it says."""

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
    if not found:
        return []
    logs = _logs(folder)
    return [Run(name, tuple(jobs), *_life(logs, name, jobs[0])) for name, jobs in found.items()]


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


class _Logs(NamedTuple):
    """The logs of a working folder."""

    folder: Path
    named: dict[str, tuple[Path, str]]  # run -> its log and host
    silent: list[Path]  # name no run (``--quiet all``), or cannot be read


def _logs(folder: Path) -> _Logs:
    found = _Logs(folder / RUN_LOGS, {}, [])
    for path in sorted(found.folder.glob("*.log")):
        head = _head(path)
        names = _SAID.findall(head)
        host = _HOST.search(head)
        found.named.update({run: (path, host.group(1) if host else "") for run in names})
        found.silent.extend([] if names else [path])
    return found


def _head(path: Path) -> str:
    """Return how a log begins; "": it cannot be read."""
    with suppress(OSError), path.open("rb") as stream:
        return stream.read(_HEAD).decode("utf-8", errors="replace")
    return ""


def _life(logs: _Logs, run: str, job: Job) -> tuple[Life, str]:
    log, host = logs.named.get(run, (None, ""))
    host = host or slurm.submitted_from(job.id)
    if _short(host) != _short(platform.node()):
        return "unknown", f"its Snakemake was started on {host or 'an unknown host'}: look there"
    if not told():
        return "unknown", "this system does not tell which files its processes hold open"
    return _life_here(logs, log)


def _life_here(logs: _Logs, log: Path | None) -> tuple[Life, str]:
    """Return the life of a run of this host, whose log is known or one of the silent ones."""
    if log is None and not logs.silent:
        return "unknown", f"no log names it, nor is one silent: {RUN_LOGS} may have been emptied"
    try:
        if log is not None:
            found, closed = holders([log])
        else:
            found, closed = holders(logs.silent, deleted_from=logs.folder)
    except OSError as error:
        return "unknown", f"{error.filename}: cannot be looked at: {error.strerror}"
    if found and log is not None:
        return "alive", f"Snakemake is process {found[0]} of this host"
    if found:
        return "unknown", f"no log names it; it may be process {found[0]}, whose log is silent"
    if closed:
        return "unknown", (
            f"it may be process {closed[0]}, which does not tell what it holds open: it is of "
            "another group (newgrp, sg)"
        )
    return "dead", (
        f"no process of this host holds {log.name} open"
        if log is not None
        else "no log names it, and no Snakemake of this host with a silent log works here"
    )


def _short(host: str) -> str:
    return host.partition(".")[0].lower()
