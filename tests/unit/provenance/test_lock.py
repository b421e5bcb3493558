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
from poshgrid.provenance import durable, lock


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run"


def failing(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def flock(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(lock.fcntl, "flock", flock)


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
    with lock.held(folder) as alone:
        assert alone
        assert len(times) == 2
        with lock.at_once(folder) as refused:
            assert refused and refused.taken


@pytest.mark.parametrize("number", [errno.ENOENT, errno.ESTALE])
def test_a_lock_whose_file_is_gone_is_taken_anew(
    folder: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    original, times = Path.stat, []

    def stat(path: Path, **more: object) -> os.stat_result:
        if path.name == "lock" and not times:
            times.append(path)
            raise OSError(number, os.strerror(number), str(path))
        return original(path, **more)

    monkeypatch.setattr(Path, "stat", stat)
    with lock.held(folder) as alone:
        assert alone
    assert times


def test_a_disk_that_fails_is_no_removed_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stat(path: Path, **_: object) -> os.stat_result:
        raise OSError(errno.EIO, "Input/output error", str(path))

    folder.mkdir()
    (folder / "lock").touch()
    descriptor = os.open(folder / "lock", os.O_RDONLY)
    monkeypatch.setattr(Path, "stat", stat)
    with pytest.raises(OSError, match="Input/output error"):
        lock._same_file(folder / "lock", descriptor)
    os.close(descriptor)


def test_a_folder_that_goes_before_its_lock_is_opened_is_made_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, times = Path.mkdir, []

    def mkdir(path: Path, *rest: object, **more: object) -> None:
        original(path, *rest, **more)
        times.append(path)
        if len(times) == 1:
            path.rmdir()

    monkeypatch.setattr(Path, "mkdir", mkdir)
    with lock.held(folder) as alone:
        assert alone
    assert times == [folder, folder]


def test_without_locks_nobody_is_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, errno.ENOLCK)
    with lock.held(folder) as alone:
        assert alone is False
    with lock.at_once(folder) as refused:
        assert refused == (False, "no lock: No locks available")


@pytest.mark.parametrize("number", [errno.EAGAIN, errno.EACCES])
@pytest.mark.parametrize(
    ("written", "holder"), [("process 7 on node3\n", "process 7 on node3"), ("", "another process")]
)
def test_at_once_names_the_holder(
    folder: Path, monkeypatch: pytest.MonkeyPatch, number: int, written: str, holder: str
) -> None:
    folder.mkdir()
    (folder / "lock").write_text(written)
    failing(monkeypatch, number)
    with lock.at_once(folder) as refused:
        assert refused == (True, f"{holder} is training this run")


def test_at_once_makes_nothing_and_cannot_read_everything(folder: Path) -> None:
    with lock.at_once(folder) as refused:
        assert refused is None
    assert not folder.exists()
    (folder / "lock").mkdir(parents=True)
    with lock.at_once(folder) as refused:
        assert refused == (False, "no lock: Is a directory")


@pytest.mark.parametrize("taken", [True, False])
def test_what_is_half_removed_goes_with_the_lock_that_was_had(
    folder: Path, monkeypatch: pytest.MonkeyPatch, taken: bool
) -> None:
    folder.mkdir()
    (folder / "lock").touch()
    durable.aside(folder).mkdir()
    if taken:
        failing(monkeypatch, errno.EAGAIN)
    with lock.at_once(folder):
        assert durable.aside(folder).exists()
    assert durable.aside(folder).exists() == taken


def test_the_folders_above_what_is_placed_are_made(tmp_path: Path) -> None:
    final = tmp_path / "a" / "b" / "c"
    with durable.placed(final) as temporary:
        temporary.mkdir()
        (temporary / "file").write_text("whole")
        assert not final.exists()
    assert (final / "file").read_text() == "whole"
    assert [path.name for path in final.parent.iterdir()] == ["c"]


def test_a_lock_that_cannot_be_made_is_an_error_in_one_line(folder: Path) -> None:
    folder.write_text("a file")
    for each in (folder, Path("/proc/run")):  # where nobody can make a folder
        with pytest.raises(PoshgridError, match=r"run: cannot write: "), lock.held(each):
            pytest.fail("there is no folder")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "No space left on device"),
        (Exception("I/O error: whatever (os error 13)"), "Permission denied"),
        (ValueError("the first line\nthe second"), "the first line"),
    ],
)
def test_why_a_path_cannot_be_written_is_told_in_one_line(error: Exception, said: str) -> None:
    assert durable.reason(error) == said


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


def test_read_only_results_can_be_looked_at(tmp_path: Path, monkeypatch) -> None:
    def read_only(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "open", read_only)
    lock.own(tmp_path)()
