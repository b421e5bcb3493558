"""Rows and items from CSV files. What a person mistypes is named.

Cells of items are cleaned like the corpora (:func:`poshgrid.corpora.clean.clean`), so that a model
meets the quotes and accents that it was trained on.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from poshgrid.corpora import textfile
from poshgrid.corpora.clean import clean
from poshgrid.errors import PoshgridError, did_you_mean

ITEM = ("item_id", "category", "phenomenon")
"""Columns of every file of items."""


class Row(NamedTuple):
    """A row as it stands in its file."""

    place: str  # file and line, to begin a message with
    cells: dict[str, str]  # column -> text; "" where an optional cell is empty

    @property
    def line(self) -> str:
        """The row's line, as in *line 7*."""
        return self.place.rpartition(": ")[2]

    def fault(self, text: str) -> PoshgridError:
        """Return an error that names the row."""
        return PoshgridError(f"{self.place}: {text}")


def watched(path: Path | None, options: object) -> list[Path]:
    """Return the file that a suite is read from; :func:`table` says if it is missing."""
    return [path] if path and path.is_file() else []


def table(
    path: Path | None, required: Sequence[str], optional: Sequence[str] = (), *, numbered: str = ""
) -> list[Row]:
    """Read a CSV file: UTF-8, commas, a header; lines without any text are passed over.

    Args:
        path: the file.
        required: columns without which the file is refused.
        optional: columns that may be missing.
        numbered: further optional columns: this word and a number from 1, as in ``distractor1``.

    Returns:
        The rows as written, in the order of the file; the columns in the order of the header.

    Raises:
        PoshgridError: no file is given, or it is missing, not UTF-8 or broken; a column is missing,
            unknown or there twice; a row has too many or too few cells; there is no row.
    """
    if path is None:
        raise PoshgridError("suites: no path: give it a CSV file, relative to the data folder")
    if not path.is_file():
        raise PoshgridError(
            f"{path}: no such file; give a CSV file; in a configuration its path begins in the "
            "data folder"
        )
    reader = csv.reader(textfile.lines(path), strict=True)
    found: list[Row] = []
    header: list[str] = []
    last = 0
    try:
        for cells in reader:
            # A quoted cell may hold line ends: the place is where the row begins.
            place, last = f"{path}: line {last + 1}", reader.line_num
            if not any(cell.strip() for cell in cells):
                continue
            if not header:
                header = [cell.strip() for cell in cells]
                _check_header(place, header, required, optional, numbered)
                continue
            if len(cells) != len(header):
                raise PoshgridError(
                    f"{place}: {len(cells)} cells, but the header has {len(header)}; put a cell "
                    "that holds a comma between double quotes"
                )
            found.append(Row(place, dict(zip(header, cells, strict=True))))
    except csv.Error as error:
        raise PoshgridError(
            f"{path}: line {reader.line_num}: broken CSV ({error}); fix its quotes"
        ) from error
    if not found:
        raise PoshgridError(f"{path}: no rows; give a header line and, below it, the rows")
    return found


def rows(
    path: Path | None,
    required: Sequence[str],
    optional: Sequence[str] = (),
    *,
    numbered: str = "",
) -> list[Row]:
    """Read a CSV file of items: :func:`table`, each row an item, each cell cleaned.

    Args:
        path: the file.
        required: columns beside those of ``ITEM``; none of their cells may be empty.
        optional: columns that may be missing, and whose cells may be empty.
        numbered: as in :func:`table`; these cells may be empty.

    Raises:
        PoshgridError: as :func:`table`; a cell is empty, or an item_id is that of another row.
    """
    found: list[Row] = []
    places: dict[str, str] = {}  # item_id -> line
    for row in table(path, (*ITEM, *required), optional, numbered=numbered):
        cells = {name: clean(cell) for name, cell in row.cells.items()}
        for name in (*ITEM, *required):
            if not cells[name]:
                raise row.fault(f"{name} is empty; fill the cell or take the row out")
        item = cells["item_id"]
        if places.setdefault(item, row.line) != row.line:
            raise row.fault(f"item_id {item!r} is that of {places[item]}; name each item once")
        found.append(Row(row.place, cells))
    return found


def listed(row: Row, name: str) -> list[str]:
    """Return the parts of a cell, which ``|`` divides: none where the cell is empty or missing.

    Raises:
        PoshgridError: a part is empty or there twice.
    """
    if not row.cells.get(name):
        return []
    found = [text.strip() for text in row.cells[name].split("|")]
    for text in found:
        if not text:
            raise row.fault(f"{name} has an empty part; take a '|' out")
        if found.count(text) > 1:
            raise row.fault(f"{name} has {text!r} twice; take one out")
    return found


def check_blocks(found: Iterable[Row]) -> None:
    """Hold the blocks of every category to one size and each block to one phenomenon.

    A count of blocks passed, and its norms, mean something only if blocks are alike.

    Raises:
        PoshgridError: blocks of a category differ in size, a block has items of two phenomena, or
            some items of a category with blocks have none.
    """
    categories: dict[str, dict[str, list[Row]]] = {}
    for row in found:
        blocks = categories.setdefault(row.cells["category"], {})
        blocks.setdefault(row.cells.get("block", ""), []).append(row)
    for category, blocks in categories.items():
        if "" in blocks and len(blocks) > 1:
            raise blocks[""][0].fault(
                f"block is empty, but other items of {category!r} have one; "
                "give a block to each of its items or to none"
            )
        (first, alike), *_ = blocks.items()
        for name, members in blocks.items():
            odd = [r for r in members if r.cells["phenomenon"] != members[0].cells["phenomenon"]]
            if name and odd:
                raise odd[0].fault(
                    f"block {name!r} holds {members[0].cells['phenomenon']} and "
                    f"{odd[0].cells['phenomenon']}; name the blocks of different phenomena "
                    "differently"
                )
            if len(members) != len(alike):
                raise members[-1].fault(
                    f"block {name!r} of {category!r} has {len(members)} items and block "
                    f"{first!r} {len(alike)}; give all blocks of a category one size"
                )


def _check_header(
    place: str, found: list[str], required: Sequence[str], optional: Sequence[str], numbered: str
) -> None:
    """Refuse a header that lacks a column, or has one too many."""
    if len(found) == 1 and re.search("[;\t]", found[0]):
        raise PoshgridError(
            f"{place}: columns are divided by {';' if ';' in found[0] else 'tab'!r}; save the "
            "file with commas"
        )
    known = [*required, *optional]
    for name in found:
        if found.count(name) > 1:
            raise PoshgridError(f"{place}: column {name!r} is there twice; keep one")
        if name not in known and not (numbered and re.fullmatch(f"{numbered}[1-9][0-9]*", name)):
            examples = [*known, f"{numbered}2"] if numbered else known
            raise PoshgridError(f"{place}: unknown column {name!r}{did_you_mean(name, examples)}")
    missing = [name for name in required if name not in found]
    if missing:
        raise PoshgridError(
            f"{place}: no column {', '.join(missing)}; found {', '.join(found)}; "
            "write the columns' names in the first line"
        )
