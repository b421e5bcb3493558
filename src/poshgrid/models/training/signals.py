"""Signals: before a cluster kills a job (out of time, or preempted), it sends a signal.

On a signal, the job saves a checkpoint and ends with one line and status 1, so that Snakemake and
SLURM know that it is not done. On SLURM, a job that is out of time is queued again first, so that
this costs no attempt (:mod:`poshgrid.planning.slurm`). A second signal changes nothing. Control-C
ends the job immediately; the last checkpoint stays.

SLURM (``proctrack/cgroup``) signals only the tasks of a job step. A process that ``sbatch`` or
``srun`` starts as a task gets the signal. A job of Snakemake's SLURM executor does not, because its
processes are started like this::

    sbatch → Snakemake → srun → Snakemake → bash → poshgrid

The task is the second Snakemake:

- On SIGTERM it waits for poshgrid, does not forward the signal, and is killed by SIGKILL later.
- SIGUSR1 kills it. ``--signal=B:USR1@120`` kills the batch shell.

So there are two ways to run on SLURM:

- By default, a job that is out of time loses only the steps since the last checkpoint, and
  ``retries`` starts it again.
- To get the signal in time, the stage ``train`` must be the task. If a rule has the resource
  ``mpi``, empty or not, the executor does not call ``srun``; rule ``train`` has it. The rule's
  command begins with ``{resources.step}`` (empty by default). Set it in the profile, below
  ``set-resources``, ``train``::

      step: "'srun --ntasks=1 --cpu-bind=none'"

  Then :mod:`poshgrid.planning.slurm` adds ``--signal=USR1@SECONDS`` to the job: without B, SLURM
  signals the steps, not the batch shell.
"""

from __future__ import annotations

import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from poshgrid.core.errors import PoshgridError

CAUGHT = (signal.SIGTERM, signal.SIGUSR1)
"""SIGTERM: preemption or ``scancel``. SIGUSR1: ``sbatch --signal``, before the time is over."""


class StoppedError(PoshgridError):
    """A signal has stopped training, and a checkpoint is saved.

    Attributes:
        out_of_time: the only reason is that the job's time is over.
        steps: number of steps of this attempt.
    """

    def __init__(self, message: str, received: Iterable[int], steps: int) -> None:
        super().__init__(message)
        self.out_of_time = set(received) == {signal.SIGUSR1}
        self.steps = steps


@contextmanager
def collect() -> Iterator[list[int]]:
    """Yield a list to which each signal that arrives inside the block is added."""
    received: list[int] = []
    before = {
        number: signal.signal(number, lambda signum, _: received.append(signum))
        for number in CAUGHT
    }
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
