"""Additions to Snakemake's SLURM executor, in the process that submits jobs.

- After Ctrl-C no more jobs are submitted, all jobs of the run are cancelled, including one that was
  just being submitted, and jobs that stay in the queue are named.
- The signal that a training runs out of time comes a share of its time limit early, so that it fits
  short and long partitions (see :mod:`poshgrid.models.training.signals`).

The executor itself (version 2.8) checks its jobs and sleeps for up to three minutes; while it
checks it has no list of them, and before it ends it waits for the end of its sleep.
"""

from __future__ import annotations

import asyncio
import getpass
import signal
import sys
import time
from typing import Any

from poshgrid.core.errors import PoshgridError
from poshgrid.planning import slurm

LEAD_SHARE, LONGEST_LEAD = 20, 120
"""A training is warned when 1/20 of its time is left, but at most 120 seconds before its end."""
GONE_WITHIN = 60
"""Seconds in which cancelled jobs can save and leave the queue."""
ACTIVE = "PENDING,RUNNING,SUSPENDED,COMPLETING,CONFIGURING,REQUEUED"
"""States of a job that has not ended."""


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
    minutes = int(resources.get("runtime") or 0)
    if not resources.get("step") or "--signal" in str(resources.get("slurm_extra")):
        return ""
    seconds = min(LONGEST_LEAD, minutes * 60 // LEAD_SHARE) if minutes else LONGEST_LEAD
    return f" --signal=USR1@{seconds}"


def cancel(executor: Any) -> None:  # noqa: ANN401 - Snakemake's
    """End an interrupted run: submit no more jobs, cancel its jobs, say which ones remain."""
    run = executor.run_uuid
    signal.signal(signal.SIGINT, lambda *_: say("already ending: waiting for cancelled jobs"))
    say("cancelling the jobs of this run; results and checkpoints stay")
    executor.wait = False  # do not check the queue, which would report cancelled jobs as failed
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
    """Return a line for each job of a run that is in one of the states."""
    lines = slurm.run("squeue", "-h", "--me", f"--name={run}", f"--states={states}", "-o", fields)
    return lines.splitlines()


def say(line: str) -> None:
    """Print a line to standard error."""
    sys.stderr.write(f"SLURM: {line}\n")
    sys.stderr.flush()
