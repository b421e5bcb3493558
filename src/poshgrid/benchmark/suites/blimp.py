"""Pairs with their description, one JSON object on a line: BLiMP and suites in its format.

Source of the format: Warstadt et al. 2020, "BLiMP". A line needs ``sentence_good`` and
``sentence_bad``; ``UID`` names the phenomenon (else the file does) and ``linguistics_term`` its
category. The other keys are passed over. A parquet table with these columns is read as well: the
Hugging Face hub keeps data sets so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poshgrid.benchmark.reading import pairfile
from poshgrid.benchmark.reading.pairfile import Pair, fault
from poshgrid.errors import PoshgridError
from poshgrid.files import foreign_table

if TYPE_CHECKING:
    from poshgrid.benchmark.schema import Context, Loaded

_SUFFIXES = (".jsonl", ".parquet")
_MEMBERS = ("sentence_good", "sentence_bad")


class Options(pairfile.PairOptions):
    """Options of the reader ``blimp``."""


def files(path: Path, options: Options) -> list[Path]:
    """Return the suite's files and the table of categories."""
    return pairfile.watched(path, options, _SUFFIXES)


def load(path: Path | None, options: Options, context: Context | None = None) -> Loaded:
    """Read the pairs; see :func:`poshgrid.benchmark.reading.pairfile.load`."""
    return pairfile.load(path, options, _SUFFIXES, _pairs)


def _pairs(file: Path) -> Iterator[Pair]:
    for number, row in _parquet(file) if file.suffix == ".parquet" else _json(file):
        if not isinstance(row, Mapping):
            raise fault(file, number, "not a JSON object")
        for name in _MEMBERS:
            if name not in row:
                raise fault(file, number, f"no key {name}")
        names = (row.get(name) or "" for name in ("UID", "linguistics_term"))
        good, bad, phenomenon, term = texts = (*(row[name] for name in _MEMBERS), *names)
        if not all(isinstance(text, str) for text in texts):
            raise fault(file, number, "a sentence, UID or linguistics_term is not a text")
        yield Pair(good, bad, (number, number), phenomenon, term)


def _json(file: Path) -> Iterator[tuple[int, Any]]:
    from poshgrid.corpora import textfile

    for number, line in enumerate(textfile.lines(file), 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (RecursionError, ValueError) as error:  # also nested too deep, a number too long
                raise fault(file, number, f"not JSON that can be read ({error})") from error


def _parquet(file: Path) -> Iterator[tuple[int, Any]]:
    table = foreign_table(file, "download it again")
    for name in _MEMBERS:
        if name not in table.columns:
            raise PoshgridError(
                f"{file}: no column {name}; found {', '.join(table.columns)}; name pairs in "
                "BLiMP's form: of a study's own, `poshgrid export items` writes them to pairs/"
            )
    yield from enumerate(table.iter_rows(named=True), 1)
