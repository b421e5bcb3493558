"""``poshgrid run`` hands its arguments to Snakemake; how a study is made is in test_wheel.py."""

from __future__ import annotations

import errno
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from poshgrid import cli
from poshgrid.errors import PoshgridError, of_system


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
        (["--config", "only=seed=42", "--", "exp1"],
         ["--cores", "all", "--config", "only=seed=42", "--", "exp1"]),
        (["--configfile", "config/tiny.yaml", "--conda-cleanup-pkgs"],
         ["--cores", "all", "--configfile", "config/tiny.yaml", "--conda-cleanup-pkgs"]),
        (["-c4"], ["-c4"]),
        (["--profile", "slurm", "--", "exp1"], ["--profile", "slurm", "--", "exp1"]),
    ],
)  # fmt: skip
def test_arguments_are_passed_as_they_are(ask, given, passed):
    Path("config").mkdir()
    Path("config/tiny.yaml").touch()
    program, words, environment = ask(*given)
    assert program == words[0] == sys.executable
    assert words[1:] == ["-m", "poshgrid.grid.launch", *passed]
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


def test_an_empty_name_is_not_the_working_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["poshgrid", "init", ""])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 1
    assert capsys.readouterr().err.startswith("error: an empty argument; set the shell's variable")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("there", [False, True])
def test_what_cannot_be_made_whole_is_not_there(tmp_path, monkeypatch, there):
    """A disk that is full after some files: the place is named, and nothing stays."""
    folder = tmp_path / "a/study"
    if there:
        (folder / "config").mkdir(parents=True)
        (folder / "config/mine.txt").write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    copy, left = shutil.copyfile, [3]

    def fills(source, to):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device", str(source), None, str(to))
        return copy(source, to)

    monkeypatch.setattr(shutil, "copyfile", fills)
    monkeypatch.setattr(sys, "argv", ["poshgrid", "init", str(folder)])
    with pytest.raises(OSError, match="No space left") as error:
        CliRunner().invoke(cli.app, ["init", str(folder)], catch_exceptions=False)
    assert of_system(error.value).startswith(f"{folder}/")
    assert "package" not in of_system(error.value)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("does", ["{}['x']", "__import__('sys').exit(0)"])
def test_a_plug_in_that_fails_is_named_with_its_line(tmp_path, monkeypatch, capsys, does):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins/mine.py").write_text(f"def load():\n    return {does}\n")
    spec = importlib.util.spec_from_file_location("mine", tmp_path / "plugins/mine.py")
    mine = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(mine)
    monkeypatch.setattr(cli, "app", lambda args: mine.load())
    monkeypatch.setattr(sys, "argv", ["poshgrid", "items"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 1
    assert capsys.readouterr().err.startswith("error: plugins/mine.py: line 2: ")


def test_a_terminal_without_our_signs_gets_others(tmp_path):
    words = [sys.executable, "-c", "import sys; from poshgrid import cli; "
             "cli.app = lambda args: print('a \u00b7 b'); cli.main()"]  # fmt: skip
    environment = os.environ | {"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    ended = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "a \\xb7 b\n", "")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--configfile", "config/nope.yaml", "-n"], "config/nope.yaml: "),
        (["-n", "--configfile=config/nope.yaml"], "config/nope.yaml: "),
        (["--config", "only=seed=42", "exp1"], "exp1: "),
        (["config/tiny.yaml", "-n"], "config/tiny.yaml: "),
        (["--target", "exp2"], "--target: "),
        (["-n", "--target=exp2"], "--target=exp2: "),
    ],
)
def test_what_snakemake_would_not_explain_is_one_line(tmp_path, monkeypatch, words, said):
    (tmp_path / "Snakefile").touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PoshgridError, match=f"^{said}"):
        CliRunner().invoke(cli.app, ["run", *words], catch_exceptions=False)
