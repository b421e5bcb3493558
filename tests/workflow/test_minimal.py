"""`poshgrid init --minimal`: a study of a text of one's own."""

import os
import sys

from tests import forks

CODE = "from poshgrid.cli import main; main()"


def test_it_is_short_and_ready(tmp_path):
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin/poshgrid"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m poshgrid "$@"\n')
    command.chmod(0o755)
    environment = os.environ | {"COLUMNS": "200"}
    environment["PATH"] = os.pathsep.join([str(command.parent), os.environ["PATH"]])

    def ask(folder, *words):
        """Run poshgrid in a folder; return the words of each line that it prints."""
        done = forks.python(("-c", CODE, *words), folder, environment)
        assert done.returncode == 0, done.stdout + done.stderr
        return [line.split() for line in (done.stdout + done.stderr).splitlines()]

    ask(tmp_path, "init", "--minimal", "mine")
    folder = tmp_path / "mine"
    assert len((folder / "study.yaml").read_text().splitlines()) <= 25
    assert len((folder / "data/text/example.txt").read_text().splitlines()) == 300
    lines = ask(folder, "ready")
    assert {line[0] for line in lines if line[1] in {"source", "parser", "suite"}} == {"ok"}
    assert ["train", "4"] in ask(folder, "run", "-n")
