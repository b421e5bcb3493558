"""What is added to Snakemake's SLURM executor: stuck jobs, the end of a run, the signal's lead."""

from __future__ import annotations

import asyncio
import signal
import time
from types import SimpleNamespace

import pytest
import snakemake_executor_plugin_slurm as plugin

from poshgrid.cluster import executor, slurm
from poshgrid.errors import PoshgridError


@pytest.fixture
def queue(monkeypatch):
    """SLURM's answers: what `squeue` prints, in turn, and what else was asked."""
    answers, asked = [], []

    def run(*words):
        if words[0] != "squeue":
            asked.append(words)
            return ""
        answer = answers.pop(0) if answers else ""
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(slurm, "run", run)
    return SimpleNamespace(answers=answers, asked=asked)


@pytest.mark.parametrize(
    ("minutes", "lead"), [(720, 120), (40, 120), (20, 60), (5, 15), (0, 120), (None, 120)]
)
def test_the_lead_is_a_twentieth_of_the_time_and_two_minutes_at_most(minutes, lead):
    assert executor.lead({"runtime": minutes, "step": "srun"}) == f" --signal=USR1@{lead}"


@pytest.mark.parametrize("more", [{"step": ""}, {"step": "srun", "slurm_extra": "--signal=USR1@9"}])
def test_only_a_step_is_told_and_a_users_own_signal_stays(more):
    assert executor.lead({"runtime": 60, **more}) == ""


@pytest.mark.parametrize(
    ("reason", "never"),
    [
        ("PartitionTimeLimit", True), ("QOSMaxMemoryPerJob", True), ("BadConstraints", True),
        ("JobHeldUser", True), ("Resources", False), ("Priority", False), ("None", False),
        ("QOSMaxJobsPerUserLimit", False), ("Dependency", False), ("BeginTime", False),
    ],
)  # fmt: skip
def test_a_job_that_can_never_start_is_told_from_one_that_waits_its_turn(queue, reason, never):
    queue.answers.append(f"17\t{reason}\trule_train_wildcards_a\n")
    found = executor.stuck("run")
    assert bool(found) == never
    if never:
        assert all(word in found["17"] for word in (reason, "rule_train_wildcards_a", "scancel 17"))


def test_a_busy_controller_is_asked_again(queue):
    queue.answers.append(PoshgridError("squeue: no answer"))
    assert executor.stuck("run") == {}


@pytest.fixture
def extended(monkeypatch):
    """The plug-in's class, extended, and put back afterwards."""
    for name in ("sleep", "cancel"):
        monkeypatch.setattr(plugin.Executor, name, getattr(plugin.Executor, name))
    monkeypatch.setattr(plugin, "get_submit_command", lambda job, *_, **__: "sbatch")
    executor.extend()
    before = signal.getsignal(signal.SIGINT)
    yield plugin.Executor
    signal.signal(signal.SIGINT, before)


def test_a_stuck_job_is_named_once_and_sleep_ends_with_the_run(queue, extended, capsys):
    queue.answers += ["17\tPartitionTimeLimit\trule_train\n"] * 2
    made = SimpleNamespace(run_uuid="run", wait=True, next_seconds_between_status_checks=0)
    for _ in range(2):
        asyncio.run(extended.sleep(made))
    assert capsys.readouterr().err.count("job 17") == 1
    made.next_seconds_between_status_checks, made.wait = 100, False
    began = time.monotonic()
    asyncio.run(extended.sleep(made))
    assert time.monotonic() - began < 5
    job = SimpleNamespace(resources={"runtime": 5, "step": "srun"})
    assert plugin.get_submit_command(job, {}) == "sbatch --signal=USR1@15"


@pytest.mark.parametrize("left", [False, True])
def test_after_an_interruption_nothing_is_submitted_and_what_stays_is_named(
    queue, extended, capsys, monkeypatch, left
):
    monkeypatch.setattr(executor, "GONE_WITHIN", 0 if left else 60)
    queue.answers += ["17\n18\n", ""]
    done = []
    pool = SimpleNamespace(shutdown=lambda **given: done.append(given))
    made = SimpleNamespace(
        run_uuid="run", _job_submission_executor=pool, shutdown=lambda: done.append("shutdown")
    )
    extended.cancel(made)
    assert [words[0] for words in queue.asked] == ["scancel"]
    assert "--name=run" in queue.asked[0]
    assert done == [{"cancel_futures": True}, "shutdown"]
    said = capsys.readouterr().err
    assert ("17, 18" in said) == left
    signal.raise_signal(signal.SIGINT)  # a second Ctrl-C changes nothing
    assert capsys.readouterr().err
