"""`poshgrid init --minimal`: a study of a text of one's own; and results that are moved."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CODE = "from poshgrid.cli import main; main()"


@pytest.fixture
def study(tmp_path):
    """The folder, and a function that runs poshgrid in a folder and returns what it prints."""
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    (bin_folder / "poshgrid").write_text(f'#!/bin/sh\nexec {sys.executable} -m poshgrid "$@"\n')
    (bin_folder / "poshgrid").chmod(0o755)
    path = os.pathsep.join([str(bin_folder), os.environ["PATH"]])

    def ask(folder, *words):
        done = subprocess.run(
            [sys.executable, "-c", CODE, *words], cwd=folder, capture_output=True, text=True,
            check=False, env=os.environ | {"PATH": path, "COLUMNS": "200"},
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    ask(tmp_path, "init", "--minimal", "mine")
    return tmp_path / "mine", ask


def test_it_is_short_and_ready(study):
    folder, ask = study
    assert len((folder / "study.yaml").read_text().splitlines()) <= 25
    assert len((folder / "data/text/example.txt").read_text().splitlines()) == 300
    lines = [line.split() for line in ask(folder, "ready").splitlines()]
    assert {line[0] for line in lines if line[1] in {"source", "parser", "suite"}} == {"ok"}
    assert ["train", "4"] in [line.split() for line in ask(folder, "run", "-n").splitlines()]


@pytest.mark.slow
def test_it_reaches_its_report_and_may_be_moved(study, tmp_path):
    folder, ask = study
    ask(folder, "run")
    assert (folder / "results/report/all/index.html").is_file()
    assert "every file is what its stage wrote" in ask(folder, "verify", "results")
    moved = Path(shutil.copytree(folder, tmp_path / "far/away"))
    shutil.rmtree(moved / ".snakemake")
    assert "all: 0 jobs would run" in ask(moved, "run", "-n")
    text = moved / "study.yaml"
    text.write_text(text.read_text().replace("5e-3", "4e-3"))
    rows = [line.split() for line in ask(moved, "run", "-n").splitlines()]
    changed = {row[0] for row in rows if len(row) > 2 and row[1] == "parameter"}
    assert changed == {"train"}
