"""Commands for people: the configurations that they take."""

import ast
import os
import signal
import subprocess
import sys

import pytest
import yaml
from typer.testing import CliRunner

from poshgrid import cli
from poshgrid.cli import app
from poshgrid.config.names import PAPER


def said(*arguments):
    found = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return found.output.splitlines()


def test_the_configuration_where_none_is_named_is_the_snakefiles_and_written_once(root):
    places = [
        path.name
        for path in sorted((root / "src/poshgrid").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and node.value == str(PAPER)
    ]
    assert places == ["names.py"]
    assert str(PAPER) not in (root / "Snakefile").read_text(encoding="utf-8")


def test_an_overlay_is_laid_over_a_configuration(root, tmp_path):
    tiny, overlay = root / "config/tiny.yaml", tmp_path / "overlay.yaml"
    cell = {"conditions": ["wiki"], "sizes": ["20K"], "learners": ["gpt2-tiny"]}
    overlay.write_text(yaml.safe_dump({
        "experiments": [{"name": "one", "regimen": "packed", "seeds": [7], **cell}],
        "results": "elsewhere", "data": str(tmp_path),
    }))  # fmt: skip
    assert said("runs", str(tiny), str(overlay)) == [
        "elsewhere/models/wiki/20K/gpt2-tiny/packed/none/seed7"
    ]
    assert len(said("runs", str(tiny))) > 1
    assert said("ready", str(tiny)) != []


def test_an_interruption_before_a_command_begins_is_no_traceback(monkeypatch):
    def interrupted(**_):
        raise KeyboardInterrupt

    monkeypatch.delenv("POSHGRID_DEBUG", raising=False)
    monkeypatch.setattr(cli, "command", lambda: interrupted)
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 130


def test_an_interruption_of_the_imports_is_no_traceback(tmp_path):
    """The command line is not there yet that could say how it ends."""
    fake = tmp_path / "typer.py"
    fake.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n", encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, "-m", "poshgrid", "runs"],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (-signal.SIGINT, "")
