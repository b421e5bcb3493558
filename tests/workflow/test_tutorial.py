"""docs/quickstart.md, carried out: every command, in the order of the page."""

import os
import re
import subprocess

import pytest

FAILS = {"poshgrid ready config/pilot.yaml"}
"""Commands of which the page says that they end with status 1."""


@pytest.mark.slow
def test_every_command_of_the_tutorial_runs(root, tmp_path):
    page = (root / "docs/quickstart.md").read_text(encoding="utf-8")
    commands = re.findall(r"^\$ (.*?)(?:\s{2,}#.*)?$", page, re.M)  # without their remarks
    assert len(commands) > 12 and {"poshgrid run", *FAILS} <= set(commands)
    lines = []
    for number, command in enumerate(commands):
        lines.append(f"{command} && status=0 || status=$?; echo '{number}:' $status")
        lines.append(f"test $status -eq {int(command in FAILS)} || exit 9")
    answer = subprocess.run(
        ["bash", "-c", "\n".join(lines)],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": str(root / "src")},
    )  # fmt: skip
    assert answer.returncode == 0, f"{answer.stdout[-2000:]}\n{answer.stderr[-2000:]}"
    study = tmp_path / "my-study"
    assert (study / "results/tiny/report/all/index.html").exists()
    assert (study / "exported/tables/counts.csv").exists()
