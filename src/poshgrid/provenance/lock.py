"""Locks: no two jobs make the same output at once, no two workflows the same results."""

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
"""Seconds between two looks at a lock that another job holds."""
OWNER = ".owner"
"""File of a results folder that names the workflow that runs on it."""
_TAKEN = (errno.EAGAIN, errno.EACCES)

log = logs.get(__name__)


@contextmanager
def held(folder: Path, doing: str) -> Iterator[None]:
    """Hold the lock of a folder, which may be removed meanwhile.

    Another job may have outlived a killed workflow: it is waited for. If it comes to its end, this
    one takes over what it made; if it is killed, this one goes on where it was.

    Locks of ``flock`` end with their process, however it ends. On NFS they hold between hosts
    (Linux makes byte-range locks of them), unless it is mounted with ``local_lock``.

    Args:
        folder: made if it is missing.
        doing: what its holder does, for who waits.

    Raises:
        PoshgridError: the folder cannot be written.
    """
    path = folder / "lock"
    while True:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:  # no such file, too: in /proc nothing can be made
            raise cannot_write(folder, error) from error
        try:
            stream = path.open("a+b", buffering=0)
        except FileNotFoundError:
            continue  # the job that held it has just removed the folder
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
        # On NFS a folder whose lock is open cannot be removed to the end.
        clear(aside(folder))
        return


def owned(path: Path) -> Path:
    """Return the results folder that a path lies in; itself if no workflow has run on one."""
    folders = (path.absolute(), *path.absolute().parents)
    return next((folder for folder in folders if (folder / OWNER).is_file()), path)


def own(results: Path) -> Callable[[], None]:
    """Own a results folder until this process ends, however it ends.

    The lock of a killed owner ends with it. On another host that cannot be seen, so the owner's
    name in the file counts, too.

    Args:
        results: the folder; made if it is missing.

    Returns:
        What gives it back early.

    Raises:
        PoshgridError: another workflow owns it.
    """
    path = results / OWNER
    try:
        results.mkdir(parents=True, exist_ok=True)
        stream = path.open("a+b", buffering=0)
    except OSError:  # read-only results can be looked at, and a job that writes says so
        return lambda: None
    taken = _try(stream.fileno())
    owner = os.pread(stream.fileno(), 10_000, 0).decode(errors="replace").strip()
    elsewhere = bool(owner) and f" on {socket.gethostname()} " not in owner
    if elsewhere or (taken and taken.errno in _TAKEN):
        stream.close()
        remedy = f"if it does not run any more, delete {path}" if elsewhere else "wait for its end"
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
    """Lock a file, when no other process holds it; do without where there are no locks."""
    waiting = False
    while error := _try(descriptor):
        if error.errno not in _TAKEN:
            # some network file systems have no locks
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
    """Lock a file if no other process holds it; return why that was not done."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error
    return None


def _holder(descriptor: int) -> str:
    """Return what the process that holds a lock has written into it."""
    return os.pread(descriptor, 1_000, 0).decode(errors="replace").strip() or "another process"


def _same_file(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ESTALE):
            return False
        raise
