"""A job of SLURM that is out of time, and has saved, goes back into the queue.

Snakemake counts a job that ends early as an attempt that failed: a training of many time limits
would need as many retries. A job that puts itself back keeps its number, and Snakemake waits for it
as for one that was preempted. Only one that has come further does so: a limit that is too short
for a single step fails, as ever.
"""

from __future__ import annotations

import os

from poshgrid import logs
from poshgrid.cluster import slurm
from poshgrid.errors import PoshgridError
from poshgrid.training.signals import ToldToEndError

log = logs.get(__name__)


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
        slurm.run("scontrol", "requeue", job)
    except PoshgridError as error:
        log.warning(
            "job %s cannot go back into the queue (%s); this costs an attempt: "
            "`slurm-requeue: true` in the profile", job, error,
        )  # fmt: skip
        return False
    log.info("job %s is out of time, has saved, and is back in the queue", job)
    return True
