"""SLURM's commands, and what they say of nodes, partitions and jobs.

A job that is out of time, and has saved, goes back into the queue (:func:`requeue`). Snakemake
counts a job that ends early as an attempt that failed: a training of many time limits would need as
many retries. A job that puts itself back keeps its number, and Snakemake waits for it as for one
that was preempted. Only one that has come further does so: a limit that is too short for a single
step fails, as ever.
"""

from __future__ import annotations

import getpass
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from poshgrid import logs
from poshgrid.cluster.sbatch import generic
from poshgrid.errors import PoshgridError
from poshgrid.training.signals import ToldToEndError

log = logs.get(__name__)

PATIENCE = 60
"""Seconds that a busy controller may take to answer."""
_FIELD = "\t"
# States (sinfo's short form) in which a node takes no job; those that sleep are woken by one.
_OUT = ("down", "drain", "drng", "fail", "inval", "unk", "err", "no_respond")


def run(*command: str, timeout: float = PATIENCE) -> str:
    """Run one of SLURM's commands; return what it prints.

    Raises:
        PoshgridError: there is no such command, it fails, or does not answer.
    """
    if shutil.which(command[0]) is None:
        raise PoshgridError(
            f"{command[0]}: not found; run this where SLURM's commands are (a login node), or load "
            "its module"
        )
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False, timeout=timeout
        )
    except subprocess.TimeoutExpired as error:
        raise PoshgridError(
            f"{command[0]}: no answer within {timeout:g} s; is slurmctld up? (scontrol ping)"
        ) from error
    except OSError as error:
        raise PoshgridError(f"{command[0]}: cannot be run: {error.strerror or error}") from error
    if done.returncode:
        said = " ".join((done.stderr.strip() or done.stdout.strip()).split())
        said = said.replace(f"{command[0]}: ", "")
        if "Could not establish a configuration source" in said:
            raise PoshgridError(
                f"{command[0]}: this machine knows no cluster; run this on a login node"
            )
        raise PoshgridError(f"{command[0]}: {said[:300] or f'status {done.returncode}'}")
    return done.stdout


@dataclass(frozen=True)
class Node:
    """A node as a partition has it."""

    name: str
    partition: str
    cpus: int
    memory_mb: int
    devices: Mapping[tuple[str, str], int]
    state: str

    @property
    def usable(self) -> bool:
        """Whether it takes jobs, now or when it is free."""
        return not self.state.lower().startswith(_OUT)


@dataclass(frozen=True)
class Partition:
    """A partition's limits; ``None``: it has none."""

    name: str
    default: bool
    up: bool
    minutes: int | None
    memory_mb: int | None
    accounts: tuple[str, ...] | None
    denied: tuple[str, ...]


@dataclass(frozen=True)
class Job:
    """A job in the queue."""

    id: str
    name: str
    state: str
    reason: str
    comment: str
    folder: str
    elapsed: str


def nodes() -> list[Node]:
    """Return the nodes, once for each partition that they are in."""
    found = []
    wanted = _FIELD.join(("%N", "%P", "%c", "%m", "%G", "%t"))
    for line in run("sinfo", "-h", "-N", "-o", wanted).splitlines():
        fields = line.split(_FIELD)
        if len(fields) != 6:
            continue
        name, partition, cpus, memory, gres, state = fields
        found.append(
            Node(name, partition.rstrip("*"), number(cpus), number(memory), generic(gres), state)
        )
    return found


def partitions() -> dict[str, Partition]:
    """Return the partitions that this user may see, by name."""
    found = {}
    for line in run("scontrol", "-o", "show", "partition").splitlines():
        given = dict(re.findall(r"(\w+)=(\S*)", line))
        if "PartitionName" not in given:
            continue
        allowed = given.get("AllowAccounts", "ALL")
        found[given["PartitionName"]] = Partition(
            name=given["PartitionName"],
            default=given.get("Default") == "YES",
            up=given.get("State", "UP") == "UP",
            minutes=minutes(given.get("MaxTime", "UNLIMITED")),
            memory_mb=number(given.get("MaxMemPerNode", "")) or None,
            accounts=None if allowed == "ALL" else tuple(allowed.split(",")),
            denied=tuple(given.get("DenyAccounts", "").split(",")),
        )
    return found


def settings() -> dict[str, str]:
    """Return the controller's configuration."""
    return {
        key.strip(): value.strip()
        for key, equals, value in (
            line.partition("=") for line in run("scontrol", "show", "config").splitlines()
        )
        if equals
    }


def accounts() -> set[str] | None:
    """Return the accounts that this user may charge; ``None``: this cluster keeps none.

    Raises:
        PoshgridError: there is accounting, and it does not answer.
    """
    if settings().get("AccountingStorageType", "").endswith("none"):
        return None
    said = run(
        "sacctmgr", "-n", "-P", "show", "assoc", f"user={getpass.getuser()}", "format=account"
    )
    return {line.strip() for line in said.splitlines() if line.strip()}


def jobs() -> list[Job]:
    """Return this user's jobs that wait or run; not those that are coming to their end."""
    said = run(
        "squeue", "-h", "-r", "-u", getpass.getuser(), "-o",
        _FIELD.join(("%i", "%j", "%T", "%r", "%M", "%Z", "%k")),
    )  # fmt: skip
    found = []
    for line in said.splitlines():
        fields = line.split(_FIELD, 6)  # a comment may hold anything: it comes last
        if len(fields) == 7 and fields[2] != "COMPLETING":
            job, name, state, reason, elapsed, folder, comment = fields
            found.append(Job(job, name, state, reason, comment, folder, elapsed))
    return found


def submitted_from(job: str) -> str:
    """Return the host that a job was submitted from; ``""``: SLURM does not know (any more)."""
    try:
        said = run("scontrol", "-o", "show", "job", job)
    except PoshgridError:
        return ""
    found = re.search(r"AllocNode:Sid=([^:\s]+)", said)
    if found and found.group(1).startswith("localhost"):  # the controller's own machine
        return settings().get("SlurmctldHost[0]", "").partition("(")[0]
    return found.group(1) if found else ""


def minutes(text: str) -> int | None:
    """Return a time limit of SLURM's in minutes, rounded down; ``None``: no limit.

    >>> minutes("1-12:30:00"), minutes("90"), minutes("1:30"), minutes("2:00:00"), minutes("2-12")
    (2190, 90, 1, 120, 3600)
    """
    text = text.strip()
    if not re.fullmatch(r"(?:\d+-)?\d+(?::\d+){0,2}", text):
        return None  # UNLIMITED, infinite, n/a, Partition_Limit
    days, dash, rest = text.rpartition("-")
    parts = [int(part) for part in rest.split(":")]
    if dash:  # days-hours[:minutes[:seconds]]
        hours, least, *_ = [*parts, 0]
        return int(days) * 1440 + hours * 60 + least
    if len(parts) == 3:  # hours:minutes:seconds
        return parts[0] * 60 + parts[1]
    return parts[0]  # minutes[:seconds]


def number(text: str) -> int:
    """Return the number that a text begins with; 0: none, or no limit."""
    found = re.match(r"\d+", text)
    return int(found.group()) if found else 0


def requeue(told: ToldToEndError) -> bool:
    """Put this job back into the queue of SLURM, which ends it; say whether that was done.

    Args:
        told: that training was told to end, and how far it came.
    """
    job = os.environ.get("SLURM_JOB_ID")
    if not job or not told.out_of_time:
        return False
    if not told.steps:
        log.warning("job %s took no step in its time: it fails; give it more (runtime)", job)
        return False
    try:
        run("scontrol", "requeue", job)
    except PoshgridError as error:
        log.warning(
            "job %s cannot go back into the queue (%s); this costs an attempt: "
            "`slurm-requeue: true` in the profile",
            job,
            error,
        )
        return False
    log.info("job %s is out of time, has saved, and is back in the queue", job)
    return True
