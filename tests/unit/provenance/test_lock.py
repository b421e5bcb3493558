"""The lock of a folder that is removed, cannot be read, or lies where there are no locks."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import socket
from pathlib import Path

import pytest

from poshgrid.errors import PoshgridError
from poshgrid.provenance import lock


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run"


def test_a_folder_that_is_removed_while_its_lock_is_taken_is_locked_anew(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job that held it has come to its end: a lock of a file that nobody finds is none."""
    flock, times = fcntl.flock, []

    def after_removal(descriptor: int, operation: int) -> None:
        times.append(descriptor)
        if len(times) == 1:
            shutil.rmtree(folder)
        flock(descriptor, operation)

    monkeypatch.setattr(lock.fcntl, "flock", after_removal)
    with lock.held(folder, "making this"):
        assert len(times) == 2


def test_without_locks_work_goes_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def flock(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(lock.fcntl, "flock", flock)
    with lock.held(folder, "making this"):
        assert "no lock" in caplog.text


def test_a_lock_that_cannot_be_made_is_an_error_in_one_line(folder: Path) -> None:
    folder.write_text("a file")
    with pytest.raises(PoshgridError, match=r"run: cannot write: "), lock.held(folder, ""):
        pytest.fail("there is no folder")


def test_results_belong_to_one_workflow(tmp_path: Path) -> None:
    results = tmp_path / "results"
    release = lock.own(results)
    with pytest.raises(PoshgridError) as caught:
        lock.own(results)
    line = str(caught.value)
    assert f"process {os.getpid()} on {socket.gethostname()} in {Path.cwd()}" in line
    assert "\n" not in line
    assert lock.owned(results / "models") == results
    release()
    lock.own(results)()


@pytest.mark.parametrize(
    ("host", "refused"), [(socket.gethostname(), False), (f"not-{socket.gethostname()}", True)]
)
def test_a_dead_owner_blocks_on_another_host_alone_which_cannot_see_it(
    tmp_path: Path, host: str, refused: bool
) -> None:
    (tmp_path / lock.OWNER).write_text(f"process 7 on {host} in /study\n")
    if refused:
        with pytest.raises(PoshgridError, match=f"7 on {host} .*delete {tmp_path / lock.OWNER}"):
            lock.own(tmp_path)
        (tmp_path / lock.OWNER).unlink()
    lock.own(tmp_path)()
