"""The command line: which configuration it takes, and how it ends."""

import ast
import os
import signal
import subprocess
import sys

import pytest

from poshgrid import cli
from poshgrid.config.names import PAPER


def test_the_configuration_where_none_is_named_is_the_snakefiles_and_written_once(root):
    places = [
        path.name
        for path in sorted((root / "src/poshgrid").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and node.value == str(PAPER)
    ]
    assert places == ["names.py"]
    assert str(PAPER) not in (root / "Snakefile").read_text(encoding="utf-8")


def test_an_interruption_is_no_traceback(monkeypatch, tmp_path):
    """Before a command begins, and of the imports: no command line is there yet to say so."""

    def interrupted(args):
        raise KeyboardInterrupt

    monkeypatch.delenv("POSHGRID_DEBUG", raising=False)
    monkeypatch.setattr(cli, "app", interrupted)
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 130
    fake = tmp_path / "typer.py"
    fake.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n", encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, "-m", "poshgrid", "ready"],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (-signal.SIGINT, "")
