"""``poshgrid run`` hands its arguments to Snakemake, and how the command line ends."""

import os
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from poshgrid import cli
from poshgrid.config import Source, specs
from tests import jobs
from tests.shipped import script


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
    assert words[1:] == ["-P", "-m", "poshgrid.planning.launch", *arguments]
    # The `poshgrid` of jobs is the one beside this Python, whether its environment is active or not
    assert environment["PATH"].split(os.pathsep)[0] == os.path.dirname(sys.executable)  # noqa: PTH120


def test_a_broken_corpus_file_is_one_line_and_leaves_nothing(tmp_path, ended):
    (tmp_path / "a.txt").write_bytes("Café crème.".encode("latin-1"))
    spec = specs.SourceSpec(source=Source(name="mine", reader="text", path="a.txt"))
    results = tmp_path / "results"
    status, error = ended("stage", "read", jobs.text(results / "it", spec, data=tmp_path))
    (line,) = [line for line in error.splitlines() if line.startswith("error:")]
    assert status == 1 and "a.txt: line 1 " in line and "Traceback" not in error
    assert [path for path in results.rglob("*") if path.is_file()] == [], "half-written"


def test_a_plug_in_that_fails_is_named_with_its_line(tmp_path, ended):
    path = Path("plugins/mine.py")
    path.parent.mkdir()
    path.write_text("def load():\n    return {}['x']\n")
    mine = script(tmp_path / path)
    status, line = ended("stage", app=lambda args: mine.load())
    assert status == 1 and line.startswith(f"error: {path}: line 2: ")


def test_an_interruption_is_no_traceback(ended):
    def interrupted(args):
        raise KeyboardInterrupt

    assert ended(app=interrupted) == (130, "")
