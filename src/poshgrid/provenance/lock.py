"""Locks: no two jobs make the same output at once, and no two workflows run on the same results."""

from __future__ import annotations

import atexit
import errno
import fcntl
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from poshgrid import logs
from poshgrid.errors import PoshgridError
from poshgrid.files import aside, cannot_write, clear

PATIENCE = 5.0
"""Seconds between two attempts to take a lock that another job holds."""
OWNER = ".owner"
"""File in a results folder that names the workflow running on it."""
_TAKEN = (errno.EAGAIN, errno.EACCES)

log = logs.get(__name__)


@contextmanager
def held(folder: Path, doing: str) -> Iterator[None]:
    """Hold the lock of a folder, which may be removed meanwhile.

    If another job, e.g. of a killed workflow, still makes the same output, wait for it. If it
    finishes, this job reuses its outputs; if it is killed, this job continues from its checkpoint.

    Locks of ``flock`` end with their process, however it ends. On NFS they work between hosts
    (Linux turns them into byte-range locks), unless it is mounted with ``local_lock``.

    Args:
        folder: created if it is missing.
        doing: what the holder does, for the message of those who wait.

    Raises:
        PoshgridError: the folder cannot be written.
    """
    path = folder / "lock"
    while True:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:  # also "no such file": nothing can be created in /proc
            raise cannot_write(folder, error) from error
        try:
            stream = path.open("a+b", buffering=0)
        except FileNotFoundError:
            continue  # the previous holder has just removed the folder
        except OSError as error:
            raise cannot_write(folder, error) from error
        with stream:
            _lock(stream.fileno(), path, doing)
            if not _same_file(path, stream.fileno()):
                continue  # removed between opening and locking
            try:
                stream.truncate(0)
                stream.write(f"process {os.getpid()} on {socket.gethostname()}\n".encode())
            except OSError as error:
                raise cannot_write(path, error) from error
            yield
        # On NFS a folder cannot be removed completely while its lock file is open.
        clear(aside(folder))
        return


def owned(path: Path) -> Path:
    """Return the results folder that contains a path; the path itself if no workflow ran there."""
    folders = (path.absolute(), *path.absolute().parents)
    return next((folder for folder in folders if (folder / OWNER).is_file()), path)


def own(results: Path) -> Callable[[], None]:
    """Own a results folder until this process ends, however it ends.

    The lock of a killed owner ends with it. On another host locks cannot be seen, so the owner's
    name in the file also counts.

    Args:
        results: the folder; created if it is missing.

    Returns:
        A function that releases the folder early.

    Raises:
        PoshgridError: another workflow owns it.
    """
    path = results / OWNER
    try:
        results.mkdir(parents=True, exist_ok=True)
        stream = path.open("a+b", buffering=0)
    except OSError:  # read-only results can be read; a job that writes will report it
        return lambda: None
    taken = _try(stream.fileno())
    owner = os.pread(stream.fileno(), 10_000, 0).decode(errors="replace").strip()
    elsewhere = bool(owner) and f" on {socket.gethostname()} " not in owner
    if elsewhere or (taken and taken.errno in _TAKEN):
        stream.close()
        remedy = f"if it no longer runs, delete {path}" if elsewhere else "wait for its end"
        raise PoshgridError(f"{results}: in use by {owner or 'another workflow'}; {remedy}")
    with suppress(OSError):  # the disk is full
        stream.truncate(0)
        stream.write(f"process {os.getpid()} on {socket.gethostname()} in {Path.cwd()}\n".encode())

    def release() -> None:
        if not stream.closed:
            with suppress(OSError):
                stream.truncate(0)
            stream.close()

    atexit.register(release)
    return release


def _lock(descriptor: int, path: Path, doing: str) -> None:
    """Wait until no other process holds the lock of a file, then lock it.

    On a file system without locks, only warn.
    """
    waiting = False
    while error := _try(descriptor):
        if error.errno not in _TAKEN:
            # e.g. a network file system without locks
            log.warning("%s: no lock: %s", path, error.strerror or error)
            return
        if not waiting:
            log.warning(
                "%s: %s is %s; waiting for its end (docs/slurm.md says how to "
                "end jobs that a killed workflow left behind)",
                path, _holder(descriptor), doing,
            )  # fmt: skip
        waiting = True
        time.sleep(PATIENCE)


def _try(descriptor: int) -> OSError | None:
    """Lock a file if no other process holds its lock; return the error if it fails."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error
    return None


def _holder(descriptor: int) -> str:
    """Return the name that the holder of a lock has written into it."""
    return os.pread(descriptor, 1_000, 0).decode(errors="replace").strip() or "another process"


def _same_file(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ESTALE):
            return False
        raise
