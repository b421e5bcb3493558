"""Sheets of sentences as CSV: written for spreadsheets, Label Studio and doccano, and read back."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import polars as pl
from pydantic import BaseModel, ConfigDict, field_validator

from poshgrid.benchmark.reading import tablefile
from poshgrid.core import formats
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import Schema, write_text
from poshgrid.corpora import textfile

ROWS: Schema = {
    "sent_id": pl.UInt32,  # row of the corpus's sentences
    "source": pl.String,
    "document": pl.String,
    "text": pl.String,
    "words": pl.String,  # those that made the filter match
}
"""The sentences of a sheet. ``{filter}.{kind}.csv`` also has: ``number`` on the sheet, from 1;
``sheet``, its name; ``label`` and ``note``, which are empty for the person."""
KINDS = ("leakage", "precision")
"""Leakage: a sample of sentences that a filter left in. Precision: of those that it removed."""


class Entry(BaseModel):
    """A line of a sheet that a person has filled in."""

    model_config = ConfigDict(frozen=True)

    number: int
    sheet: str
    sent_id: int
    text: str
    label: Literal["", "yes", "no", "unsure"] = ""  # "": not labelled yet
    note: str = ""

    @field_validator("label", mode="before")
    @classmethod
    def _lower(cls, value: str) -> str:
        return value.strip().lower()

    @field_validator("text", "note")
    @classmethod
    def _unguarded(cls, value: str) -> str:
        return formats.unguarded(value)


def write(name: str, rows: pl.DataFrame, path: Path) -> None:
    """Write a sheet for a spreadsheet, which recognises UTF-8 by its byte order mark.

    Args:
        name: of the sheet, e.g. ``"binding.leakage"``.
        rows: its sentences (``ROWS``), in order.
        path: file to write.
    """
    sheet = rows.with_row_index("number", 1).select(
        "number", pl.lit(name).alias("sheet"), *ROWS, label=pl.lit(""), note=pl.lit("")
    )
    write_text(path, "\ufeff" + formats.csv(sheet))


def digest(sentences: Iterable[tuple[int, int, str]]) -> str:
    """Return a digest of a sheet's sentences, to check that a sheet has the drawn sentences.

    It uses only unaccented letters and digits, because spreadsheets may change other characters.

    Args:
        sentences: (number, sent_id, text) of each line, in any order.
    """
    text = "\n".join(
        f"{number} {sent_id} {re.sub('[^0-9a-z]', '', sentence.lower())}"
        for number, sent_id, sentence in sorted(sentences)
    )
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read(path: Path) -> list[Entry]:
    """Read a sheet that a person has filled in, sorted by number.

    It accepts further columns; commas, semicolons or tabs between cells; capital letters in names
    of columns; capital letters and spaces in labels.

    Raises:
        PoshgridError: the file does not exist or is not a sheet of an audit, it has no column
            ``label``, a label is unknown, or a number is invalid or occurs twice.
    """
    if not path.is_file():
        raise PoshgridError(f"{path}: cannot read: no such file; give a sheet of the stage audit")
    separator = max(",;\t", key=next(textfile.lines(path)).count)
    rows = list(tablefile.cells(path, separator, lower=True))
    if rows and "label" not in rows[0].cells:
        raise PoshgridError(f"{path}: line 1: no column 'label'; add it, or give the whole sheet")
    entries = sorted((row.read_as(Entry) for row in rows), key=lambda entry: entry.number)
    numbers = [entry.number for entry in entries]
    if len(set(numbers)) < len(numbers):
        raise PoshgridError(f"{path}: a number is there twice; remove one of the rows")
    return entries
