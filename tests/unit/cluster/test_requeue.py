"""A job that is out of time goes back into the queue; one that is cancelled or stuck does not."""

from __future__ import annotations

import signal

import pytest

from poshgrid.cluster import slurm
from poshgrid.errors import PoshgridError
from poshgrid.training.signals import StoppedError

USR1, TERM = signal.SIGUSR1, signal.SIGTERM


@pytest.fixture
def asked(monkeypatch):
    """What SLURM was asked."""
    found = []
    monkeypatch.setenv("SLURM_JOB_ID", "17")
    monkeypatch.setattr(slurm, "run", lambda *words: found.append(words))
    return found


@pytest.mark.parametrize(
    ("told", "steps", "requeued"),
    [([USR1], 3, True), ([TERM], 3, False), ([USR1, TERM], 3, False), ([], 3, False),
     ([USR1], 0, False)],  # who comes no further would go on for ever
)  # fmt: skip
def test_what_is_out_of_time_alone_goes_back(asked, monkeypatch, told, steps, requeued):
    assert slurm.requeue(StoppedError("told", told, steps)) == requeued
    assert asked == [("scontrol", "requeue", "17")] * requeued
    monkeypatch.delenv("SLURM_JOB_ID")
    assert not slurm.requeue(StoppedError("told", told, steps))


def test_a_cluster_that_refuses(asked, monkeypatch, caplog):
    def refuse(*_):
        raise PoshgridError("scontrol: Requested operation is presently disabled")

    monkeypatch.setattr(slurm, "run", refuse)
    assert not slurm.requeue(StoppedError("told", [USR1], 3))
    assert "presently disabled" in caplog.text
    assert "slurm-requeue: true" in caplog.text
