"""Signals: a cluster asks a job to end before it kills it (out of time, or preempted).

The job saves where it is and ends with one line and status 1, which Snakemake and SLURM take for
what it is: not done. One that is out of time on SLURM goes back into the queue first, so that it
costs no attempt (:mod:`poshgrid.planning.slurm`). A second signal changes nothing. Control-C ends
at once, with what the last checkpoint has.

What reaches this process depends on what started it. Under ``sbatch`` or ``srun`` it is enough to
be a task of a job step. A job of Snakemake's SLURM executor is not: ``sbatch --wrap`` starts
Snakemake, that ``srun``, that a second Snakemake, that ``bash``, and that ``poshgrid``. SLURM
(``proctrack/cgroup``) signals the tasks alone, and the task is the second Snakemake: on SIGTERM it
waits for the job, without a word to it, until SIGKILL comes; of SIGUSR1 it dies, and
``--signal=B:USR1@120`` kills the batch shell. So:

- Without more, a job that is out of time loses the steps since the last checkpoint, nothing else,
  and ``retries`` starts it again.
- To get the signal in time, the stage ``train`` must be the task. The executor leaves ``srun`` to a
  rule that has the resource ``mpi``, empty or not, as rule ``train`` has. The rule's command begins
  with ``{resources.step}`` (empty by default), and the profile has, below ``set-resources``,
  ``train``::

      step: "'srun --ntasks=1 --cpu-bind=none'"

  :mod:`poshgrid.planning.slurm` then adds ``--signal=USR1@SECONDS`` to the job; without B, the
  steps get the signal, not the batch shell.
"""

from __future__ import annotations

import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from poshgrid.core.errors import PoshgridError

ASKING = (signal.SIGTERM, signal.SIGUSR1)
"""SIGTERM: preemption, ``scancel``; SIGUSR1: what ``sbatch --signal`` sends before the end."""


class StoppedError(PoshgridError):
    """Training was asked to end, and has saved where it is.

    Attributes:
        out_of_time: the cluster says so; the job would go on if it had the time.
        steps: taken by this attempt.
    """

    def __init__(self, message: str, received: Iterable[int], steps: int) -> None:
        super().__init__(message)
        self.out_of_time = set(received) == {signal.SIGUSR1}
        self.steps = steps


@contextmanager
def told_to_end() -> Iterator[list[int]]:
    """Yield a list that is empty until the process is asked to end; then it holds the signals."""
    received: list[int] = []
    before = {
        number: signal.signal(number, lambda signum, _: received.append(signum))
        for number in ASKING
    }
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
