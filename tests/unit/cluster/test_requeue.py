"""A job that is out of time goes back into the queue; one that is cancelled or stuck does not."""

from __future__ import annotations

import signal

import pytest

from poshgrid.cluster import slurm
from poshgrid.errors import PoshgridError
from poshgrid.training.signals import ToldToEndError

USR1, TERM = signal.SIGUSR1, signal.SIGTERM


@pytest.fixture
def asked(monkeypatch):
    """What SLURM was asked."""
    found = []
    monkeypatch.setenv("SLURM_JOB_ID", "17")
    monkeypatch.setattr(slurm, "run", lambda *words: found.append(words))
    return found


def test_out_of_time(asked):
    assert slurm.requeue(ToldToEndError("told", [USR1], 3))
    assert asked == [("scontrol", "requeue", "17")]


@pytest.mark.parametrize("told", [[TERM], [USR1, TERM], []])
def test_what_is_cancelled_or_preempted_is_left_to_slurm(asked, told):
    assert not slurm.requeue(ToldToEndError("told", told, 3))
    assert asked == []


def test_who_comes_no_further_fails_instead_of_going_on_for_ever(asked, caplog):
    assert not slurm.requeue(ToldToEndError("told", [USR1], 0))
    assert asked == []
    assert "took no step" in caplog.text


def test_outside_slurm(asked, monkeypatch):
    monkeypatch.delenv("SLURM_JOB_ID")
    assert not slurm.requeue(ToldToEndError("told", [USR1], 3))
    assert asked == []


def test_a_cluster_that_refuses(asked, monkeypatch, caplog):
    def refuse(*_):
        raise PoshgridError("scontrol: Requested operation is presently disabled")

    monkeypatch.setattr(slurm, "run", refuse)
    assert not slurm.requeue(ToldToEndError("told", [USR1], 3))
    assert "presently disabled" in caplog.text
    assert "slurm-requeue: true" in caplog.text
