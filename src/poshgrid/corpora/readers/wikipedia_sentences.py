"""A table of Wikipedia sentences, one a row, tokenised with spaces around punctuation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pydantic import Field

from poshgrid import plugins
from poshgrid.corpora.joining import detokenise
from poshgrid.corpora.listing import listed
from poshgrid.corpora.report import Report
from poshgrid.corpora.textfile import rows

SPLIT = False

_ROWS = 100  # kept together as a document
_FORMULA = re.compile(r"formula_\d+|\\[a-z]+\{")


class Options(plugins.Options):
    """Where the table holds sentences."""

    column: str = Field("text", description="Column of the sentences")


def files(path: Path, options: Options) -> list[Path]:
    """Return the tables: one ``.csv`` file, or all of a folder."""
    return listed(path, ".csv")


def read(path: Path, options: Options, report: Report) -> Iterator[tuple[str, str]]:
    """Yield (block of rows, sentence)."""
    for file in files(path, options):
        for number, row in enumerate(rows(file, [options.column])):
            report.lines += 1
            text = row[options.column].strip()
            if _FORMULA.search(text):
                report.drop("formula", text)
            elif not text.rstrip("\"' )”’").endswith((".", "?", "!")):
                report.drop("no final punctuation", text)
            elif text.startswith((",", ";", ":")):
                report.drop("beginning lost", text)
            else:
                yield f"{file.stem}-{number // _ROWS:06d}", detokenise(text)
