"""Pairs on one line each, separated by a tab, a phenomenon in a file: SCaMP.

Source of the format: McCoy and Griffiths 2025, plausible and implausible; no header, the good
member first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from poshgrid.benchmark.reading import pairfile
from poshgrid.benchmark.reading.pairfile import Pair, fault
from poshgrid.errors import PoshgridError

if TYPE_CHECKING:
    from poshgrid.benchmark.context import Context, Loaded

_NAMES = {
    name: member
    for member in ("good", "bad")
    for name in (member, f"sentence_{member}", f"{member}_sentence")
}
_MARKS = (".", "?", "!", '"', "'")
"""What a sentence ends with, and a name of a column does not."""
_GAP = re.compile(r"[\s-]+")


class Options(pairfile.PairOptions):
    """Options of the reader ``scamp``."""

    suffix: str = Field(".tsv", min_length=1, description="Ending of the files of a folder")


def files(path: Path, options: Options) -> list[Path]:
    """Return the files of the phenomena that are asked for, and the table of categories."""
    return pairfile.watched(path, options, (options.suffix,))


def load(path: Path | None, options: Options, context: Context | None = None) -> Loaded:
    """Read the pairs; see :func:`poshgrid.benchmark.reading.pairfile.load`.

    A first line with the fields ``good`` and ``bad`` (or ``sentence_good``, ``bad_sentence`` ...)
    is a header: it says which columns hold the members. Quotation marks are text.

    Raises:
        PoshgridError: as there, and a header with only one of the two columns, or of other names.
    """
    return pairfile.load(path, options, (options.suffix,), _pairs)


def _pairs(file: Path) -> Iterator[Pair]:
    from poshgrid.corpora import textfile

    rows = [
        (number, line.rstrip("\r\n").split("\t"))
        for number, line in enumerate(textfile.lines(file), 1)
        if line.strip(" \r\n")
    ]
    columns = ["good", "bad"]
    place = f"{file}: line {rows[0][0] if rows else 1}"
    if header := _header([fields for _, fields in rows[:2]], place):
        columns, rows = header, rows[1:]
    for number, fields in rows:
        if len(fields) != len(columns):
            raise fault(
                file,
                number,
                f"not {len(columns)} columns separated by tabs: {len(fields)} found",
            )
        good, bad = fields[columns.index("good")], fields[columns.index("bad")]
        yield Pair(good, bad, (number, number))


def _header(lines: list[list[str]], place: str) -> list[str]:
    """Return the columns that a file's first line names, or none if it is no header.

    Names that are not ours, above a line of sentences, would be scored as a pair: they are refused.
    """
    if not lines:
        return []
    first, *second = ([field.strip() for field in fields] for fields in lines)
    named = [_NAMES.get(_GAP.sub("_", field.casefold()), "") for field in first]
    if named.count("good") == named.count("bad") == 1:
        return named
    sentences = [all(field.endswith(_MARKS) for field in fields) for fields in second]
    if any(named) or (sentences == [True] and not any(f.endswith(_MARKS) for f in first)):
        raise PoshgridError(
            f"{place}: a header, as it seems ({', '.join(first)}); call one column good and one "
            "column bad, or take it out"
        )
    return []
