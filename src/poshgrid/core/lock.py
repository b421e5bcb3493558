"""Locks: no two jobs make the same output at once, and no two workflows run on the same results.

They end with their process, however it ends. On NFS they work between hosts, unless it is mounted
with ``local_lock``.
"""

from __future__ import annotations

import atexit
import errno
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from poshgrid.core import logs
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import cannot_write

PATIENCE = 5.0
"""Seconds between two attempts to take a lock that another job holds."""
OWNER = ".owner"
"""File in a results folder that names the workflow running on it."""
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
"""Errors of file systems without locks."""

log = logs.get(__name__)


@contextmanager
def held(folder: Path, doing: str) -> Iterator[None]:
    """Hold the lock of a folder, which need not exist.

    If another job, e.g. of a killed workflow, still makes the same output, wait for it. If it
    finishes, this job reuses its outputs; if it is killed, this job continues from its checkpoint.
    On a file system without locks, only warn.

    Args:
        folder: the folder; the lock is a file next to it.
        doing: what the holder does, for the message of those who wait.

    Raises:
        PoshgridError: the lock cannot be written.
    """
    lock = _lock(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            log.warning(
                "%s: another process is %s; waiting for its end (docs/slurm.md says how to end "
                "jobs that a killed workflow left behind)",
                folder, doing,
            )  # fmt: skip
            lock.acquire(poll_interval=PATIENCE)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise cannot_write(folder, error) from error
        log.warning("%s: no lock: %s", folder, error.strerror)
    try:
        yield
    finally:
        lock.release()


def owned(path: Path) -> Path:
    """Return the results folder that contains a path; the path itself if no workflow ran there."""
    folders = (path.absolute(), *path.absolute().parents)
    return next((folder for folder in folders if (folder / OWNER).is_file()), path)


def own(results: Path) -> Callable[[], None]:
    """Own a results folder until this process ends, however it ends.

    On another host locks may not be seen, so the owner's name in a file also counts.

    Args:
        results: the folder; created if it is missing.

    Returns:
        A function that releases the folder early.

    Raises:
        PoshgridError: another workflow owns it.
    """
    path, lock, taken = results / OWNER, _lock(results / OWNER), False
    with suppress(OSError):  # read-only results can be read; a job that writes will report it
        results.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            taken = True
    owner = path.read_text(errors="replace").strip() if path.is_file() else ""
    elsewhere = bool(owner) and f" on {socket.gethostname()} " not in owner
    if taken or elsewhere:
        lock.release()
        remedy = f"if it no longer runs, delete {path}" if elsewhere else "wait for its end"
        raise PoshgridError(f"{results}: in use by {owner or 'another workflow'}; {remedy}")
    name = f"process {os.getpid()} on {socket.gethostname()} in {Path.cwd()}\n"
    with suppress(OSError):  # the disk is full
        path.write_text(name, encoding="utf-8")

    def release() -> None:
        with suppress(OSError):
            if path.read_text(encoding="utf-8") == name:  # also without a lock
                path.write_text("", encoding="utf-8")
        lock.release()

    atexit.register(release)
    return release


def _lock(path: Path) -> FileLock:
    return FileLock(path.with_name(f".{path.name.lstrip('.')}.lock"), fallback_to_soft=False)
