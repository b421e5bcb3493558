"""Rows of tables that others have made: JSON lines, CSV, TSV or parquet, whatever their columns."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pydantic_core

from poshgrid.benchmark.reading.pairfile import fault

ENDINGS = (".jsonl", ".jsonl.gz", ".parquet", ".csv", ".tsv")
Row = dict[str, Any]


def rows(file: Path) -> Iterator[tuple[int, Row]]:
    """Yield the rows of a table with the numbers of their lines.

    Raises:
        PoshgridError: a line is no JSON object, a row has more or fewer cells than the header, or
            two columns have one name.
    """
    from poshgrid.corpora import textfile
    from poshgrid.files import foreign_table

    ending = file.name.removesuffix(".gz").rpartition(".")[2]
    if ending == "parquet":
        yield from enumerate(foreign_table(file, "download it again").iter_rows(named=True), 1)
    elif ending in ("csv", "tsv"):
        yield from _cells(file, "," if ending == "csv" else "\t")
    else:
        for number, line in enumerate(textfile.lines(file), 1):
            if line.strip():
                yield number, _json(file, number, line)


def _cells(file: Path, delimiter: str) -> Iterator[tuple[int, Row]]:
    from poshgrid.corpora import textfile

    table = csv.DictReader(textfile.lines(file), delimiter=delimiter, strict=True)
    try:
        names = table.fieldnames or ()
        if delimiter == "," and ";" in "".join(names):
            raise fault(file, 1, "semicolons between columns: save the table with commas")
        if twice := [name for name in names if names.count(name) > 1]:
            raise fault(file, 1, f"column {twice[0]!r} is there twice")
        for row in table:
            if None in row or None in row.values():
                raise fault(file, table.line_num, "other than the cells of the header")
            yield table.line_num, row
    except csv.Error as error:
        raise fault(file, table.reader.line_num, f"broken table ({error})") from error


def _json(file: Path, number: int, line: str) -> Row:
    try:
        row = pydantic_core.from_json(line)
    except ValueError as error:
        raise fault(file, number, f"the line: Invalid JSON: {error}") from error
    if not isinstance(row, dict):
        raise fault(file, number, "the line: not an object, {...}")
    return row
