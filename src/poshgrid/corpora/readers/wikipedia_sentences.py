"""A table of Wikipedia sentences (column ``text``), tokenised with spaces around punctuation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from poshgrid.core import plugins
from poshgrid.corpora.joining import detokenise
from poshgrid.corpora.report import Report
from poshgrid.corpora.textfile import label, listed_below, rows

SPLIT = False

_ROWS = 100  # in a document
_FORMULA = re.compile(r"formula_\d+|\\[a-z]+\{")


def files(path: Path, options: plugins.Options) -> list[Path]:
    """Return the tables: one ``.csv`` file, or all below a folder."""
    return listed_below(path, ".csv", ".csv.gz")


def read(path: Path, options: plugins.Options, report: Report) -> Iterator[tuple[str, str]]:
    """Yield (block of rows, sentence)."""
    for file in files(path, options):
        name = label(file, path)
        for number, row in enumerate(rows(file, ["text"])):
            report.lines += 1
            text = row["text"].strip()
            if _FORMULA.search(text):
                report.drop("formula", text)
            elif not text.rstrip("\"' )”’").endswith((".", "?", "!")):
                report.drop("no final punctuation", text)
            elif text.startswith((",", ";", ":")):
                report.drop("beginning lost", text)
            else:
                yield f"{name}-{number // _ROWS:06d}", detokenise(text)
