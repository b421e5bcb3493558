"""Which files a source, or a condition from ready files, consists of, and how they are called."""

from __future__ import annotations

import os
import re
from pathlib import Path

from poshgrid.config.runs import SPLITS
from poshgrid.errors import PoshgridError


def listed(path: Path, suffix: str) -> list[Path]:
    """Return a file, or the files of a folder that end in ``suffix``, sorted by name.

    Raises:
        PoshgridError: the path is missing, or the folder holds no such file.
    """
    inside = path.iterdir() if path.is_dir() else ()
    return _some(path, [p for p in inside if p.suffix == suffix and p.is_file()], suffix)


def listed_below(path: Path, *suffixes: str) -> list[Path]:
    """Return a file, or the files at any depth below a folder that end in one of ``suffixes``.

    Hidden files and folders are passed over, links to folders are followed, and of ``x.xml`` and
    ``x.xml.gz`` (or ``.bz2``) side by side only the first is taken: they are one text.

    Args:
        path: a file (whatever its name) or a folder.
        suffixes: endings of names, e.g. ``".xml", ".xml.gz"``.

    Returns:
        The files, sorted by their path.

    Raises:
        PoshgridError: the path is missing, or there is no such file.
        OSError: a folder cannot be read.
    """
    found: set[Path] = set()
    seen: set[tuple[int, int]] = set()  # a link may lead back up
    folders = os.walk(path, onerror=_raise, followlinks=True) if path.is_dir() else ()
    for folder, inner, names in folders:
        status = Path(folder).stat()
        if (status.st_dev, status.st_ino) in seen:
            inner.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        found.update(
            Path(folder, name)
            for name in names
            if name.endswith(suffixes) and not name.startswith(".")
        )
    packed = (".gz", ".bz2")
    kept = [p for p in found if p.suffix not in packed or p.with_suffix("") not in found]
    return _some(path, kept, " or ".join(suffixes))


def _some(path: Path, found: list[Path], endings: str) -> list[Path]:
    """Return a path that is a file itself, else what was found below it, sorted."""
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise not_found(path)
    if not found:
        raise PoshgridError(f"{path}: holds no {endings} file; check sources[].path")
    return sorted(found)


ENDING = re.compile(r"\.(?:cha|mrg|txt|parquet)(?:\.gz|\.bz2)?$", re.IGNORECASE)
"""What the names of documents do without."""


def label(file: Path, path: Path, ending: re.Pattern[str] = ENDING) -> str:
    """Return a file's name without its ending, with the folders between it and ``path``.

    Args:
        file: one of the files of ``path``.
        path: the source's path.
        ending: what is cut off the name.
    """
    name = file.relative_to(path).as_posix() if path.is_dir() else file.name
    return ending.sub("", name)


def not_found(path: Path) -> PoshgridError:
    """Return the error for a source that is not there."""
    return PoshgridError(f"{path}: not found; check `data` and sources[].path in the config")


def ready_place(prebuilt: str, size: str) -> str:
    """Return the folder of a size's files: where ``{size}`` stands in the name, or below it."""
    return prebuilt.replace("{size}", size) if "{size}" in prebuilt else f"{prebuilt}/{size}"


def ready_files(folder: Path) -> dict[str, Path]:
    """Return the file of each split: ``train.txt``, or the one text in the folder ``train``.

    The second is how the published code of POSH-BENCH reads its corpora (``10Mf/train/10Mf.txt``).
    A split without a file, or with several, is left out.
    """
    found = {}
    for split in SPLITS:
        flat = folder / f"{split}.txt"
        texts = [flat] if flat.is_file() else sorted((folder / split).glob("*.txt"))
        if len(texts) == 1:
            found[split] = texts[0]
    return found


def _raise(error: OSError) -> None:
    raise error
