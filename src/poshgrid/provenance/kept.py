"""What was found once and would take long to find again: JSON of plain strings in the user's cache.

``XDG_CACHE_HOME`` moves it. What cannot be read, or is no such file, is nothing; what cannot be
written is found again next time.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

from poshgrid import files
from poshgrid.errors import PoshgridError


def read(name: str) -> dict[str, str]:
    """Return what is kept under a name.

    Args:
        name: of a file in the cache, without its suffix.
    """
    try:
        found = json.loads(_place(name).read_bytes())
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict) or not all(isinstance(each, str) for each in found.values()):
        return {}
    return found


def write(name: str, found: dict[str, str]) -> None:
    """Keep something under a name, in place of what was there."""
    with suppress(OSError, PoshgridError):  # nobody may write there, or the disk is full
        files.write_json(_place(name), found)


def _place(name: str) -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - raises nothing
    return Path(cache, "poshgrid", f"{name}.json")
