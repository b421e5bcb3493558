"""What the files hold that a job reads and no job writes: corpora, suites, models, word lists.

Snakemake compares times: a file that is put back with an older one, and a link that is turned to
another file, are nothing new to it. A digest of what they hold, as a parameter, is.

Digests are kept in the user's cache, by what the system says of a file: a corpus is read once.
``XDG_CACHE_HOME`` moves the cache. What cannot be read there, or is no JSON of plain strings, is
nothing; what cannot be written is found again next time.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import stat
import sys
import time
from collections.abc import Collection, Container, Iterable
from contextlib import suppress
from pathlib import Path

from poshgrid import files, resources
from poshgrid.errors import PoshgridError
from poshgrid.verification import sha256

_PACKAGE = Path(__file__).resolve().parents[1]
SHIPPED = tuple(f"{folder}/" for folder in (resources.ROOT, resources.STUDIES, _PACKAGE))
"""Folders of word lists, published numbers and pages that come with the package."""
_NAME = "contents"
_LARGE = 10**9  # bytes; reading more than these is announced
_FRESH = 2.0  # seconds after a change in which another need not show in a file's times


def digest(paths: Iterable[str], written: Container[str] = ()) -> str:
    """Return a 32-digit digest of what files hold; of none, nothing.

    Args:
        paths: what a job reads; one that is missing or cannot be read counts as none: the job says
            what is wrong with it.
        written: absolute paths of files that jobs write: they do not count. Anything else below
            the results folder is data like any other.
    """
    outside = {path for path in paths if os.path.abspath(path) not in written}  # noqa: PTH100 - links stay
    now = held(sorted(outside))
    # Data may be moved as a whole, and so may the package: neither knows where the other lies
    shipped = {path for path in now if os.path.abspath(path).startswith(SHIPPED)}  # noqa: PTH100
    names = _names(shipped) | _names(now.keys() - shipped)
    lines = sorted(f"{names[path]} {digest}" for path, digest in now.items())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:32] if lines else ""


def _names(paths: Collection[str]) -> dict[str, str]:
    """Return the paths as they are seen from the folder that all of them have in common."""
    folders = {os.path.dirname(os.path.abspath(path)) for path in paths}  # noqa: PTH100, PTH120
    above = os.path.commonpath(folders) if folders else ""
    return {path: os.path.relpath(path, above) for path in paths}


def held(paths: Iterable[str]) -> dict[str, str]:
    """Return file -> its SHA-256 digest as it is now, of those that are there and can be read."""
    digests, lasting = {}, {}
    for path in paths:
        absolute = os.path.abspath(path)  # noqa: PTH100
        with suppress(OSError):
            status = Path(absolute).stat()
            if not stat.S_ISREG(status.st_mode):  # to read a device might never end
                continue
            times = status.st_mtime_ns, status.st_ctime_ns
            state = " ".join(map(str, (status.st_size, *times, status.st_ino)))
            known = _kept().get(absolute, "")
            if not known.startswith(f"{state} "):
                known = _kept()[absolute] = f"{state} {_read(absolute, status.st_size)}"
                if time.time() - max(times) / 1e9 > _FRESH:
                    lasting[absolute] = known
            digests[path] = known.rpartition(" ")[2]
    if lasting:  # once for all files; another process may have found others meanwhile
        keep(_NAME, recall(_NAME) | lasting)
    return digests


def _read(path: str, size: int) -> str:
    if size >= _LARGE:
        sys.stderr.write(f"{path}: {size / 1e9:,.1f} GB, read once for its digest\n")
    return sha256(path)


@functools.cache
def _kept() -> dict[str, str]:
    """Return file -> what the system said of it, and its digest, as far as this process knows."""
    return recall(_NAME)


def recall(name: str) -> dict[str, str]:
    """Return what is kept under a name.

    Args:
        name: of a file in the cache, without its suffix.
    """
    try:
        content = json.loads(_cache(name).read_bytes())
    except (OSError, ValueError):
        return {}
    if not isinstance(content, dict) or {type(value) for value in content.values()} - {str}:
        return {}
    return content


def keep(name: str, content: dict[str, str]) -> None:
    """Keep something under a name, in place of what was there."""
    with suppress(OSError, PoshgridError):  # nobody may write there, or the disk is full
        files.write_json(_cache(name), content)


def _cache(name: str) -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - raises nothing
    return Path(cache, "poshgrid", f"{name}.json")
