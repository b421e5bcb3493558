"""SLURM's commands, the limits of its partitions, and additions to Snakemake's executor for it.

The additions are in the process that submits jobs (:func:`extend`):

- After Ctrl-C no more jobs are submitted, all jobs of the run are cancelled, including one that was
  just being submitted, and jobs that stay in the queue are named.
- The signal that a training runs out of time comes a share of its time limit early, so that it fits
  short and long partitions (see :mod:`poshgrid.models.training.signals`).

The executor itself (version 2.8) checks its jobs and sleeps for up to three minutes; while it
checks it has no list of them, and before it ends it waits for the end of its sleep.

A training job that runs out of time, and has saved, puts itself back into the queue
(:func:`requeue`). Snakemake counts a job that ends early as a failed attempt, so that a training
over many time limits would need as many retries. A requeued job keeps its number, and Snakemake
waits for it as for a preempted job. Only a job that has made progress is requeued: one whose limit
is too short for a single step fails.
"""

from __future__ import annotations

import asyncio
import getpass
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from typing import Any

from poshgrid.core import logs
from poshgrid.core.errors import PoshgridError
from poshgrid.models.training.signals import StoppedError

log = logs.get(__name__)

PATIENCE = 60
"""Seconds in which a busy controller may answer."""
DEFAULT = "*"
"""Key of the partition of jobs that request none."""
LEAD_SHARE, LONGEST_LEAD = 20, 120
"""A training is warned when 1/20 of its time is left, but at most 120 seconds before its end."""
GONE_WITHIN = 60
"""Seconds in which cancelled jobs can save and leave the queue."""
ACTIVE = "PENDING,RUNNING,SUSPENDED,COMPLETING,CONFIGURING,REQUEUED"
"""States of a job that has not ended."""


def run(*command: str, timeout: float = PATIENCE) -> str:
    """Run one of SLURM's commands; return its output.

    Raises:
        PoshgridError: the command does not exist, fails, or does not answer.
    """
    if shutil.which(command[0]) is None:
        raise PoshgridError(
            f"{command[0]}: not found; run this where SLURM's commands are (a login node), or load "
            "its module"
        )
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False, timeout=timeout,
            start_new_session=True,  # Ctrl-C must only reach Snakemake
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise PoshgridError(
            f"{command[0]}: no answer within {timeout:g} s; is slurmctld up? (scontrol ping)"
        ) from error
    except OSError as error:
        raise PoshgridError(f"{command[0]}: cannot be run: {error.strerror or error}") from error
    if done.returncode:
        message = " ".join((done.stderr.strip() or done.stdout.strip()).split())
        message = message.replace(f"{command[0]}: ", "")
        if "Could not establish a configuration source" in message:
            raise PoshgridError(
                f"{command[0]}: this machine knows no cluster; run this on a login node"
            )
        raise PoshgridError(f"{command[0]}: {message[:300] or f'status {done.returncode}'}")
    return done.stdout


def partitions() -> dict[str, tuple[int | None, str]]:
    """Return partition -> its time limit in minutes (None: unlimited), and a description.

    The default partition also has the key :data:`DEFAULT`.
    """
    limits: dict[str, tuple[int | None, str]] = {}
    for line in run("sinfo", "-h", "-o", "%P\t%l\t%m\t%c\t%G").splitlines():
        name, limit, memory, cpus, devices = line.split("\t")
        what = f"{name} gives {limit}, {memory} MB, {cpus} CPUs, {devices}"
        longest = minutes(limit)
        for key in {name.rstrip("*"), *([DEFAULT] if name.endswith("*") else [])}:
            limits[key] = longest, f"{limits[key][1]} or {what}" if key in limits else what
    return limits


def minutes(text: str) -> int | None:
    """Return a time limit of SLURM in minutes, rounded down; ``None`` if there is no limit.

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


def reach(executor: str) -> None:
    """Prepare a run on SLURM (:func:`extend`); stop it if no cluster answers.

    Without this check Snakemake would wait forever.

    Args:
        executor: Snakemake's name of the run's executor.

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
    extend()


def extend() -> None:
    """Change Snakemake's SLURM executor in this process."""
    import snakemake_executor_plugin_slurm as plugin

    async def sleep(executor: Any) -> None:  # noqa: ANN401 - Snakemake's
        end = time.monotonic() + executor.next_seconds_between_status_checks
        while executor.wait and time.monotonic() < end:
            await asyncio.sleep(0.5)

    command = plugin.get_submit_command

    def submit_command(job: Any, *rest: Any, **more: Any) -> str:  # noqa: ANN401
        return f"{command(job, *rest, **more)}{lead(job.resources)}"

    plugin.Executor.sleep, plugin.Executor.cancel = sleep, cancel
    plugin.get_submit_command = submit_command


def lead(resources: Any) -> str:  # noqa: ANN401 - Snakemake's
    """Return the option that sends a signal to a job with its own step before its time is over.

    Args:
        resources: resources of the job; ``runtime`` in minutes.
    """
    limit = int(resources.get("runtime") or 0)
    if not resources.get("step") or "--signal" in str(resources.get("slurm_extra")):
        return ""
    seconds = min(LONGEST_LEAD, limit * 60 // LEAD_SHARE) if limit else LONGEST_LEAD
    return f" --signal=USR1@{seconds}"


def cancel(executor: Any) -> None:  # noqa: ANN401 - Snakemake's
    """End an interrupted run: submit no more jobs, cancel its jobs, say which ones remain."""
    name = executor.run_uuid
    signal.signal(signal.SIGINT, lambda *_: say("already ending: waiting for cancelled jobs"))
    say("cancelling the jobs of this run; results and checkpoints stay")
    executor.wait = False  # do not check the queue, which would report cancelled jobs as failed
    executor._job_submission_executor.shutdown(cancel_futures=True)
    try:
        run("scancel", f"--user={getpass.getuser()}", f"--name={name}")
        end = time.monotonic() + GONE_WITHIN
        queue = ("squeue", "-h", "--me", f"--name={name}", f"--states={ACTIVE}", "-o", "%i")
        while (left := run(*queue).splitlines()) and time.monotonic() < end:
            time.sleep(1)
        jobs = ", ".join(left) or "no job of this run"
        last = f"`scancel --name={name}`" if left else "the same command goes on"
        last = f"{jobs} left in the queue; {last}"
    except PoshgridError as error:
        last = f"{error}; cancel the jobs with `scancel --name={name}`"
    executor.shutdown()
    say(last)


def say(line: str) -> None:
    """Print a line to standard error."""
    sys.stderr.write(f"SLURM: {line}\n")
    sys.stderr.flush()


def requeue(end: StoppedError) -> bool:
    """Put this job back into SLURM's queue, which ends it; return whether it was requeued.

    Args:
        end: the request to stop training, with the steps that were made.
    """
    job = os.environ.get("SLURM_JOB_ID")
    if not job or not end.out_of_time:
        return False
    if not end.steps:
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
