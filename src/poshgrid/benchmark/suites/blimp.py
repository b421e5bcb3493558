"""Pairs with their description, one JSON object on a line: BLiMP and suites in its format.

Source of the format: Warstadt et al. 2020, "BLiMP". A line needs ``sentence_good`` and
``sentence_bad``; ``UID`` names the phenomenon (else the file does) and ``linguistics_term`` its
category. The other keys are passed over. A parquet table with these columns is read as well: the
Hugging Face hub keeps data sets so.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from poshgrid.benchmark.reading import pairfile
from poshgrid.benchmark.reading.pairfile import Pair, fault

CATEGORIES = {"s-selection": "argument_structure"}
"""A term of the files -> the category of BLiMP's Table 1 that its phenomena are counted in."""


class Options(pairfile.PairOptions):
    """The reader ``blimp`` takes the options of all files of pairs."""


class _Row(BaseModel):
    sentence_good: str
    sentence_bad: str
    UID: str | None = None
    linguistics_term: str | None = None


def _pairs(file: Path, options: Options) -> Iterator[Pair]:
    for number, text in _rows(file):
        try:
            read = _Row.model_validate_json if isinstance(text, str) else _Row.model_validate
            row = read(text)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "the line"
            raise fault(file, number, f"{place}: {first['msg']}") from error
        texts = row.sentence_good, row.sentence_bad
        term = row.linguistics_term or ""
        yield Pair(*texts, (number, number), row.UID or "", CATEGORIES.get(term, term))


def _rows(file: Path) -> Iterator[tuple[int, Any]]:
    from poshgrid.corpora import textfile
    from poshgrid.files import foreign_table

    if file.suffix == ".parquet":
        yield from enumerate(foreign_table(file, "download it again").iter_rows(named=True), 1)
    else:
        lines = enumerate(textfile.lines(file), 1)
        yield from ((number, line) for number, line in lines if line.strip())


files, load = pairfile.reader((".jsonl", ".jsonl.gz", ".parquet"), _pairs)
