"""Pairs on one line each, separated by a tab, one phenomenon per file: SCaMP.

Source of the format: McCoy and Griffiths 2025, plausible and implausible; no header, the good
member first. Quotation marks are text.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from poshgrid.benchmark.reading import pairfile
from poshgrid.benchmark.reading.pairfile import Pair, fault


class Options(pairfile.PairOptions):
    """Options of the reader ``scamp``: those of all files of pairs."""


def _pairs(file: Path, options: Options) -> Iterator[Pair]:
    """Yield the pairs of a file; a first line ``good``, tab, ``bad`` is a header."""
    from poshgrid.corpora import textfile

    for number, line in enumerate(textfile.lines(file), 1):
        fields = line.rstrip("\r\n").split("\t")
        if not any(fields) or (number == 1 and [f.casefold() for f in fields] == ["good", "bad"]):
            continue
        if len(fields) != 2:
            raise fault(
                file,
                number,
                f"{len(fields)} fields, not a good sentence, a tab, a bad one",
            )
        yield Pair(fields[0], fields[1], (number, number))


files, load = pairfile.reader((".tsv", ".tsv.gz"), _pairs)
