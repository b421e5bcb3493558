"""A table of Wikipedia sentences, one a row, tokenised with spaces around punctuation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pydantic import Field

from poshgrid import plugins
from poshgrid.config.base import Positive
from poshgrid.corpora.joining import detokenise
from poshgrid.corpora.listing import listed
from poshgrid.corpora.report import Report
from poshgrid.corpora.textfile import rows

SPLIT = False

_FORMULA = re.compile(r"formula_\d+|\\[a-z]+\{")


class Options(plugins.Options):
    """Where the table holds what."""

    column: str = Field("text", description="Column of the sentences")
    document_column: str | None = Field(None, description="Column of the article; none: rows")
    rows_per_document: Positive = Field(100, description="Without that column: rows kept together")


def files(path: Path, options: Options) -> list[Path]:
    """Return the tables: one ``.csv`` file, or all of a folder."""
    return listed(path, ".csv")


def read(path: Path, options: Options, report: Report) -> Iterator[tuple[str, str]]:
    """Yield (article or block of rows, sentence)."""
    columns = [name for name in (options.column, options.document_column) if name]
    for file in files(path, options):
        for number, row in enumerate(rows(file, columns)):
            report.lines += 1
            text = row[options.column].strip()
            if _FORMULA.search(text):
                report.drop("formula", text)
            elif not text.rstrip("\"' )”’").endswith((".", "?", "!")):
                report.drop("no final punctuation", text)
            elif text.startswith((",", ";", ":")):
                report.drop("beginning lost", text)
            else:
                document = (
                    row[options.document_column]
                    if options.document_column
                    else f"{number // options.rows_per_document:06d}"
                )
                yield f"{file.stem}-{document}", detokenise(text)
