"""Books of Project Gutenberg: plain text between the licence's marks, paragraphs unwrapped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from poshgrid import plugins
from poshgrid.corpora.report import Report
from poshgrid.corpora.textfile import lines, listed
from poshgrid.errors import PoshgridError

SPLIT = True

_START = re.compile(r"\*{2,}\s*START OF (?:THE |THIS )?PROJECT GUTENBERG|\*END\*\s*THE SMALL PRINT")
_END = re.compile(r"\*{2,}\s*END OF (?:THE |THIS )?PROJECT GUTENBERG|^End of (?:the )?Project Gut")
_CHAPTER = re.compile(
    r"(?:chapter|book|part|volume|canto|stave|letter)\s+(?:[ivxlcdm]+|\d+|the \w+)\b(?!\s+[a-z])",
    re.IGNORECASE,
)
_NOTE = re.compile(r"\[(?:Illustration|Footnote|Transcriber)[^\]]*\]", re.IGNORECASE)
_EMPHASIS = re.compile(r"(?<!\w)_([^_]+)_(?!\w)")
_CREDIT = re.compile(r"(?:Produced|Transcribed|Prepared) by ", re.IGNORECASE)


class Options(plugins.Options):
    """This reader takes none."""


def files(path: Path, options: Options) -> list[Path]:
    """Return the books: one file, or all ``.txt`` files of a folder."""
    return listed(path, ".txt")


def read(path: Path, options: Options, report: Report) -> Iterator[tuple[str, str]]:
    """Yield (chapter, paragraph). Headings, title pages and rows of asterisks are dropped."""
    for file in files(path, options):
        chapter = 0
        for paragraph in _paragraphs(_body(file)):
            report.lines += 1
            text = _EMPHASIS.sub(r"\1", _NOTE.sub(" ", paragraph)).strip()
            if _CHAPTER.match(text) and len(text) < 100:
                chapter += 1
                report.drop("heading")
            elif not any(c.islower() for c in text):
                report.drop("heading")
            elif _CREDIT.match(text):
                report.drop("credits")
            else:
                yield f"{file.stem}-{chapter:03d}", text


def _body(file: Path) -> Iterator[str]:
    """Yield the lines between the licence's marks.

    Raises:
        PoshgridError: there is no opening mark, so that a licence might pass for a book.
    """
    started = False
    for line in lines(file):
        if not started:
            started = _START.search(line) is not None
        elif _END.search(line):
            return
        else:
            yield line
    if not started:
        raise PoshgridError(
            f"{file}: no line '*** START OF THE PROJECT GUTENBERG EBOOK'; add one before the text"
        )


def _paragraphs(body: Iterator[str]) -> Iterator[str]:
    """Yield what stands between empty lines, in one line each."""
    block: list[str] = []
    for line in body:
        if line.strip():
            block.append(line.strip())
        elif block:
            yield " ".join(block)
            block = []
    if block:
        yield " ".join(block)
