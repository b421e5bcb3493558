"""Pairs in a table, or one JSON object on a line: BLiMP, suites in its format, and one's own files.

Source of the format: Warstadt et al. 2020, "BLiMP". A file ends in ``.jsonl``, ``.csv`` or ``.tsv``
(the last two with a header), or is a parquet table: the Hugging Face hub keeps data sets so.
:class:`_Row` names the columns; others are passed over.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import AliasChoices, BaseModel, Field, ValidationError

from poshgrid.benchmark.reading import pairfile
from poshgrid.benchmark.reading.pairfile import Pair, fault


class Options(pairfile.PairOptions):
    """The reader ``blimp`` takes the options of all files of pairs."""


GOOD = ("sentence_good", "good", "grammatical", "acceptable")
BAD = ("sentence_bad", "bad", "ungrammatical", "unacceptable")
_OTHERS = {names[0]: f" (or {', '.join(names[1:])})" for names in (GOOD, BAD)}


class _Row(BaseModel):
    sentence_good: str = Field(validation_alias=AliasChoices(*GOOD))
    sentence_bad: str = Field(validation_alias=AliasChoices(*BAD))
    phenomenon: str | None = Field(None, validation_alias=AliasChoices("UID", "phenomenon"))
    category: str | None = Field(
        None, validation_alias=AliasChoices("linguistics_term", "category")
    )
    item_id: str | int | None = None
    template: str | None = None
    lexical_set: str | None = None
    contrast: str | None = None


def is_table(header: list[str]) -> bool:
    """Return whether the first line of a file names columns of good and bad members."""
    return bool({*header} & {*GOOD}) and bool({*header} & {*BAD})


def _pairs(file: Path, options: Options) -> Iterator[Pair]:
    for number, text in _rows(file):
        try:
            read = _Row.model_validate_json if isinstance(text, str) else _Row.model_validate
            row = read(text)
        except ValidationError as error:
            first = error.errors()[0]
            column = ".".join(map(str, first["loc"])) or "the line"
            others = _OTHERS[column] if first["type"] == "missing" else ""
            raise fault(file, number, f"{column}: {first['msg']}{others}") from error
        yield Pair(
            row.sentence_good,
            row.sentence_bad,
            (number, number),
            row.phenomenon or "",
            row.category or "",
            "" if row.item_id is None else str(row.item_id),
            row.template or "",
            row.lexical_set or "",
            row.contrast or "",
        )


def _rows(file: Path) -> Iterator[tuple[int, Any]]:
    from poshgrid.corpora import textfile
    from poshgrid.files import foreign_table

    ending = file.name.removesuffix(".gz").rpartition(".")[2]
    if ending == "parquet":
        yield from enumerate(foreign_table(file, "download it again").iter_rows(named=True), 1)
    elif ending in ("csv", "tsv"):
        delimiter = "," if ending == "csv" else "\t"
        rows = csv.DictReader(textfile.lines(file), delimiter=delimiter, strict=True, restkey="")
        try:
            if ";" in "".join(rows.fieldnames or ()):
                raise fault(file, 1, "semicolons between columns: save the table with commas")
            for row in rows:
                if "" in row or None in row.values():
                    raise fault(file, rows.line_num, "other than the cells of the header")
                yield rows.line_num, row
        except csv.Error as error:
            raise fault(file, rows.reader.line_num, f"broken table ({error})") from error
    else:
        lines = enumerate(textfile.lines(file), 1)
        yield from ((number, line) for number, line in lines if line.strip())


files, load = pairfile.reader((".jsonl", ".jsonl.gz", ".parquet", ".csv", ".tsv"), _pairs)
