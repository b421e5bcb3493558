"""The account of a drill, counted by hand from made-up logs. Needs no SLURM."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.slurm.ledger import account

SAID = """\
Job 3 has been submitted with SLURM jobid 11 (log: a/.snakemake/slurm_logs/rule_train/x/11.log).
Trying to restart job 3.
Job 3 has been submitted with SLURM jobid 13 (log: a/.snakemake/slurm_logs/rule_train/x/13.log).
Job 4 has been submitted with SLURM jobid 14 (log: a/.snakemake/slurm_logs/rule_score/x/14.log).
"""
COMPLETED = """\
JobId=11 UserId=root(0) Name=a JobState=TIMEOUT Partition=main
JobId=12 UserId=root(0) Name=b JobState=FAILED Partition=main
JobId=13 UserId=root(0) Name=a JobState=PREEMPTED Partition=main
JobId=13 UserId=root(0) Name=a JobState=COMPLETED Partition=main
JobId=14 UserId=root(0) Name=a JobState=COMPLETED Partition=main
"""


def test_jobs_of_other_runs_do_not_count(tmp_path: Path) -> None:
    completed = tmp_path / "completed.txt"
    completed.write_text(COMPLETED)
    told = account(SAID, completed, 2, "resumed at step 100\nresumed at step 250\n")
    assert told.submitted == 3
    assert told.ended == {"TIMEOUT": 1, "PREEMPTED": 1, "COMPLETED": 2}
    assert replace(told, compared=9, differ=1).line == (
        "3 jobs submitted (2 training), 1 retried; ended: 2 COMPLETED, 1 PREEMPTED, 1 TIMEOUT;"
        " training resumed at step 250; 1 of 9 files differ"
    )


def test_nothing_resumed(tmp_path: Path) -> None:
    completed = tmp_path / "completed.txt"
    completed.write_text("")
    assert account("", completed, 0, "step 100 of 1500").line == (
        "0 jobs submitted (0 training), 0 retried; ended: "
    )
