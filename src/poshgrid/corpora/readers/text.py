"""Plain text of any origin, an utterance or a paragraph in a line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import Field

from poshgrid import plugins
from poshgrid.config.base import Positive
from poshgrid.corpora.listing import listed
from poshgrid.corpora.report import Report
from poshgrid.corpora.textfile import lines

SPLIT = True


class Options(plugins.Options):
    """Which files, and what separates documents in them."""

    suffix: str = Field(".txt", description="Ending of the files of a folder, e.g. .train")
    separator: str = Field("<|endoftext|>", description="A line of its own between documents")
    lines_per_document: Positive = Field(500, description="Lines kept together without it")


def files(path: Path, options: Options) -> list[Path]:
    """Return the text: one file, or all of a folder that end in the suffix."""
    return listed(path, options.suffix)


def read(path: Path, options: Options, report: Report) -> Iterator[tuple[str, str]]:
    """Yield (document, line); empty lines are passed over."""
    for file in files(path, options):
        document = length = 0
        for text in map(str.strip, lines(file, cut=True)):
            if text == options.separator or length == options.lines_per_document:
                document, length = document + 1, 0
            if text and text != options.separator:
                report.lines += 1
                length += 1
                yield f"{file.stem}-{document:06d}", text
