"""``poshgrid run``: how it ends after Ctrl-C, and arguments that are refused in one line."""

import logging
import os
import signal
import sys
from pathlib import Path

import pytest
from snakemake import cli
from snakemake.scheduling.job_scheduler import JobScheduler

from poshgrid.core.errors import PoshgridError
from poshgrid.planning import launch
from tests.cases import read_cases

CASES = read_cases(__file__, "launch")


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """Run it in a folder with a Snakefile; return its status and the last line of its errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(JobScheduler, "exit_gracefully", JobScheduler.exit_gracefully)  # put back
    (tmp_path / "Snakefile").touch()
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["poshgrid", *words])
        with pytest.raises(SystemExit) as end:
            launch.main()
        run.said.append(capsys.readouterr().err)
        return end.value.code, "".join(run.said[-1].splitlines()[-1:])

    run.said = []
    yield run
    signal.signal(signal.SIGINT, handler)
    logging.disable(logging.NOTSET)


def test_after_ctrl_c_one_line_says_that_the_same_command_goes_on(run, monkeypatch, caplog):
    def interrupted(args, parser):
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)  # a second one changes nothing
        logging.getLogger("snakemake").error("Error in rule train")
        return False

    monkeypatch.setattr(cli, "args_to_api", interrupted)
    assert run("--cores", "1") == (130, "stopped; the same command goes on")
    assert "Error in rule" not in caplog.text
    monkeypatch.setattr(cli, "args_to_api", lambda args, parser: False)
    assert run("--cores", "1")[0] == 1


@pytest.mark.parametrize("leads", [True, False])
def test_sigterm_is_ctrl_c_for_the_whole_group_of_processes(run, monkeypatch, leads):
    """In a group of another process, which may have more in it, Snakemake waits for its jobs."""
    sent, waited = [], []
    monkeypatch.setattr(JobScheduler, "exit_gracefully", lambda *_: waited.append(True))
    monkeypatch.setattr(os, "getpgrp", lambda: os.getpid() if leads else 1)
    monkeypatch.setattr(os, "killpg", lambda *words: sent.append(words))
    monkeypatch.setattr(cli, "args_to_api", lambda *_: JobScheduler.exit_gracefully(None))
    run("--cores", "1")
    assert (sent, waited) == (([(0, signal.SIGINT)], []) if leads else ([], [True]))


def test_a_misspelt_profile_is_named(run, tmp_path):
    (tmp_path / "profiles/slurm").mkdir(parents=True)
    (tmp_path / "profiles/slurm/config.yaml").touch()
    status, line = run("--profile", "slrum")
    assert status == 1 and "'slrum'" in line and "'slurm'" in line


def test_the_last_lines_are_a_failure_that_no_retry_ended_and_no_command_is_shown(run, tmp_path):
    text = "rule all:\n    input: 'a', 'b'\n"
    for name, priority in (("a", 1), ("b", 0)):  # so that `a` runs first
        text += (
            f"rule {name}_:\n    output: '{name}'\n    log: '{name}.log'\n"
            f"    priority: {priority}\n"
            f"    shell: 'echo error: {name} > {{log}}; echo $((40 + 2)) > /dev/null; exit 1'\n"
        )
    text = text.replace("echo error: a", "test -e again && touch a && exit; touch again; echo")
    (tmp_path / "Snakefile").write_text(text)
    assert run("--cores", "1", "--keep-going", "--retries", "1") == (1, "error: b")
    *_, job, error = run.said[-1].splitlines()
    assert ("b_" in job, "b.log" in job, error) == (True, True, "error: b")
    assert "40 + 2" not in run.said[-1]


def test_a_rule_without_a_log_shows_its_command(run, tmp_path):
    (tmp_path / "Snakefile").write_text(
        "rule all:\n    output: 'a'\n    shell: 'exit $((3 + 4))'\n"
    )
    assert run("--cores", "1")[0] == 1
    assert "3 + 4" in run.said[-1]


def test_a_folder_without_a_snakefile_is_refused(run):
    Path("Snakefile").unlink()
    status, line = run("--cores", "1")
    assert status == 1 and "poshgrid init" in line


@pytest.mark.parametrize(
    ("words", "files", "targets"),
    CASES["a_target_that_is_a_configuration_is_one"],
)
def test_a_target_that_is_a_configuration_is_one(tmp_path, monkeypatch, words, files, targets):
    """Without any, that of a profile or the study of this folder is taken."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.yaml", "b.yaml", "study.yaml"):
        Path(name).write_text("{data: d}")
    Path("mine").mkdir()
    Path("mine/config.yaml").write_text("configfile: [b.yaml]")
    _, args, _ = launch.parsed(words)
    assert ([str(file) for file in args.configfile], args.targets) == (files, targets)


@pytest.mark.parametrize("words", [["-c4"], ["-j4"], ["--executor", "slurm", "-j4"], []])
def test_a_run_on_this_machine_takes_all_cores(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    _, args, _ = launch.parsed(words)
    expected = {"-c4": (4, None), "-j4": (None, 4), "--executor": (None, 4)}
    cores = len(os.sched_getaffinity(0))
    assert (args.cores, args.jobs) == (expected[words[0]] if words else (cores, None))


def test_a_program_in_a_configuration_is_refused_before_it_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text("__use_yte__: true\n")
    with pytest.raises(PoshgridError, match="__use_yte__"):
        launch.parsed(["-n", "a.yaml"])
