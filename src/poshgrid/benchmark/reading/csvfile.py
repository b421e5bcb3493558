"""Read rows and items from CSV files, with errors that name the wrong cell.

Cells of items are cleaned like the corpora (:func:`poshgrid.corpora.clean.clean`), so that a model
sees the quotes and accents that it was trained on.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from poshgrid.corpora import textfile
from poshgrid.corpora.clean import clean
from poshgrid.errors import PoshgridError, did_you_mean

if TYPE_CHECKING:
    import polars as pl

Model = TypeVar("Model", bound=BaseModel)
ITEM = ("item_id", "category", "phenomenon")
"""Columns that every file of items has."""


class Row(NamedTuple):
    """A row as written in its file."""

    where: str  # file and line, for the beginning of a message
    cells: dict[str, str]  # column -> text; "" where an optional cell is empty

    @property
    def line(self) -> str:
        """The row's line, e.g. *line 7*."""
        return self.where.rpartition(": ")[2]

    def fault(self, text: str) -> PoshgridError:
        """Return an error that names the row."""
        return PoshgridError(f"{self.where}: {text}")

    def read_as(self, kind: type[Model]) -> Model:
        """Return the row as a model; an empty cell gets the model's default.

        Raises:
            PoshgridError: a cell is missing or has a value that the model does not allow.
        """
        cells = {name: text for name, cell in self.cells.items() if (text := cell.strip())}
        try:
            return kind.model_validate(cells)
        except ValidationError as error:
            fault = error.errors()[0]
            name = "".join(f"{part} is {cells.get(str(part), '')!r}: " for part in fault["loc"])
            raise self.fault(name + fault["msg"].removeprefix("Value error, ")) from error


def watched(path: Path | None, options: object) -> list[Path]:
    """Return the file of a suite if it exists; :func:`table` raises if it does not."""
    return [path] if path and path.is_file() else []


def table(
    path: Path | None, required: Sequence[str], optional: Sequence[str] = (), *, numbered: str = ""
) -> list[Row]:
    """Read a CSV file: UTF-8, commas, a header; lines without any text are skipped.

    Args:
        path: the file.
        required: columns that the file must have.
        optional: columns that may be missing.
        numbered: further optional columns: this word and a number from 1, as in ``distractor1``.

    Returns:
        The rows as written, in the order of the file; the columns in the order of the header.

    Raises:
        PoshgridError: no file is given, or it is missing, not UTF-8 or broken; a column is missing,
            unknown or repeated; a row has too many or too few cells; there is no row.
    """
    if path is None or not path.is_file():
        raise PoshgridError(
            f"{path}: no such file; give a CSV file; in a configuration (suites[].path) its path "
            "begins in the data folder"
        )
    reader = csv.DictReader(textfile.lines(path), strict=True, restkey="")
    table: list[Row] = []
    try:
        header = [cell.strip() for cell in reader.fieldnames or ()]
        reader.fieldnames = header
        _check_header(f"{path}: line 1", header, required, optional, numbered)
        for cells in reader:
            row = Row(f"{path}: line {reader.line_num}", cells)
            if "" in cells or None in cells.values():
                raise row.fault(
                    f"not the {len(header)} cells of the header; put a cell that holds a "
                    "comma between double quotes"
                )
            if any(cell.strip() for cell in cells.values()):
                table.append(row)
    except csv.Error as error:
        raise PoshgridError(
            f"{path}: line {reader.line_num}: broken CSV ({error}); fix its quotes"
        ) from error
    if not table:
        raise PoshgridError(f"{path}: no rows; give a header line and, below it, the rows")
    return table


def rows(
    path: Path | None,
    required: Sequence[str],
    optional: Sequence[str] = (),
    *,
    numbered: str = "",
) -> list[Row]:
    """Read a CSV file of items with :func:`table`: each row is an item, each cell is cleaned.

    Args:
        path: the file.
        required: columns in addition to those of ``ITEM``; their cells must not be empty.
        optional: columns that may be missing, and whose cells may be empty.
        numbered: as in :func:`table`; these cells may be empty.

    Raises:
        PoshgridError: as :func:`table`; a cell is empty, or an item_id occurs twice.
    """
    lines: dict[str, str] = {}  # item_id -> line
    items = []
    for raw in table(path, (*ITEM, *required), optional, numbered=numbered):
        row = raw._replace(cells={name: clean(cell) for name, cell in raw.cells.items()})
        for name in (*ITEM, *required):
            if not row.cells[name]:
                raise row.fault(f"{name} is empty; fill the cell or remove the row")
        item = row.cells["item_id"]
        if lines.setdefault(item, row.line) != row.line:
            raise row.fault(f"item_id {item!r} is also in {lines[item]}; give each item its own")
        items.append(row)
    return items


def listed(row: Row, name: str) -> list[str]:
    """Return the parts of a cell, separated by ``|``, each once; the cell may be missing."""
    parts = row.cells.get(name, "").split("|")
    return list(dict.fromkeys(text for part in parts if (text := part.strip())))


def check_blocks(path: Path | None, items: pl.DataFrame) -> None:
    """Raise unless all blocks of a category have the same size, and each block has one phenomenon.

    The number of blocks passed, and its norms, are only meaningful if all blocks are alike.

    Args:
        path: the file, for the message.
        items: ``item_id``, ``category``, ``phenomenon`` and ``block`` ("" without a block).

    Raises:
        PoshgridError: blocks of a category differ in size, a block has items of two phenomena, or
            only some items of a category have a block.
    """
    import polars as pl

    blocks = (
        items.unique("item_id", maintain_order=True)
        .group_by("category", "block", maintain_order=True)
        .agg(pl.len().alias("size"), pl.col("phenomenon").n_unique())
    )
    bare = pl.col("block") == ""
    odd = blocks.filter(
        (pl.col("size") != pl.col("size").mode().min()).over("category")
        | (bare & (pl.len() > 1).over("category"))
        | (~bare & (pl.col("phenomenon") > 1))
    )
    if odd.height:
        category, block, size, _ = odd.row(0)
        raise PoshgridError(
            f"{path}: block {block!r} of {category!r} ({size} items): give all blocks of a "
            "category one size, each block items of one phenomenon, and a block to each item of a "
            "category or to none"
        )


def _check_header(
    where: str, header: list[str], required: Sequence[str], optional: Sequence[str], numbered: str
) -> None:
    """Raise if a header lacks a column, or has an unknown or repeated one."""
    known = [*required, *optional, *([f"{numbered}2"] if numbered else [])]
    for name in header:
        number = re.fullmatch(f"{numbered}[1-9][0-9]*", name) if numbered else None
        if header.count(name) > 1 or (name not in known and not number):
            raise PoshgridError(
                f"{where}: column {name!r} is unknown or repeated{did_you_mean(name, known)}; "
                f"columns are {', '.join(known)}, with commas between"
            )
    missing = [name for name in required if name not in header]
    if missing:
        raise PoshgridError(
            f"{where}: no column {', '.join(missing)}; found {', '.join(header)}; "
            "write the columns' names in the first line"
        )
