"""What is added to Snakemake's SLURM executor; which jobs go back into the queue."""

import asyncio
import signal
import time
from types import SimpleNamespace

import pytest
import snakemake_executor_plugin_slurm as plugin

from poshgrid.core.errors import PoshgridError
from poshgrid.models.training.signals import StoppedError
from poshgrid.planning import slurm

USR1, TERM = signal.SIGUSR1, signal.SIGTERM


@pytest.mark.parametrize(
    ("minutes", "lead"), [(720, 120), (20, 60), (5, 15), (0, 120), (None, 120)]
)
def test_the_lead_is_a_twentieth_of_the_time_and_two_minutes_at_most(minutes, lead):
    """Only a step is told, and a user's own signal stays."""
    asked = {"runtime": minutes, "step": "srun"}
    assert slurm.lead(asked) == f" --signal=USR1@{lead}"
    assert slurm.lead(asked | {"step": ""}) == ""
    assert slurm.lead(asked | {"slurm_extra": "--signal=USR1@9"}) == ""


@pytest.fixture
def extended(monkeypatch):
    """The plug-in's class, extended, and put back afterwards."""
    for name in ("sleep", "cancel"):
        monkeypatch.setattr(plugin.Executor, name, getattr(plugin.Executor, name))
    monkeypatch.setattr(plugin, "get_submit_command", lambda job, *_, **__: "sbatch")
    slurm.extend()
    before = signal.getsignal(signal.SIGINT)
    yield plugin.Executor
    signal.signal(signal.SIGINT, before)


def test_sleep_ends_with_the_run(extended):
    made = SimpleNamespace(run_uuid="run", wait=False, next_seconds_between_status_checks=100)
    began = time.monotonic()
    asyncio.run(extended.sleep(made))
    assert time.monotonic() - began < 5
    job = SimpleNamespace(resources={"runtime": 5, "step": "srun"})
    assert plugin.get_submit_command(job, {}) == "sbatch --signal=USR1@15"


@pytest.mark.parametrize("left", [False, True])
def test_after_an_interruption_nothing_is_submitted_and_what_stays_is_named(
    extended, capsys, monkeypatch, left
):
    queue, asked, done = ["17\n18\n", ""], [], []

    def run(command, *options):
        if command == "squeue":
            return queue.pop(0)
        asked.append((command, *options))
        return ""

    monkeypatch.setattr(slurm, "run", run)
    monkeypatch.setattr(slurm, "GONE_WITHIN", 0 if left else 60)
    pool = SimpleNamespace(shutdown=lambda **options: done.append(options))
    made = SimpleNamespace(
        run_uuid="run", _job_submission_executor=pool, shutdown=lambda: done.append("shutdown")
    )
    extended.cancel(made)
    ((command, *options),) = asked
    assert command == "scancel" and "--name=run" in options
    assert done == [{"cancel_futures": True}, "shutdown"]
    said = capsys.readouterr().err
    assert ("17, 18" in said) == left
    signal.raise_signal(signal.SIGINT)  # a second Ctrl-C changes nothing
    assert capsys.readouterr().err


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
