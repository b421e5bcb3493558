"""What the files hold that a job reads and no job writes: corpora, suites, models, word lists.

Snakemake compares times: a file that is put back with an older one, and a link that is turned to
another file, are nothing new to it. A digest of what they hold, as a parameter, is.

Digests are kept in the user's cache, by what the system says of a file: a corpus is read once.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from poshgrid.provenance import kept
from poshgrid.verification import sha256

_LARGE = 10**9  # bytes to be read that a person is told of
_FRESH = 2.0  # seconds after a change in which another need not show in a file's times


def digest(paths: Iterable[str], results: str) -> str:
    """Return a 32-digit digest of what files hold; of none, nothing.

    Args:
        paths: what a job reads; one that is missing or cannot be read counts as none: the job says
            what is wrong with it.
        results: the results folder, whose files have manifests: they do not count.
    """
    top = os.path.join(os.path.abspath(results), "")  # noqa: PTH100, PTH118 - links stay
    outside = sorted({p for p in paths if not os.path.abspath(p).startswith(top)})  # noqa: PTH100
    found = [f"{path} {digest}" for path in outside if (digest := held(Path(path)))]
    return hashlib.sha256("\n".join(found).encode()).hexdigest()[:32] if found else ""


def held(path: Path) -> str:
    """Return the SHA-256 digest of a file as it is now; nothing: it cannot be read."""
    try:
        found = path.stat()
        if not path.is_file():  # to read a device might never end
            return ""
        state = f"{found.st_size} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_ino}"
        return _digest(path.absolute(), state)
    except OSError:
        return ""


@functools.cache
def _digest(path: Path, state: str) -> str:
    """Return the digest of a file, once for as long as it stays the same."""
    before, _, known = _kept().get(str(path), "").rpartition(" ")
    if known and before == state:
        return known
    size, modified, changed, _ = map(int, state.split())
    if size >= _LARGE:
        sys.stderr.write(f"{path}: {size / 1e9:,.1f} GB, read once for its digest\n")
    found = sha256(path)
    if time.time() - max(modified, changed) / 1e9 > _FRESH:
        # Another process may have found others meanwhile.
        everything = kept.read(_NAME) | {str(path): f"{state} {found}"}
        _kept.cache_clear()
        kept.write(_NAME, everything)
    return found


_NAME = "contents"


@functools.cache
def _kept() -> dict[str, str]:
    return kept.read(_NAME)
