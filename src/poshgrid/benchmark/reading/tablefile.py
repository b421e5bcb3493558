"""Rows of tables that others have made: JSON lines, CSV, TSV or parquet, whatever their columns.

A format is a pydantic class: :meth:`Row.read_as` checks a row, and names the wrong cell. Texts of
items are cleaned like the corpora (:func:`poshgrid.corpora.clean.clean`), so that a model sees the
quotes and accents that it was trained on.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

import pydantic_core
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError

from poshgrid.core.errors import PoshgridError, did_you_mean, invalid
from poshgrid.corpora import textfile
from poshgrid.corpora.clean import clean

if TYPE_CHECKING:
    import polars as pl

ENDINGS = (".jsonl", ".jsonl.gz", ".parquet", ".csv", ".tsv")
Model = TypeVar("Model", bound=BaseModel)


def fault(file: Path, line: int, reason: str) -> PoshgridError:
    """Return the error for a line that is not as it should be."""
    return PoshgridError(f"{file}: line {line:,}: {reason}; correct the line or remove it")


class Row(NamedTuple):
    """A row as written in its file."""

    file: Path
    line: int  # in a parquet file: number of the row
    cells: dict[str, Any]  # in the order of the columns

    def fault(self, reason: str) -> PoshgridError:
        """Return an error that names the row."""
        return fault(self.file, self.line, reason)

    def read_as(self, kind: type[Model]) -> Model:
        """Return the row as a model; an empty cell gets the model's default.

        Raises:
            PoshgridError: a cell is missing, unknown, or has a value that the model does not allow.
        """
        try:
            return kind.model_validate({
                name: cell
                for name, cell in self.cells.items()
                if not isinstance(cell, str) or cell.strip()
            })  # fmt: skip
        except ValidationError as error:
            first, reason = error.errors()[0], invalid(error)
            if first["type"] == "extra_forbidden":
                name = str(first["loc"][0])
                reason = f"{name}: unknown column{did_you_mean(name, kind.model_fields)}"
            raise self.fault(reason) from error


def table(path: Path | None) -> list[Row]:
    """Return the rows of a suite that is one file.

    Raises:
        PoshgridError: no file is given, it is missing, or it has no row; or as :func:`rows`.
    """
    if path is None or not path.is_file():
        raise PoshgridError(
            f"{path}: no such file; give a table; in a configuration (suites[].path) its path "
            "begins in the data folder"
        )
    if not (read := list(rows(path))):
        raise PoshgridError(f"{path}: no rows; give a header line and, below it, the rows")
    return read


def watched(path: Path | None, options: object) -> list[Path]:
    """Return the file of a suite if it exists; :func:`table` raises if it does not."""
    return [path] if path and path.is_file() else []


def rows(file: Path) -> Iterator[Row]:
    """Yield the rows of a table; lines without any text are skipped.

    Args:
        file: its ending says what it is; a table with an unknown ending has commas.

    Raises:
        PoshgridError: the file is not UTF-8 or broken, a line is no JSON object, a row has more or
            fewer cells than the header, or two columns have one name.
    """
    from poshgrid.core.files import foreign_table

    ending = file.name.removesuffix(".gz").rpartition(".")[2]
    if ending == "parquet":
        table = foreign_table(file, "download it again").iter_rows(named=True)
        yield from (Row(file, number, cells) for number, cells in enumerate(table, 1))
    elif ending == "jsonl":
        for number, line in enumerate(textfile.lines(file), 1):
            if line.strip():
                yield Row(file, number, _json(file, number, line))
    else:
        yield from cells(file, "\t" if ending == "tsv" else ",")


def cells(file: Path, delimiter: str, *, lower: bool = False) -> Iterator[Row]:
    """Yield the rows of a table in text, as :func:`rows` does.

    Args:
        file: the table.
        delimiter: between its cells.
        lower: read the columns' names in lower case.
    """
    table = csv.DictReader(textfile.lines(file), delimiter=delimiter, strict=True)
    try:
        names = table.fieldnames = [name.strip() for name in table.fieldnames or ()]
        if lower:
            names = table.fieldnames = [name.lower() for name in names]
        if delimiter == "," and ";" in "".join(names):
            what = "semicolons between columns; save the table with commas"
            raise PoshgridError(f"{file}: line 1: {what}")
        if twice := [name for name in names if names.count(name) > 1]:
            raise fault(file, 1, f"column {twice[0]!r} is there twice")
        for row in table:
            if None in row or None in row.values():
                raise fault(
                    file, table.line_num, "not the cells of the header; put a cell that holds a "
                    "comma between double quotes"
                )  # fmt: skip
            if any(cell.strip() for cell in row.values()):
                yield Row(file, table.line_num, row)
    except csv.Error as error:
        raise fault(file, table.reader.line_num, f"broken table ({error})") from error


def _json(file: Path, number: int, line: str) -> dict[str, Any]:
    try:
        row = pydantic_core.from_json(line)
    except ValueError as error:
        raise fault(file, number, f"the line: Invalid JSON: {error}") from error
    if not isinstance(row, dict):
        raise fault(file, number, "the line: not an object, {...}")
    return row


# ---- items -----------------------------------------------------------------------------------


def _written(text: str) -> str:
    if not (cleaned := clean(text)):
        raise ValueError("is empty")
    return cleaned


def _parts(cell: object) -> object:
    """Split a cell at ``|`` into its parts, each once; what is not text is returned unchanged."""
    if not isinstance(cell, str):
        return cell
    return list(dict.fromkeys(text for part in clean(cell).split("|") if (text := part.strip())))


Text = Annotated[str, AfterValidator(_written)]
Parts = Annotated[list[str], BeforeValidator(_parts)]


class Item(BaseModel):
    """The columns that every table of choices and completions may have."""

    model_config = ConfigDict(extra="forbid")

    item_id: Text
    category: Text
    phenomenon: Text
    block: Annotated[str, AfterValidator(clean)] = ""
    tags: Parts = []


def check(path: Path | None, items: pl.DataFrame) -> None:
    """Raise if an id occurs twice, blocks of a category differ in size, or a block mixes phenomena.

    Numbers of passed blocks, and their norms, are meaningful only if all blocks have one size.

    Args:
        path: the file, for the message.
        items: ``item_id``, ``category``, ``phenomenon`` and ``block`` ("" without a block); of
            choices also ``option``.

    Raises:
        PoshgridError: an item occurs twice; blocks of a category differ in size, a block has items
            of two phenomena, or only some items of a category have a block.
    """
    import polars as pl

    twice = items.select(pl.col("^(item_id|option)$")).is_duplicated()
    if twice.any():
        item = items["item_id"].filter(twice)[0]
        raise PoshgridError(f"{path}: item_id {item!r} is there twice; give each item its own")
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
