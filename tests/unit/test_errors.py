"""An error of the system names its file, also where a write fails and the system names none."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from poshgrid import errors
from poshgrid.errors import PoshgridError
from poshgrid.files import write_text

FULL = Path("/dev/full")  # every write to it fails as on a full disk

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


def failing(write) -> OSError:
    with pytest.raises(OSError, match="No space left") as caught:
        write()
    return caught.value


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full")
def test_a_write_that_fails_names_the_file_that_is_open() -> None:
    def write() -> None:
        with FULL.open("w") as stream:
            stream.write("x" * 100_000)

    error = failing(write)
    assert error.filename is None
    assert errors.of_system(error).startswith("/dev/full: No space left on device; check the path")


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full")
def test_so_does_one_that_fails_when_the_file_is_closed() -> None:
    def write() -> None:
        with FULL.open("w") as stream:
            stream.write("x")

    assert errors.place(failing(write)) == "/dev/full"


def test_a_temporary_file_tells_of_its_folder(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def write() -> None:
        with tempfile.NamedTemporaryFile() as stream:
            stream.write(b"x")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    line = errors.of_system(failing(write))
    assert line.startswith(f"{tmp_path}/tmp")
    assert f"make room in {tmp_path}, or set TMPDIR" in line


def test_without_an_open_file_the_folders_are_named(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)

    def write() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    line = errors.of_system(failing(write))
    assert str(tmp_path) in line
    assert tempfile.gettempdir() in line


def test_what_is_written_goes_by_its_name_and_not_by_its_temporary_one(tmp_path, monkeypatch):
    def full(path: Path, *_: object, **__: object) -> None:
        with path.open("w"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(PoshgridError) as caught:
        write_text(tmp_path / "table.csv", "x")
    assert str(caught.value).startswith(f"{tmp_path}/table.csv: cannot write: No space left")


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a small file system")
@pytest.mark.parametrize("number", [20, 30, 60, 400])
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


def test_a_working_folder_that_was_deleted_is_told(tmp_path, root):
    program = (
        "import os, sys; os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone'); "
        "from poshgrid import cli; sys.argv = ['poshgrid', 'runs', 'x.yaml']; cli.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(root / "src")},
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("error: "), done.stderr
    assert "go to a folder that is there" in done.stderr


def test_without_a_temporary_folder_an_error_is_still_one_line(monkeypatch):
    def none() -> str:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", none)
    told = errors.of_system(OSError(errno.EROFS, "Read-only file system"))
    assert told.startswith("the working or the temporary folder: Read-only file system; ")


def test_a_line_break_in_a_path_makes_no_second_line() -> None:
    error = PoshgridError("a\nb: no such file", "c: the second of two that are told together")
    told = ["a\\nb: no such file", "c: the second of two that are told together"]
    assert str(error).splitlines() == told
    missing = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "a\nb")
    assert errors.of_system(missing).startswith("a\\nb: No such file or directory; ")
