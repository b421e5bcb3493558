"""What the cluster did with a site's jobs, and how its results compare: lines of the log."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

_SUBMITTED = re.compile(r"has been submitted with SLURM jobid (\d+)")
_ENDED = re.compile(r"^JobId=(\d+) .*?\bJobState=(\w+)", re.MULTILINE)
_RESUMED = re.compile(r"resumed at step (\d+)")


@dataclass(frozen=True)
class Account:
    """A drill in numbers.

    Attributes:
        submitted: jobs that Snakemake gave to the cluster.
        training: those of them that train.
        retried: attempts that Snakemake made again.
        ended: state in which SLURM ended a job -> how often; a job that goes back into the queue
            is counted each time.
        resumed: the step at which the last attempt at training went on; ``None``: at none.
        compared: files that were held to those of the undisturbed run.
        differ: those of them that differ.
    """

    submitted: int
    training: int
    retried: int
    ended: dict[str, int]
    resumed: int | None
    compared: int = 0
    differ: int = 0

    @property
    def line(self) -> str:
        """The account in words."""
        ended = ", ".join(f"{count} {state}" for state, count in sorted(self.ended.items()))
        resumed = "" if self.resumed is None else f"; training resumed at step {self.resumed}"
        compared = f"; {self.differ} of {self.compared} files differ" if self.compared else ""
        return (
            f"{self.submitted} jobs submitted ({self.training} training), {self.retried} retried;"
            f" ended: {ended}{resumed}{compared}"
        )


def account(said: str, completed: Path, training: int, model_log: str) -> Account:
    """Count what happened to the jobs of a Snakemake.

    Args:
        said: the log of Snakemake.
        completed: the file in which SLURM writes a line for each job that ends (jobcomp/filetxt).
        training: training jobs that were submitted.
        model_log: what training said, in its last attempt.
    """
    mine = _SUBMITTED.findall(said)
    states = Counter(
        state for job, state in _ENDED.findall(completed.read_text("utf-8")) if job in mine
    )
    steps = _RESUMED.findall(model_log)
    return Account(
        submitted=len(mine),
        training=training,
        retried=said.count("Trying to restart job"),
        ended=dict(states),
        resumed=int(steps[-1]) if steps else None,
    )
