"""Orphans: which jobs have no Snakemake, and that no others are cancelled."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from poshgrid.cluster import orphans
from poshgrid.commands import cluster  # noqa: F401 - adds the commands
from poshgrid.commands.base import app
from poshgrid.errors import PoshgridError

A, B, C = (f"{letter * 8}-0000-4000-8000-{letter * 12}" for letter in "abc")
HERE = platform.node()


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A working folder, and a SLURM whose queue is a file."""
    binaries = tmp_path / "bin"
    binaries.mkdir()
    scripts = {
        "squeue": f"cat {tmp_path}/queue",
        "scancel": f'echo "$@" >> {tmp_path}/cancelled; test ! -e {tmp_path}/refuse ||'
        " { echo 'scancel: error: Access denied' >&2; exit 1; }",
        "scontrol": f'case "$*" in *config*) echo "SlurmctldHost[0] = ctl1(10.0.0.1)";;'
        f" *) cat {tmp_path}/job;; esac",
    }
    for name, body in scripts.items():
        path = binaries / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{binaries}:/usr/bin:/bin")
    made = Site(tmp_path)
    made.queue()
    made.job("AllocNode:Sid=elsewhere:1")
    return made


class Site:
    def __init__(self, top):
        self.top, self.folder = top, top / "work"
        (self.folder / ".snakemake/log").mkdir(parents=True)

    def queue(self, *jobs):
        lines = []
        for number, run, *rest in jobs:
            state, folder = rest or ("RUNNING", self.folder)
            lines.append(f"{number}\t{run}\t{state}\tNone\t1:00\t{folder}\trule_train_wildcards_x")
        (self.top / "queue").write_text("".join(f"{line}\n" for line in lines))

    def job(self, text):
        (self.top / "job").write_text(f"JobId=1 {text} UserId=x\n")

    def log(self, name, run, host=HERE):
        path = self.folder / ".snakemake/log" / f"{name}.snakemake.log"
        said = f"SLURM run ID: {run}\n" if run else ""
        path.write_text(f"  Host: {host}\n{said}Job 1 submitted\n" if run else "\n")
        return path

    def life(self):
        return {run.id: run.life for run in orphans.runs(self.folder)}

    def command(self, *arguments, answer=None):
        given = ["orphans", "--directory", str(self.folder), *arguments]
        return CliRunner().invoke(app, given, input=answer)

    @property
    def cancelled(self):
        path = self.top / "cancelled"
        return path.read_text().split() if path.exists() else []


def test_a_run_lives_while_its_log_is_open(site):
    site.queue(("1", A), ("2", B), ("3", A))
    log = site.log("one", A)
    site.log("two", B)
    with log.open("a"):
        assert site.life() == {A: "alive", B: "dead"}
    assert site.life() == {A: "dead", B: "dead"}


def test_the_process_is_named(site):
    site.queue(("1", A))
    with site.log("one", A).open("a"):
        (run,) = orphans.runs(site.folder)
    assert f"process {os.getpid()} " in run.why


def test_a_run_of_another_host_is_unknown(site):
    site.queue(("1", A))
    site.log("one", A, host="login7")
    (run,) = orphans.runs(site.folder)
    assert run.life == "unknown"
    assert "login7" in run.why


@pytest.mark.parametrize(("node", "life"), [(HERE, "dead"), ("login7", "unknown"), ("", "unknown")])
def test_without_a_log_slurm_knows_the_host(site, node, life):
    site.queue(("1", A))
    site.log("quiet", None)
    site.job(f"AllocNode:Sid={node}:77" if node else "JobState=RUNNING")
    assert site.life() == {A: life}


def test_localhost_is_the_controllers(site, monkeypatch):
    site.queue(("1", A))
    site.log("quiet", None)
    site.job("AllocNode:Sid=localhost:77")
    monkeypatch.setattr(platform, "node", lambda: "ctl1.cluster")
    assert site.life() == {A: "dead"}
    monkeypatch.setattr(platform, "node", lambda: "login7")
    assert site.life() == {A: "unknown"}


def test_a_silent_log_that_is_open_may_be_any_run(site):
    site.queue(("1", A))
    site.job(f"AllocNode:Sid={HERE}:77")
    silent = site.log("quiet", None)
    with silent.open("a"):
        assert site.life() == {A: "unknown"}
    assert site.life() == {A: "dead"}


def test_an_open_log_of_one_run_says_nothing_of_another(site):
    site.queue(("1", A))
    site.log("quiet", None)
    site.job(f"AllocNode:Sid={HERE}:77")
    with site.log("other", B).open("a"):
        assert site.life() == {A: "dead"}


def test_where_all_logs_are_deleted_nothing_is_certain(site):
    site.queue(("1", A))
    site.job(f"AllocNode:Sid={HERE}:77")
    assert site.life() == {A: "unknown"}
    site.command("--cancel", "--yes")
    assert site.cancelled == []


def test_a_log_that_was_deleted_while_it_is_open_may_be_any_run(site):
    """Logs are cleared away while Snakemake works; a dry-run then leaves a silent one."""
    site.queue(("1", A))
    site.job(f"AllocNode:Sid={HERE}:77")
    log = site.log("one", A)
    with log.open("a"):
        log.unlink()
        site.log("dry", None)
        assert site.life() == {A: "unknown"}
    assert site.life() == {A: "dead"}


def test_a_log_that_cannot_be_looked_at_may_be_any_run(site):
    site.queue(("1", A))
    site.job(f"AllocNode:Sid={HERE}:77")
    site.log("quiet", None)
    (site.folder / ".snakemake/log/stale.log").symlink_to(site.top / "gone")
    (run,) = orphans.runs(site.folder)
    assert run.life == "unknown"
    assert "stale.log" in run.why


@pytest.mark.parametrize("quiet", [True, False])
def test_a_process_of_ours_that_does_not_tell_may_be_any_run(site, monkeypatch, quiet):
    """Another group (newgrp, sg): Linux does not let its own user look into it."""
    site.queue(("1", A))
    site.job(f"AllocNode:Sid={HERE}:77")
    site.log("one", None if quiet else A)
    processes = site.top / "proc"
    descriptors = processes / "7" / "fd"
    (processes / "self" / "fd").mkdir(parents=True)
    descriptors.mkdir(parents=True)
    monkeypatch.setattr(orphans, "_PROCESSES", processes)
    assert site.life() == {A: "dead"}
    original = Path.iterdir

    def iterdir(path):
        if path == descriptors:
            raise PermissionError
        return original(path)

    monkeypatch.setattr(Path, "iterdir", iterdir)
    (run,) = orphans.runs(site.folder)
    assert run.life == "unknown"
    assert "process 7" in run.why
    site.command("--cancel", "--yes")
    assert site.cancelled == []
    monkeypatch.setattr(os, "getuid", lambda: processes.stat().st_uid + 1)  # somebody else's
    assert site.life() == {A: "dead"}


def test_a_descriptor_that_closes_meanwhile_hides_no_other(site, monkeypatch):
    site.queue(("1", A))
    log = site.log("one", A)
    descriptors = site.top / "proc" / "7" / "fd"
    (site.top / "proc" / "self" / "fd").mkdir(parents=True)
    descriptors.mkdir(parents=True)
    for number in range(20):
        (descriptors / str(number)).symlink_to(log if number == 10 else site.top / "closed")
    monkeypatch.setattr(orphans, "_PROCESSES", site.top / "proc")
    (run,) = orphans.runs(site.folder)
    assert (run.life, run.why) == ("alive", "Snakemake is process 7 of this host")


@pytest.mark.skipif(os.getuid() != 0, reason="only root starts processes of other groups")
def test_linux_hides_a_process_of_another_group():
    """What Linux itself tells a user of a process of the same user, and of another group."""
    user, group = 65534, 65534
    folder = Path(tempfile.mkdtemp())  # pytest's own is closed to others
    folder.chmod(0o755)
    log = folder / "one.log"
    log.touch()
    with log.open() as stream:
        holders = [
            subprocess.Popen(["sleep", "60"], stdin=stream, user=user, group=each, extra_groups=[])
            for each in (group, group - 1)
        ]
    reading, writing = os.pipe()
    try:
        child = os.fork()
        if not child:
            os.setgroups([])
            os.setgid(group)
            os.setuid(user)
            os.write(writing, repr(orphans.holders([log])).encode())
            os._exit(0)
        os.waitpid(child, 0)
        os.close(writing)
        assert os.read(reading, 1_000).decode() == repr(([holders[0].pid], [holders[1].pid]))
    finally:
        os.close(reading)
        for each in holders:
            each.kill()
            each.wait()
        shutil.rmtree(folder)


def test_only_this_folders_runs(site):
    other = site.top / "other"
    other.mkdir()
    link = site.top / "link"
    link.symlink_to(site.folder)
    site.queue(
        ("1", A, "RUNNING", other),
        ("2", "my_own_job"),
        ("3", f"{B}x"),
        ("4", f"prefix_{B}", "PENDING", link),
        ("5", C, "COMPLETING", site.folder),
    )
    assert list(site.life()) == [f"prefix_{B}"]


def test_only_dead_runs_are_cancelled(site):
    site.queue(("1", A), ("2", B), ("3", B), ("4", C))
    site.log("two", B)
    site.log("three", C, host="login7")
    with site.log("one", A).open("a"):
        result = site.command("--cancel", "--yes")
    assert result.exit_code == 0, result.output
    assert site.cancelled == ["2", "3"]
    assert "cancelled 2 jobs" in result.output


@pytest.mark.parametrize(("answer", "cancelled"), [("n\n", []), ("\n", []), ("y\n", ["1"])])
def test_it_asks(site, answer, cancelled):
    site.queue(("1", A))
    site.log("one", A)
    result = site.command("--cancel", answer=answer)
    assert "cancel 1 job of 1 run?" in result.output
    assert result.exit_code == 0
    assert site.cancelled == cancelled
    assert ("nothing cancelled" in result.output) is not bool(cancelled)


def test_listing_cancels_nothing(site):
    site.queue(("1", A))
    site.log("one", A)
    result = site.command("--yes")
    assert "dead" in result.output
    assert "rule_train_wildcards_x" in result.output
    assert site.cancelled == []


# Snakemake's own words: of a group all jobs, each again where the Snakemake inside starts it, and
# without its cell where it fails.
GROUP_LOG = """\
[Sun Nov 22 03:30:45 2026] Group job together (jobs in lexicogr. order):

    [Sun Nov 22 03:30:45 2026]
    rule together:
        output: results/together/baby/20K/0.json
        wildcards: condition=baby, size=20K, part=0
        resources: runtime=0
    [Sun Nov 22 03:30:45 2026]
    rule train:
        wildcards: condition=baby, size=20K, seed=42
    rule train:
        wildcards: condition=baby, size=20K, seed=53
localrule train:
    wildcards: condition=baby, size=20K, seed=53
Error in rule train:
        rule together:
"""


def job_log(site, place, text, at=None):
    path = site.folder / ".snakemake/slurm_logs" / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    if at is not None:
        os.utime(path, (at, at))
    return path


def test_a_group_is_told_by_its_runs(site):
    """Of a group SLURM knows the rules; its log knows whose they are."""
    site.queue(("7", A), ("8", A), ("9", A))
    job_log(site, "group_together_together_train/7.log", GROUP_LOG)
    job_log(site, "rule_score/baby_20K_42/8.log", "rule score:\n    wildcards: size=20K, seed=42\n")
    made = [orphans.made_by(site.folder, job) for run in orphans.runs(site.folder)
            for job in run.jobs]  # fmt: skip
    assert made == [
        ["together baby/20K/0", "train baby/20K/42", "train baby/20K/53"],
        ["score 20K/42"],
        ["rule_train_wildcards_x"],  # it waits, and has no log
    ]
    lines = site.command().output.splitlines()
    assert lines[1].endswith("1:00 together baby/20K/0")
    assert [line.strip() for line in lines[2:4]] == ["train baby/20K/42", "train baby/20K/53"]
    assert lines[4].split()[0] == "8"


def test_the_log_of_a_number_that_came_again(site):
    job_log(site, "rule_mix/7.log", "rule mix:\n", at=1_000)
    newer = job_log(site, "group_cell_condition_tokens/7.log", GROUP_LOG, at=2_000)
    job_log(site, "rule_train/7/77.log", "rule train:\n")  # a cell of that name is no job
    assert orphans.find(site.folder, "7") == newer
    assert orphans.find(site.folder, "70") is None
    newer.unlink()
    assert orphans.listed(orphans.find(site.folder, "7")) == ["mix"]


def test_an_unknown_run_is_cancelled_by_name_alone(site):
    site.queue(("1", A), ("2", B))
    site.log("one", A, host="login7")
    site.log("two", B, host="login7")
    assert "nothing to cancel" in site.command("--cancel", "--yes").output
    assert site.cancelled == []
    site.command("--cancel", "--yes", "--run", B)
    assert site.cancelled == ["2"]


def test_a_living_run_is_never_cancelled(site):
    site.queue(("1", A))
    with site.log("one", A).open("a"):
        result = site.command("--cancel", "--yes", "--run", A)
    assert isinstance(result.exception, PoshgridError)
    assert "Ctrl-C" in str(result.exception)
    assert site.cancelled == []


def test_a_run_without_jobs(site):
    site.queue(("1", A))
    with pytest.raises(PoshgridError, match=f"no jobs of '{B}'.*{A}"):
        orphans.chosen(orphans.runs(site.folder), B)


def test_scancel_that_fails_is_told(site):
    site.queue(("1", A))
    (site.top / "refuse").touch()
    site.log("one", A)
    result = site.command("--cancel", "--yes")
    assert result.exit_code == 1
    assert "cancelled 0 jobs" in result.output
    assert "Access denied" in result.output


def test_many_jobs_are_cancelled_in_several_calls(site, monkeypatch):
    monkeypatch.setattr(orphans, "AT_ONCE", 2)
    site.queue(*((str(n), A) for n in range(1, 6)))
    site.log("one", A)
    site.command("--cancel", "--yes")
    lines = (site.top / "cancelled").read_text().splitlines()
    assert lines == ["1 2", "3 4", "5"]


def test_no_jobs(site):
    result = site.command()
    assert result.exit_code == 0
    assert "no jobs" in result.output
    assert "locked" not in result.output
    (site.folder / ".snakemake/locks").mkdir()
    (site.folder / ".snakemake/locks/0.input.lock").touch()
    assert "snakemake --unlock" in site.command().output


def test_without_slurm_one_line(site, monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(PoshgridError, match=r"^squeue: not found; [^\n]*$"):
        orphans.runs(site.folder)
