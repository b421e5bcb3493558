"""A table of Wikipedia sentences, one a row, tokenised with spaces around punctuation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pydantic import Field

from poshgrid import plugins
from poshgrid.corpora.report import Report
from poshgrid.corpora.textfile import listed, rows

SPLIT = False

_FORMULA = re.compile(r"formula_\d+|\\[a-z]+\{")
_DASHES = re.compile(r"\s+-\s+-(?:\s+-)*\s+")
_RULES = [
    (re.compile(r"<\s*/?\s*[a-z]+\s*/?\s*>"), " "),  # tags whose characters were set apart
    (re.compile(r"\(\s*[,;]*\s*\)|\[\s*\]"), ""),  # brackets whose content was lost
    (re.compile(r"\s+([,;:.?!%°)\]}])"), r"\1"),
    (re.compile(r"([(\[{$£€#])\s+"), r"\1"),
    (re.compile(r"(?<=\w)\s+'\s+(s|t|re|ve|ll|d|m)\b"), r"'\1"),
    (re.compile(r"(?<=\w)\s+'\s+(?=\w)"), "' "),  # the boys ' books
    (re.compile(r"(?<=\w)\s+-\s+(?=\w)"), "-"),
    (re.compile(r"(?<=\w)\s+/\s+(?=\w)"), "/"),
    (re.compile(r"\b([a-z]\.[a-z])\s*\.(?=\s|$)"), r"\1."),  # u.s ., e.g .
    (re.compile(r"\.{2,}$"), "."),
    (re.compile(r"\s+"), " "),
]
_FINAL_QUOTE = re.compile(r'\s+"(\s*[.?!]?)$')
_QUOTED = re.compile(r'"\s*([^"]*?)\s*"')


class Options(plugins.Options):
    """Where the table holds what."""

    column: str = Field("text", description="Column of the sentences")
    document_column: str | None = Field(None, description="Column of the article; none: rows")
    rows_per_document: int = Field(100, gt=0, description="Without that column: rows kept together")


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
                report.drop("formula")
            elif not text.rstrip("\"' )”’").endswith((".", "?", "!")):
                report.drop("no final punctuation")
            else:
                document = (
                    row[options.document_column]
                    if options.document_column
                    else f"{number // options.rows_per_document:06d}"
                )
                yield f"{file.stem}-{document}", detokenise(text)


def detokenise(text: str) -> str:
    """Return a sentence as one would write it: ``"a test ( or two ) , yes ."`` loses its spaces."""
    text = _DASHES.sub(" - ", text)
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    # With an odd mark it is open which ones are partners: only a final one is sure to close.
    if text.count('"') % 2:
        return _FINAL_QUOTE.sub(r'"\1', text).strip()
    return _QUOTED.sub(r'"\1"', text).strip()
