"""Which files a source consists of, and how they are named."""

from __future__ import annotations

import os
import re
from pathlib import Path

from poshgrid.core.errors import PoshgridError, similar_file


def listed_below(path: Path, *suffixes: str) -> list[Path]:
    """Return a file, or the files at any depth below a folder that end in one of ``suffixes``.

    Hidden files and folders are skipped, links to folders are followed. If both ``x.xml`` and
    ``x.xml.gz`` (or ``.bz2``) exist, only the first is returned: they are the same text.

    Args:
        path: a file (whatever its name) or a folder.
        suffixes: endings of names, e.g. ``".xml", ".xml.gz"``.

    Returns:
        The files, sorted by their path.

    Raises:
        PoshgridError: the path is missing, or there is no such file.
        OSError: a folder cannot be read.
    """
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise not_found(path)
    files: set[Path] = set()
    for folder, inner, names in os.walk(path, onerror=_raise, followlinks=True):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        files.update(
            Path(folder, name)
            for name in names
            if name.endswith(suffixes) and not name.startswith(".")
        )
    packed = (".gz", ".bz2")
    kept = [p for p in files if p.suffix not in packed or p.with_suffix("") not in files]
    if not kept:
        raise PoshgridError(f"{path}: no file ends in {', '.join(suffixes)}; check the path")
    return sorted(kept)


_ENDING = re.compile(r"\.[^./]+(?:\.gz|\.bz2)?$")


def label(file: Path, path: Path) -> str:
    """Return a file's name without its ending, with the folders between it and ``path``.

    Args:
        file: one of the files of ``path``.
        path: the source's path.
    """
    name = file.relative_to(path).as_posix() if path.is_dir() else file.name
    return _ENDING.sub("", name)


def not_found(path: Path) -> PoshgridError:
    """Return the error for a source whose path does not exist."""
    remedy = "check the path, and `data` in the configuration"
    return PoshgridError(f"{path}: not found{similar_file(path)}; {remedy}")


def _raise(error: OSError) -> None:
    raise error
