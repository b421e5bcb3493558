"""Reading text and CSV files as a stream, with errors that a person can act on."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from poshgrid.errors import PoshgridError

_LONGEST_FIELD = 10_000_000  # characters; csv's own limit is 131,072
_BOM = b"\xef\xbb\xbf"


def listed(path: Path, suffix: str) -> list[Path]:
    """Return a file, or the files of a folder that end in ``suffix``, sorted by name.

    Raises:
        PoshgridError: the path is missing, or the folder holds no such file.
    """
    if path.is_dir():
        found = sorted(p for p in path.iterdir() if p.suffix == suffix and p.is_file())
        if not found:
            raise PoshgridError(f"{path}: holds no {suffix} file; check sources[].path")
        return found
    if not path.is_file():
        raise PoshgridError(f"{path}: not found; check `data` and sources[].path in the config")
    return [path]


def lines(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 file, line ends included, a byte order mark left out.

    Raises:
        PoshgridError: the file is missing, unreadable, empty, binary, or not UTF-8.
    """
    try:
        if not path.is_file():
            raise PoshgridError(f"{path}: not found; check `data` and sources[].path in the config")
        if path.stat().st_size == 0:
            raise PoshgridError(f"{path}: empty file; replace it or take it out of the folder")
        with path.open("rb") as stream:
            start = 0  # of the line, in bytes
            for raw in stream:
                yield _decode(path, raw, start)
                start += len(raw)
    except OSError as error:
        raise PoshgridError(f"{path}: cannot read: {error.strerror}; check its rights") from error


def _decode(path: Path, raw: bytes, start: int) -> str:
    if b"\0" in raw:
        place = start + raw.index(b"\0")
        raise PoshgridError(
            f"{path}: byte {place:,}: binary file (a NUL byte); give a text file in UTF-8"
        )
    try:
        return (raw.removeprefix(_BOM) if start == 0 else raw).decode("utf-8")
    except UnicodeDecodeError as error:
        raise PoshgridError(
            f"{path}: byte {start + error.start:,}: not UTF-8; convert it, "
            "e.g. `iconv -f latin1 -t utf-8 OLD > NEW`"
        ) from error


def rows(path: Path, columns: list[str]) -> Iterator[dict[str, str]]:
    """Yield the rows of a CSV file with a header line.

    Args:
        path: the file; quoted fields may hold commas and line ends.
        columns: columns that the caller needs.

    Raises:
        PoshgridError: a column is missing, a row is broken, or :func:`lines` refuses the file.
    """
    csv.field_size_limit(_LONGEST_FIELD)
    reader = csv.DictReader(lines(path), strict=True, restval="")
    try:
        found = list(reader.fieldnames or [])
        missing = [name for name in columns if name not in found]
        if missing:
            raise PoshgridError(
                f"{path}: line 1: no column {', '.join(missing)}; found {', '.join(found)}"
            )
        yield from reader
    except csv.Error as error:
        raise PoshgridError(
            f"{path}: line {reader.reader.line_num}: broken CSV ({error}); mend its quotes"
        ) from error
