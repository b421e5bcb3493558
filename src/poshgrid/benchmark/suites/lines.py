"""Pairs on two lines each, one phenomenon per file: Zorro, and POSH-BENCH as it was published.

Source of the format: Huebner et al. 2021, "BabyBERTa"; the bad member comes first.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import Field

from poshgrid.benchmark.reading import pairfile
from poshgrid.benchmark.reading.pairfile import Pair
from poshgrid.errors import PoshgridError


class Options(pairfile.PairOptions):
    """Options of the reader ``lines``."""

    first: Literal["bad", "good"] = Field("bad", description="Member on the first line of a pair")


def _pairs(file: Path, options: Options) -> Iterator[Pair]:
    """Yield the pairs of a file; raise if a line is missing, which would shift all later pairs."""
    from poshgrid.corpora import textfile

    lines = [line.rstrip("\r\n") for line in textfile.lines(file)]
    while lines and not lines[-1].strip():  # empty lines at the end mean nothing
        lines.pop()
    if len(lines) % 2:
        raise PoshgridError(
            f"{file}: line {len(lines):,}: an odd number of lines, so one member of a pair is "
            "missing; compare the file with the published one"
        )
    for line in range(1, len(lines), 2):
        one, two = lines[line - 1], lines[line]
        if options.first == "good":
            yield Pair(one, two, (line, line + 1))
        else:
            yield Pair(two, one, (line + 1, line))


files, load = pairfile.reader((".txt", ".txt.gz"), _pairs)
