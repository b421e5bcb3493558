"""Pairs on one line each, separated by a tab, a phenomenon in a file: SCaMP.

Source of the format: McCoy and Griffiths 2025, plausible and implausible; no header, the good
member first.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from poshgrid.benchmark.reading import pairfile
from poshgrid.benchmark.reading.pairfile import Pair, fault
from poshgrid.errors import PoshgridError

if TYPE_CHECKING:
    from poshgrid.benchmark.schema import Context, Loaded

_MARKS = (".", "?", "!", '"', "'")
"""What a sentence ends with, and a name of a column does not."""
_NAMES = {
    name: member
    for member in ("good", "bad")
    for name in (member, f"sentence_{member}", f"{member}_sentence")
}


class Options(pairfile.PairOptions):
    """Options of the reader ``scamp``."""

    suffix: str = Field(".tsv", min_length=1, description="Ending of the files of a folder")


def files(path: Path, options: Options) -> list[Path]:
    """Return the suite's files and the table of categories."""
    return pairfile.watched(path, options, (options.suffix,))


def load(path: Path | None, options: Options, context: Context | None = None) -> Loaded:
    """Read the pairs; see :func:`poshgrid.benchmark.reading.pairfile.load`.

    A first line with the fields ``good`` and ``bad`` (or ``sentence_good``, ``bad_sentence`` ...)
    is a header: it says which columns hold the members. Quotation marks are text.

    Raises:
        PoshgridError: as there, and a header with only one of the two columns.
    """
    return pairfile.load(path, options, (options.suffix,), _pairs)


def _pairs(file: Path) -> Iterator[Pair]:
    from poshgrid.corpora import textfile

    rows = [
        (number, line.rstrip("\r\n").split("\t"))
        for number, line in enumerate(textfile.lines(file), 1)
        if line.strip(" \r\n")
    ]
    if not rows:
        return
    columns = ["good", "bad"]
    first, second = rows[0][1], rows[1][1] if len(rows) > 1 else [""]
    named = [_NAMES.get(field.strip().casefold().replace(" ", "_"), "") for field in first]
    # Names that are not ours, above a line of sentences, would be scored as a pair
    sentences = [all(field.strip().endswith(_MARKS) for field in row) for row in (first, second)]
    if any(named) or sentences == [False, True]:
        columns, rows = named, rows[1:]
    if not columns.count("good") == columns.count("bad") == 1:
        raise PoshgridError(f"{file}: line 1: a header; call one column good and one bad")
    for number, fields in rows:
        if len(fields) != len(columns):
            reason = f"not {len(columns)} columns separated by tabs: {len(fields)} found"
            raise fault(file, number, reason)
        good, bad = fields[columns.index("good")], fields[columns.index("bad")]
        yield Pair(good, bad, (number, number))
