"""TinyStories (Eldan & Li 2023): short stories in the words of a small child.

The stories are published as text with ``<|endoftext|>`` between them and as parquet (column
``text``). A story is a document; each of its paragraphs is a separate text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from poshgrid.core import plugins
from poshgrid.core.files import table_batches
from poshgrid.corpora.report import Report
from poshgrid.corpora.textfile import label, lines, listed_below

SPLIT = True
ENGLISH = True

_SEPARATOR = "<|endoftext|>"
_BATCH = 1_000  # rows of a parquet file read at a time
# Some stories were once decoded as Windows-1252, so that each quote became three characters.
_MANGLED = {
    "â€œ": "“", "â€\x9d": "”", "â€": "”", "â€™": "’", "â€˜": "‘", "â€¦": "…",
    "â€”": "—", "â€“": "–",
}  # fmt: skip
_MANGLED_ANY = re.compile("|".join(map(re.escape, sorted(_MANGLED, key=len, reverse=True))))


def files(path: Path, options: plugins.Options) -> list[Path]:
    """Return the stories: a file, or all ``.txt``, ``.txt.gz`` and ``.parquet`` below a folder."""
    return listed_below(path, ".txt", ".txt.gz", ".parquet")


def read(path: Path, options: plugins.Options, report: Report) -> Iterator[tuple[str, str]]:
    """Yield (story, paragraph). Stories without a word are counted and left out.

    Raises:
        PoshgridError: a file is broken, or its table has no column ``text``.
    """
    for file in files(path, options):
        name, number, empty = label(file, path), 0, True
        stories = _parquet if file.suffix == ".parquet" else _text
        for line in stories(file):
            if line is None:  # the end of a story
                if empty:
                    report.lines += 1
                    report.drop("empty story")
                number, empty = number + 1, True
                continue
            if text := unmangled(line.strip()):
                report.lines += 1
                empty = False
                yield f"{name}-{number:07d}", text


def unmangled(text: str) -> str:
    """Return a text in which quotes and dashes of three wrong characters are corrected.

    ``"â€œHi,â€ he said."`` becomes ``"“Hi,” he said."``.
    """
    return _MANGLED_ANY.sub(lambda m: _MANGLED[m[0]], text) if "â€" in text else text


def _text(file: Path) -> Iterator[str | None]:
    """Yield paragraphs, and ``None`` between stories, also within a line."""
    for line in lines(file):
        first, *others = line.split(_SEPARATOR)
        yield first
        for other in others:
            yield None
            yield other


def _parquet(file: Path) -> Iterator[str | None]:
    """Yield paragraphs, and ``None`` after each story."""
    import polars as pl

    for table in table_batches(file, {"text": pl.String}, size=_BATCH):
        for story in table["text"]:
            yield from story.splitlines()
            yield None
