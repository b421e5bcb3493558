"""Which processes of this host hold a file open, by Linux's ``/proc``."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path

_PROCESSES = Path("/proc")
_INIT = "1"  # closed to root, too, in some containers


def told() -> bool:
    """Say whether this system tells which files its processes hold open."""
    return (_PROCESSES / "self/fd").is_dir()


def holders(
    paths: Iterable[Path], *, deleted_from: Path | None = None
) -> tuple[list[int], list[int]]:
    """Return the processes that hold files open, and those of this user that do not tell.

    Args:
        paths: any of these files will do.
        deleted_from: a folder of logs; a log that was deleted from it will do, too.

    Raises:
        OSError: a file cannot be looked at.
    """
    wanted = {_identity(path.stat()) for path in paths}
    holding, closed = [], []
    for process in _PROCESSES.iterdir():
        if not process.name.isdigit():
            continue
        try:
            if any(_is_one(held, wanted, deleted_from) for held in (process / "fd").iterdir()):
                holding.append(int(process.name))
        except PermissionError:
            # Linux tells a user of processes that have the user's number *and* group. /proc gives
            # to root those that nobody may look into (ssh-agent): no Snakemake is one.
            with suppress(OSError):
                if process.stat().st_uid == os.getuid() and process.name != _INIT:
                    closed.append(int(process.name))
        except OSError:  # it has ended
            continue
    return sorted(holding), sorted(closed)


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _is_one(held: Path, wanted: Collection[tuple[int, int]], deleted_from: Path | None) -> bool:
    """Say whether a descriptor is one of the files wanted.

    Raises:
        PermissionError: its process does not tell.
    """
    try:
        if _identity(held.stat()) in wanted:
            return True
        path = held.readlink()
    except PermissionError:
        raise
    except OSError:  # closed meanwhile, or of a file system that does not answer
        return False
    # Of a deleted file Linux says "NAME (deleted)"; NFS calls it .nfsNUMBER.
    return path.parent == deleted_from and path.suffix != ".log"
