"""What poshgrid adds to Snakemake's SLURM executor, in the process that submits jobs.

- After Ctrl-C nothing more is submitted, every job of the run is cancelled, also one that was
  submitted at that moment, and what stays in the queue is named.
- The signal that a training is out of time comes early by a share of its time limit, so that it
  fits short and long partitions (see :mod:`poshgrid.training.signals`).

The executor itself (version 2.8) looks at its jobs and sleeps for up to three minutes; while it
looks it has no list of them, and it waits for the end of its sleep before it ends.
"""

from __future__ import annotations

import asyncio
import getpass
import signal
import sys
import time
from typing import Any

from poshgrid.cluster import slurm
from poshgrid.errors import PoshgridError

LEAD_SHARE, LONGEST_LEAD = 20, 120
"""A training is warned when 1/20 of its time is left, but at most 120 seconds before its end."""
GONE_WITHIN = 60
"""Seconds that cancelled jobs have to save and leave the queue."""
ACTIVE = "PENDING,RUNNING,SUSPENDED,COMPLETING,CONFIGURING,REQUEUED"
"""States of a job that SLURM has not done with."""


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
    """Return the option that signals a job, a step of its own, before its time is over.

    Args:
        resources: of the job; ``runtime`` in minutes.
    """
    minutes = int(resources.get("runtime") or 0)
    if not resources.get("step") or "--signal" in str(resources.get("slurm_extra")):
        return ""
    seconds = min(LONGEST_LEAD, minutes * 60 // LEAD_SHARE) if minutes else LONGEST_LEAD
    return f" --signal=USR1@{seconds}"


def cancel(executor: Any) -> None:  # noqa: ANN401 - Snakemake's
    """End a run that was interrupted: submit nothing more, cancel its jobs, say what stays."""
    run = executor.run_uuid
    signal.signal(signal.SIGINT, lambda *_: say("already ending: waiting for cancelled jobs"))
    say("cancelling the jobs of this run; results and checkpoints stay")
    executor.wait = False  # no look at the queue that would tell of cancelled jobs as failed
    executor._job_submission_executor.shutdown(cancel_futures=True)
    try:
        slurm.run("scancel", f"--user={getpass.getuser()}", f"--name={run}")
        end = time.monotonic() + GONE_WITHIN
        while (left := _queue(run, ACTIVE, "%i")) and time.monotonic() < end:
            time.sleep(1)
        jobs = ", ".join(left) or "no job of this run"
        last = f"`scancel --name={run}`" if left else "the same command goes on"
        last = f"{jobs} left in the queue; {last}"
    except PoshgridError as error:
        last = f"{error}; cancel the jobs with `scancel --name={run}`"
    executor.shutdown()
    say(last)


def _queue(run: str, states: str, fields: str) -> list[str]:
    """Return a line for each job of a run that is in one of these states."""
    lines = slurm.run("squeue", "-h", "--me", f"--name={run}", f"--states={states}", "-o", fields)
    return lines.splitlines()


def say(line: str) -> None:
    """Print a line for a person."""
    sys.stderr.write(f"SLURM: {line}\n")
    sys.stderr.flush()
