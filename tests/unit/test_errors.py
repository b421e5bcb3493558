"""An error of the system names its file, also where a write fails and the system names none."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from poshgrid import errors
from poshgrid.errors import PoshgridError
from poshgrid.files import write_text

PROGRAM = """
import sys
import pulp
from poshgrid import cli, solver
from poshgrid.commands.base import app

@app.command()
def choose(number: int) -> None:
    program = pulp.LpProblem("choice", pulp.LpMinimize)
    taken = [pulp.LpVariable(f"v{i}", 0, 9, pulp.LpInteger) for i in range(number)]
    program += pulp.lpSum(taken)
    for variable in taken:
        program += variable >= 1
    solver.solve(program)
    print("solved", sum(variable.value() for variable in taken))

cli.main()
"""


def test_what_is_written_goes_by_its_name_and_not_by_its_temporary_one(tmp_path, monkeypatch):
    def full(path: Path, *_: object, **__: object) -> None:
        with path.open("w"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(PoshgridError) as caught:
        write_text(tmp_path / "table.csv", "x")
    assert str(caught.value).startswith(f"{tmp_path}/table.csv: cannot write: No space left")


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a small file system")
@pytest.mark.parametrize("number", [20, 400])
def test_a_full_temporary_folder_is_no_infeasible_program(tmp_path, number: int) -> None:
    """The program does not fit, or its solution does not, or only a part of that does."""
    script = f'mount -t tmpfs -o size=8k none {tmp_path} && TMPDIR={tmp_path} exec "$@"'
    command = ["unshare", "-m", "sh", "-c", script, "sh", sys.executable, "-c", PROGRAM]
    done = subprocess.run(
        [*command, "choose", str(number)], capture_output=True, text=True, check=False, timeout=100
    )
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip(done.stderr)
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"error: {tmp_path}")
    assert f"{tmp_path} or set TMPDIR" in line.replace(",", "")


def test_a_line_break_in_a_path_makes_no_second_line() -> None:
    error = PoshgridError("a\nb: no such file", "c: the second of two that are told together")
    told = ["a\\nb: no such file", "c: the second of two that are told together"]
    assert str(error).splitlines() == told
    missing = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "a\nb")
    assert errors.of_system(missing).startswith("a\\nb: No such file or directory; ")
