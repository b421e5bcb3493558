"""Files, and manifests as stages write them."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from unittest import mock

from poshgrid.core import fingerprint
from poshgrid.core.manifest import recorded


def stage(manifest: Path, *, editable: tuple[str, ...] = (), inputs: tuple[str, ...] = ()) -> None:
    """Write a manifest as a stage would that has just written what lies beside it."""
    with (
        mock.patch.object(sys, "argv", ["poshgrid", "count"]),
        recorded(manifest, inputs=inputs, editable=editable),
    ):
        pass


def text(path: Path, content: str = "one two three") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def flip(path: Path) -> None:
    """Change one bit; size and times stay."""
    before = path.stat()
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def forget() -> None:
    """Forget the digests that this process knows, as a new process does."""
    for cached in vars(fingerprint).values():
        if hasattr(cached, "cache_clear"):
            cached.cache_clear()


def spoil(cache: Path, content: str | None) -> None:
    """Put something else in a cache's place; none: its folder can neither be read nor made."""
    if content is None:
        cache.unlink()
        cache.parent.rmdir()
        cache.parent.write_text("no folder")
    else:
        cache.write_text(content)
