"""Sheets of sentences as CSV: written for spreadsheets, Label Studio and doccano, and read back."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from poshgrid.errors import PoshgridError
from poshgrid.files import write_text
from poshgrid.tables.formats import guarded, unguarded

COLUMNS = (
    "number", "sheet", "sent_id", "source", "document", "text", "words", "label", "note",
)  # fmt: skip
"""Columns of ``{filter}.{kind}.csv``: number on the sheet from 1, name of the sheet, row in the
corpus, source and document of the sentence, its text, and the words that made the filter match;
``label`` and ``note`` are empty for the person."""

_NEEDED = ("number", "sheet", "sent_id", "text", "label")  # columns that read() needs
Kind = Literal["leakage", "precision"]
KINDS: tuple[Kind, ...] = ("leakage", "precision")
"""Leakage: a sample of sentences that a filter left in. Precision: of those that it removed."""

BYTE_ORDER_MARK = "\ufeff"  # without it Excel does not recognise UTF-8


def sheet_name(word: str, kind: Kind) -> str:
    """Return the name of a filter's sheet: ``binding.leakage``."""
    return f"{word}.{kind}"


@dataclass(frozen=True)
class Row:
    """A sentence of a sheet; ``words`` are those that made the filter match."""

    sent_id: int
    source: str
    document: str
    text: str
    words: str = ""


class Entry(BaseModel):
    """A line of a sheet that a person has filled in."""

    model_config = ConfigDict(frozen=True)

    number: int
    sheet: str
    sent_id: int
    text: str
    label: Literal["", "yes", "no", "unsure"]  # "": not labelled yet
    note: str = ""

    @field_validator("label", mode="before")
    @classmethod
    def _lower(cls, value: str | None) -> str | None:
        return value and value.strip().lower()

    @field_validator("text", "note")
    @classmethod
    def _unguarded(cls, value: str) -> str:
        return unguarded(value)


def write(name: str, rows: Iterable[Row], path: Path) -> None:
    """Write a sheet for a spreadsheet: UTF-8 with a byte order mark, every cell in quotes.

    Args:
        name: of the sheet, e.g. ``"binding.leakage"``.
        rows: its sentences, in order.
        path: file to write.
    """
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for number, row in enumerate(rows, start=1):
        texts = map(guarded, (row.source, row.document, row.text, row.words))
        writer.writerow([number, name, row.sent_id, *texts, "", ""])
    write_text(path, BYTE_ORDER_MARK + stream.getvalue())


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

    It accepts further columns; commas, semicolons or tabs between cells; all line endings; capital
    letters and spaces in labels; UTF-8, UTF-16 and the Western encoding of older Excel.

    Raises:
        PoshgridError: the file does not exist or is not a sheet of an audit, a label is unknown, or
            a number is invalid or occurs twice.
    """
    try:
        text = _decoded(path.read_bytes())
        separator = max(",;\t", key=text.split("\n", 1)[0].count)
        reader = csv.DictReader(
            io.StringIO(text, newline=""), delimiter=separator, strict=True, restkey="further"
        )
        reader.fieldnames = [name.strip().lower() for name in reader.fieldnames or ()]
        if wrong := [name for name in _NEEDED if reader.fieldnames.count(name) != 1]:
            raise ValueError(f"not one column {wrong[0]!r}")
        entries = [Entry.model_validate(row) for row in reader if any(map(_filled, row.values()))]
    except OSError as error:
        raise PoshgridError(f"{path}: cannot read: {error.strerror or error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        raise PoshgridError(
            f"{path}: {first['loc'][0]} {first['input']!r}: {first['msg']}; correct the sheet"
        ) from error
    except (csv.Error, ValueError) as error:
        raise PoshgridError(
            f"{path}: {error}; give a sheet that the stage audit wrote, saved as 'CSV UTF-8'"
        ) from error
    numbers = [entry.number for entry in entries]
    if repeated := sorted({number for number in numbers if numbers.count(number) > 1}):
        raise PoshgridError(f"{path}: number {repeated[0]} is there twice; remove one of the rows")
    return sorted(entries, key=lambda entry: entry.number)


def _filled(cell: object) -> bool:
    return isinstance(cell, str) and bool(cell.strip())


def _decoded(data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", errors="replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:  # labels and numbers are ASCII: only characters in texts may change
        return data.decode("cp1252", errors="replace")
