"""Plain text of any origin, one utterance or paragraph per line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from poshgrid.core import plugins
from poshgrid.corpora.report import Report
from poshgrid.corpora.textfile import label, lines, listed_below

SPLIT = True

_SEPARATOR = "<|endoftext|>"  # in its own line between documents
_LINES_PER_DOCUMENT = 500  # if there are no separators


def files(path: Path, options: plugins.Options) -> list[Path]:
    """Return the text: one file of any name, or all ``.txt`` and ``.txt.gz`` below a folder."""
    return listed_below(path, ".txt", ".txt.gz")


def read(path: Path, options: plugins.Options, report: Report) -> Iterator[tuple[str, str]]:
    """Yield (document, line); empty lines are skipped, ``<|endoftext|>`` separates documents."""
    for file in files(path, options):
        name, document, length = label(file, path), 0, 0
        for text in map(str.strip, lines(file)):
            if text == _SEPARATOR or length == _LINES_PER_DOCUMENT:
                document, length = document + 1, 0
            if text and text != _SEPARATOR:
                report.lines += 1
                length += 1
                yield f"{name}-{document:06d}", text
