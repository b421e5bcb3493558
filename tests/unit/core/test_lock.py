"""Locks of folders that cannot be written, or lie where there are no locks; results in use."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
from pathlib import Path

import pytest

from poshgrid.core import lock
from poshgrid.core.errors import PoshgridError


def test_without_locks_work_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def flock(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", flock)
    with lock.held(tmp_path / "run", "making this"):
        assert "no lock" in caplog.text
    lock.own(tmp_path)()
    assert (tmp_path / lock.OWNER).read_text() == "", "another host would wait for it"


def test_a_lock_that_cannot_be_made_is_an_error_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(PoshgridError, match=r"a: cannot write: "), lock.held(file / "a", ""):
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
