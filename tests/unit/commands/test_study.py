"""``poshgrid run`` hands its arguments to Snakemake, and how the command line ends."""

from __future__ import annotations

import errno
import importlib.util
import os
import shutil
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from poshgrid import cli
from poshgrid.errors import PoshgridError


@pytest.fixture
def ended(monkeypatch, capsys, tmp_path):
    """Run the command line in an empty folder: returns its status and what it tells."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("POSHGRID_DEBUG", raising=False)

    def run(*arguments, app=cli.app):
        monkeypatch.setattr(sys, "argv", ["poshgrid", *arguments])
        monkeypatch.setattr(cli, "app", app)
        with pytest.raises(SystemExit) as end:
            cli.main()
        return end.value.code, capsys.readouterr().err

    return run


def test_arguments_are_passed_as_they_are(monkeypatch):
    became = []
    monkeypatch.setattr(os, "execve", lambda *words: became.append(words))
    arguments = ["-c4", "--config", "only=seed=42", "--", "exp1"]
    CliRunner().invoke(cli.app, ["run", *arguments], catch_exceptions=False)
    ((program, words, environment),) = became
    assert program == words[0] == sys.executable
    assert words[1:] == ["-m", "poshgrid.planning.launch", *arguments]
    # The `poshgrid` of jobs is the one beside this Python, whether its environment is active or not
    assert environment["PATH"].split(os.pathsep)[0] == os.path.dirname(sys.executable)  # noqa: PTH120


def test_an_empty_name_is_not_the_working_folder(ended, tmp_path):
    status, line = ended("init", "")
    assert status == 1 and line.startswith("error: an empty argument")
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_made_whole_is_not_there(tmp_path, monkeypatch):
    """A disk that is full after some files: the place is named, and nothing stays."""
    folder = tmp_path / "study"
    copy, left = shutil.copyfile, [3]

    def fills(source, to):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device", str(source), None, str(to))
        return copy(source, to)

    monkeypatch.setattr(shutil, "copyfile", fills)
    with pytest.raises(PoshgridError, match=f"^{folder}.*: cannot write: No space left"):
        CliRunner().invoke(cli.app, ["init", str(folder)], catch_exceptions=False)
    assert list(tmp_path.iterdir()) == []
    folder.mkdir()
    with pytest.raises(PoshgridError, match=f"^{folder}: there already"):
        CliRunner().invoke(cli.app, ["init", str(folder)], catch_exceptions=False)


@pytest.mark.parametrize("does", ["{}['x']", "__import__('sys').exit(0)"])
def test_a_plug_in_that_fails_is_named_with_its_line(tmp_path, ended, does):
    path = Path("plugins/mine.py")
    path.parent.mkdir()
    path.write_text(f"def load():\n    return {does}\n")
    spec = importlib.util.spec_from_file_location("mine", tmp_path / path)
    mine = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(mine)
    status, line = ended("stage", app=lambda args: mine.load())
    assert status == 1 and line.startswith(f"error: {path}: line 2: ")


def test_an_interruption_is_no_traceback(ended):
    def interrupted(args):
        raise KeyboardInterrupt

    assert ended(app=interrupted) == (130, "")
