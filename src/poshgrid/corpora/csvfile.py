"""Rows of CSV files, as a stream, with errors to act on."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from poshgrid.corpora.textfile import lines
from poshgrid.errors import PoshgridError

_LONGEST_FIELD = 10_000_000  # characters; csv's own limit is 131,072


def rows(path: Path, columns: list[str]) -> Iterator[dict[str, str]]:
    """Yield the rows of a CSV file with a header line.

    Args:
        path: the file; quoted fields may hold commas and line ends.
        columns: columns that the caller needs.

    Raises:
        PoshgridError: a column is missing, a row is broken, or
            :func:`poshgrid.corpora.textfile.lines` refuses the file.
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
