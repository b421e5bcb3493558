"""Pairs on two lines each, a phenomenon in a file: Zorro, and POSH-BENCH as it was published.

Source of the format: Huebner et al. 2021, "BabyBERTa"; the bad member stands first.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from poshgrid.benchmark.reading import pairfile
from poshgrid.benchmark.reading.pairfile import Pair
from poshgrid.errors import PoshgridError

if TYPE_CHECKING:
    from poshgrid.benchmark.schema import Context, Loaded


class Options(pairfile.PairOptions):
    """Options of the reader ``lines``."""

    suffix: str = Field(".txt", min_length=1, description="Ending of the files of a folder")
    first: Literal["bad", "good"] = Field("bad", description="Member on the first line of a pair")


def files(path: Path, options: Options) -> list[Path]:
    """Return the suite's files and the table of categories."""
    return pairfile.watched(path, options, (options.suffix,))


def load(path: Path | None, options: Options, context: Context | None = None) -> Loaded:
    """Read the pairs; see :func:`poshgrid.benchmark.reading.pairfile.load`.

    Raises:
        PoshgridError: as there, and a file with an odd number of lines: a line that is missing
            would shift all pairs after it, so it is never passed over.
    """
    return pairfile.load(path, options, (options.suffix,), lambda file: _pairs(file, options))


def _pairs(file: Path, options: Options) -> Iterator[Pair]:
    from poshgrid.corpora import textfile

    found = [line.rstrip("\r\n") for line in textfile.lines(file)]
    while found and not found[-1].strip():  # empty lines at the end mean nothing
        found.pop()
    if len(found) % 2:
        raise PoshgridError(
            f"{file}: line {len(found):,}: an odd number of lines, so one member of a pair is "
            "missing; compare the file with the published one"
        )
    for line in range(1, len(found), 2):
        one, two = found[line - 1], found[line]
        if options.first == "good":
            yield Pair(one, two, (line, line + 1))
        else:
            yield Pair(two, one, (line + 1, line))
