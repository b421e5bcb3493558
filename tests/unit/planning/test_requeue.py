"""A job that is out of time goes back into the queue; one that is cancelled or stuck does not."""

import signal

import pytest

from poshgrid.core.errors import PoshgridError
from poshgrid.models.training.signals import StoppedError
from poshgrid.planning import slurm

USR1, TERM = signal.SIGUSR1, signal.SIGTERM


@pytest.fixture
def asked(monkeypatch):
    """What SLURM was asked."""
    commands = []
    monkeypatch.setenv("SLURM_JOB_ID", "17")
    monkeypatch.setattr(slurm, "run", lambda *words: commands.append(words))
    return commands


@pytest.mark.parametrize(
    ("signals", "steps", "requeued"),
    [([USR1], 3, True), ([TERM], 3, False), ([USR1, TERM], 3, False), ([], 3, False),
     ([USR1], 0, False)],  # who comes no further would go on for ever
)  # fmt: skip
def test_what_is_out_of_time_alone_goes_back(asked, monkeypatch, signals, steps, requeued):
    assert slurm.requeue(StoppedError("told", signals, steps)) == requeued
    assert asked == [("scontrol", "requeue", "17")] * requeued
    monkeypatch.delenv("SLURM_JOB_ID")
    assert not slurm.requeue(StoppedError("told", signals, steps))


def test_a_cluster_that_refuses(asked, monkeypatch, caplog):
    def refuse(*_):
        raise PoshgridError("scontrol: Requested operation is presently disabled")

    monkeypatch.setattr(slurm, "run", refuse)
    assert not slurm.requeue(StoppedError("told", [USR1], 3))
    assert "presently disabled" in caplog.text
    assert "slurm-requeue: true" in caplog.text
