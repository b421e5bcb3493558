"""Pairs on one line each, separated by a tab, a phenomenon in a file: SCaMP.

Source of the format: McCoy and Griffiths 2025, plausible and implausible; no header, the good
member first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field, field_validator

from poshgrid.benchmark.reading import pairfile
from poshgrid.benchmark.reading.pairfile import Malformed, Pair
from poshgrid.errors import PoshgridError

if TYPE_CHECKING:
    from poshgrid.benchmark.context import Context, Loaded

_NAMES = {
    name: member
    for member in ("good", "bad")
    for name in (member, f"sentence_{member}", f"{member}_sentence")
}
_NAME = re.compile(r"[^\W\d][\w-]*")
_MARKS = (".", "?", "!", '"', "'")
"""What a sentence ends with, and a name of a column does not."""
_GAP = re.compile(r"[\s-]+")


class Options(pairfile.PairOptions):
    """Options of the reader ``scamp``."""

    suffix: str = Field(".tsv", min_length=1, description="Ending of the files of a folder")
    columns: list[str] = Field(
        ["good", "bad"], description="Columns of a file without a header; others are passed over"
    )

    @field_validator("columns")
    @classmethod
    def _both(cls, value: list[str]) -> list[str]:
        if value.count("good") != 1 or value.count("bad") != 1:
            raise ValueError("name good and bad once each, e.g. [good, bad]")
        return value


def files(path: Path, options: Options) -> list[Path]:
    """Return the files of the phenomena that are asked for, and the table of categories."""
    return pairfile.watched(path, options, (options.suffix,))


def load(path: Path | None, options: Options, context: Context | None = None) -> Loaded:
    """Read the pairs; see :func:`poshgrid.benchmark.reading.pairfile.load`.

    A first line with the fields ``good`` and ``bad`` (or ``sentence_good``, ``bad_sentence`` ...)
    is a header and goes before the option ``columns``. Quotation marks are text.

    Raises:
        PoshgridError: as there, and a header with only one of the two columns, or of other names.
    """
    return pairfile.load(path, options, (options.suffix,), lambda file: _pairs(file, options))


def _pairs(file: Path, options: Options) -> Iterator[Pair | Malformed]:
    from poshgrid.corpora import textfile

    rows = [
        (number, line.rstrip("\r\n").split("\t"))
        for number, line in enumerate(textfile.lines(file), 1)
        if line.strip(" \r\n")
    ]
    columns = options.columns
    if rows and (
        header := _header([fields for _, fields in rows[:2]], f"{file}: line {rows[0][0]}")
    ):
        columns, rows = header, rows[1:]
    for number, fields in rows:
        if len(fields) != len(columns):
            yield Malformed(
                number, f"not {len(columns)} columns separated by tabs: {len(fields)} found"
            )
        else:
            good, bad = fields[columns.index("good")], fields[columns.index("bad")]
            yield Pair(good, bad, (number, number))


def _header(lines: list[list[str]], place: str) -> list[str]:
    """Return the columns that a file's first line names, or none if it is no header.

    Names that are not ours, above a line of sentences, would be scored as a pair: they are refused.
    """
    first, *second = ([field.strip() for field in fields] for fields in lines)
    named = [_NAMES.get(_GAP.sub("_", field.casefold()), "") for field in first]
    identifiers = [all(map(_NAME.fullmatch, fields)) for fields in (first, *second)]
    sentences = [all(field.endswith(_MARKS) for field in fields) for fields in second]
    names = identifiers == [True, False] or (
        sentences == [True] and not any(field.endswith(_MARKS) for field in first)
    )
    if names and not any(named):
        raise PoshgridError(
            f"{place}: a header, as it seems ({', '.join(first)}); call its columns good and bad, "
            "or take it out and give the option columns"
        )
    if not any(named):
        return []
    if named.count("good") != 1 or named.count("bad") != 1:
        raise PoshgridError(
            f"{place}: the header must name one column good and one column bad; found "
            f"{', '.join(first)}"
        )
    return named
