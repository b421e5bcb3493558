"""``poshgrid run`` hands its arguments to Snakemake; how a study is made is in test_wheel.py."""

from __future__ import annotations

import os
import sys

import pytest
from typer.testing import CliRunner

from poshgrid import cli
from poshgrid.errors import PoshgridError


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """Run ``poshgrid run`` in a folder of a study; return what it becomes."""
    (tmp_path / "Snakefile").write_text("")
    monkeypatch.chdir(tmp_path)
    became = []
    monkeypatch.setattr(os, "execve", lambda *given: became.append(given))

    def run(*arguments):
        answer = CliRunner().invoke(cli.app, ["run", *arguments])
        if answer.exception is not None:
            raise answer.exception
        return became.pop()

    return run


@pytest.mark.parametrize(
    ("given", "passed"),
    [
        ([], ["--cores", "all"]),
        (["exp1", "-n"], ["--cores", "all", "exp1", "-n"]),
        (["--config", "only=seed=42", "--", "exp1"],
         ["--cores", "all", "--config", "only=seed=42", "--", "exp1"]),
        (["--configfile", "config/tiny.yaml", "--conda-cleanup-pkgs"],
         ["--cores", "all", "--configfile", "config/tiny.yaml", "--conda-cleanup-pkgs"]),
        (["-c4"], ["-c4"]),
        (["-j", "2"], ["-j", "2"]),
        (["--cores=3"], ["--cores=3"]),
        (["--profile", "slurm", "--", "exp1"], ["--profile", "slurm", "--", "exp1"]),
    ],
)  # fmt: skip
def test_arguments_are_passed_as_they_are(ask, given, passed):
    program, words, environment = ask(*given)
    assert program == words[0] == sys.executable
    assert words[1:] == ["-m", "snakemake", *passed]
    # The `poshgrid` of jobs is the one beside this Python, whether its environment is active or not
    assert environment["PATH"].split(os.pathsep)[0] == os.path.dirname(sys.executable)  # noqa: PTH120


def test_a_folder_without_a_snakefile_is_refused(ask, tmp_path, monkeypatch):
    (tmp_path / "Snakefile").unlink()
    with pytest.raises(PoshgridError, match=r"no Snakefile; .*`poshgrid init FOLDER`"):
        ask("-n")
    assert ask("-s", "other")[1][-2:] == ["-s", "other"]
    (tmp_path / "workflow").mkdir()
    (tmp_path / "workflow/Snakefile").write_text("")
    assert ask("-n")[1][-1] == "-n"


def test_a_shell_completes_commands():
    asked = {"_POSHGRID_COMPLETE": "complete_bash", "COMP_WORDS": "poshgrid re", "COMP_CWORD": "1"}
    answer = CliRunner().invoke(cli.app, [], env=asked, prog_name="poshgrid")
    found = answer.stdout.split()
    assert {"ready", "results"} <= set(found)
    assert all(word.startswith("re") for word in found)
