"""SLURM's commands, and what they say of nodes and partitions.

A job that is out of time, and has saved, goes back into the queue (:func:`requeue`). Snakemake
counts a job that ends early as an attempt that failed: a training of many time limits would need as
many retries. A job that puts itself back keeps its number, and Snakemake waits for it as for one
that was preempted. Only one that has come further does so: a limit that is too short for a single
step fails, as ever.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from poshgrid import logs
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
        found[given["PartitionName"]] = Partition(
            name=given["PartitionName"],
            default=given.get("Default") == "YES",
            up=given.get("State", "UP") == "UP",
            minutes=minutes(given.get("MaxTime", "UNLIMITED")),
            memory_mb=number(given.get("MaxMemPerNode", "")) or None,
        )
    return found


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


def generic(text: str) -> dict[tuple[str, str], int]:
    """Return (name, type) -> number of generic resources as SLURM writes them.

    >>> generic("gpu:a100:4(S:0-1),gpu:2,shard:8")
    {('gpu', 'a100'): 4, ('gpu', ''): 2, ('shard', ''): 8}
    """
    devices: dict[tuple[str, str], int] = {}
    # Brackets with the sockets of a node, `(S:0,2-3)`, go: their commas separate nothing
    for part in re.sub(r"\([^()]*\)", "", text).split(","):
        match = re.fullmatch(r"([^:]+)(?::(\D[^:]*))?(?::(\d+)([KMGT]?))?", part.strip())
        if match:
            name, kind, count, unit = match.groups()
            scale = 1024 ** (" KMGT".index(unit) if unit else 0)
            key = (name, kind or "")
            devices[key] = devices.get(key, 0) + int(count or 1) * scale
    return devices


def number(text: str) -> int:
    """Return the number that a text begins with; 0: none, or no limit."""
    found = re.match(r"\d+", text)
    return int(found.group()) if found else 0


def reach(executor: str) -> None:
    """Stop a run on SLURM where no cluster answers: Snakemake would wait for ever.

    Args:
        executor: of the run, by Snakemake's name.

    Raises:
        SystemExit: no cluster answers. Snakemake would show another exception with a traceback.
    """
    if executor != "slurm":
        return
    try:
        run("sinfo", "-h")
    except PoshgridError as error:
        sys.stderr.write(f"error: {error}; `poshgrid doctor` says what else is wrong\n")
        sys.exit(1)


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
