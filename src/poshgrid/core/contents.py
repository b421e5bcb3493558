"""Digests of the input files that no job writes: corpora, suites, models, word lists.

Snakemake compares the times of files. It does not see a file that was replaced by an older one, or
a link that now leads to another file. So each job has a digest of the content of such files as a
parameter.

Digests are kept in the user's cache, with the size and times of the file, so that a corpus is read
once. ``XDG_CACHE_HOME`` moves the cache. A cache that cannot be read, or that holds anything but
strings, counts as empty. If it cannot be written, the digests are computed again next time.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import stat
import time
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path

from poshgrid.core import files, resources
from poshgrid.core.errors import PoshgridError
from poshgrid.core.verification import sha256

_PACKAGE = Path(__file__).resolve().parents[1]
SHIPPED = tuple(f"{folder}/" for folder in (resources.ROOT, resources.STUDIES, _PACKAGE))
"""Folders of word lists, published numbers and pages that come with the package."""
_NAME = "contents"
_FRESH = 2.0  # seconds: a second change within them may leave the file's times as they are


def digest(paths: Iterable[str]) -> str:
    """Return a digest (32 hex digits) of the content of files; "" without files.

    Args:
        paths: inputs of a job. A file that is missing or cannot be read is left out: the job
            itself reports it.
    """
    now = digests(sorted(set(paths)))
    # The data folder and the package may be moved, each on its own
    shipped = {path for path in now if os.path.abspath(path).startswith(SHIPPED)}  # noqa: PTH100
    names = _names(shipped) | _names(now.keys() - shipped)
    lines = sorted(f"{names[path]} {digest}" for path, digest in now.items())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:32] if lines else ""


def _names(paths: Collection[str]) -> dict[str, str]:
    """Return path -> the path relative to the folder that all of them share."""
    folders = {os.path.dirname(os.path.abspath(path)) for path in paths}  # noqa: PTH100, PTH120
    above = os.path.commonpath(folders) if folders else ""
    return {path: os.path.relpath(path, above) for path in paths}


def digests(paths: Iterable[str]) -> dict[str, str]:
    """Return path -> SHA-256 digest of each file that exists and can be read."""
    known_digests, lasting = {}, {}
    for path in paths:
        absolute = os.path.abspath(path)  # noqa: PTH100
        with suppress(OSError):
            status = Path(absolute).stat()
            if not stat.S_ISREG(status.st_mode):  # reading a device might never end
                continue
            times = status.st_mtime_ns, status.st_ctime_ns
            state = " ".join(map(str, (status.st_size, *times, status.st_ino)))
            known = _cached().get(absolute, "")
            if not known.startswith(f"{state} "):
                known = _cached()[absolute] = f"{state} {sha256(absolute)}"
                if time.time() - max(times) / 1e9 > _FRESH:
                    lasting[absolute] = known
            known_digests[path] = known.rpartition(" ")[2]
    if lasting:  # loaded again: another process may have added files
        save(_NAME, load(_NAME) | lasting)
    return known_digests


@functools.cache
def _cached() -> dict[str, str]:
    """Return path -> size, times, inode and digest of the file, as this process knows them."""
    return load(_NAME)


def load(name: str) -> dict[str, str]:
    """Return the content of a file in the cache; empty if it cannot be read.

    Args:
        name: of the file, without its suffix.
    """
    try:
        content = json.loads(_cache(name).read_bytes())
    except (OSError, ValueError):
        return {}
    if not isinstance(content, dict) or {type(value) for value in content.values()} - {str}:
        return {}
    return content


def save(name: str, content: dict[str, str]) -> None:
    """Write a file in the cache; see :func:`load`."""
    with suppress(OSError, PoshgridError):  # nobody may write there, or the disk is full
        files.write_json(_cache(name), content)


def _cache(name: str) -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - raises nothing
    return Path(cache, "poshgrid", f"{name}.json")
