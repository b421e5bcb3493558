"""Write tables as CSV that is safe to open in a spreadsheet."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from poshgrid.core import files


def write(rows: pl.DataFrame, folder: Path, name: str, schema: files.Schema) -> None:
    """Write a table of results as {name}.parquet and .csv.

    Args:
        rows: the table.
        folder: folder for the files.
        name: name of the files, without an ending.
        schema: the columns that the table must have.

    Raises:
        PoshgridError: the table does not have these columns.
    """
    files.write_table(rows, folder / f"{name}.parquet", schema)
    files.write_text(folder / f"{name}.csv", csv(rows, places=6))


# Text that a spreadsheet would compute, also in full-width forms; "CSV Injection", OWASP. Leading
# apostrophes are included so that unguarded(guarded(text)) is always the text.
_FORMULA = re.compile("'*(?:[\t\r\n]|[ \u00a0]*[=+\\-@＝＋－＠])")
_DIGITS = r"\d+(\.\d+)?(e[+-]?\d+)?"
# Numbers in a column of texts are harmless, also with an interval behind them
_NUMBER = rf"^[+-]?{_DIGITS}( \[[+−-]?{_DIGITS}, [+−-]?{_DIGITS}\])?$"


def guarded(text: str) -> str:
    """Return a text that no spreadsheet reads as a formula: ``=+-@`` get an apostrophe."""
    return f"'{text}" if _FORMULA.match(text) else text


def unguarded(text: str) -> str:
    """Undo :func:`guarded`."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def csv(frame: pl.DataFrame, places: int | None = None) -> str:
    """Return a table as CSV in which no cell and no title is a formula.

    Args:
        frame: the table.
        places: decimals of its numbers; default: all.
    """
    safe = pl.col(pl.String).str.replace(f"^(?:{_FORMULA.pattern})", "'$0")
    numeric = pl.col(pl.String).str.contains(_NUMBER)
    words = frame.select(pl.when(numeric).then(pl.col(pl.String)).otherwise(safe))
    frame = frame.with_columns(words.get_columns()).rename(guarded)
    return frame.write_csv(float_precision=places)
