"""The Wikipedia corpora of Gulordava et al. (2018) and others in the same format.

A line of ``train.txt``, ``valid.txt`` and ``test.txt`` is a sentence; spaces separate its words,
rare words are ``<unk>``, and the last is ``<eos>``. Words and spaces stay as they are. A corpus
with ``splits: published`` keeps the splits.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from poshgrid.core import plugins
from poshgrid.corpora.report import Report
from poshgrid.corpora.textfile import lines, listed_below

SPLIT = False

_SPLITS = {"train": "train", "valid": "dev", "test": "test"}
_LINES_PER_DOCUMENT = 100  # sentences are shuffled, so documents have no meaning


def files(path: Path, options: plugins.Options) -> list[Path]:
    """Return ``train.txt``, ``valid.txt`` and ``test.txt`` of a folder, packed or not, or one."""
    paths = listed_below(path, ".txt", ".txt.gz")
    return [file for file in paths if file.name.split(".")[0] in _SPLITS]


def read(path: Path, options: plugins.Options, report: Report) -> Iterator[tuple[str, str]]:
    """Yield (document, sentence); a document is a block of 100 lines, named after its split."""
    for file in files(path, options):
        split = _SPLITS[file.name.split(".")[0]]
        for number, line in enumerate(lines(file)):
            report.lines += 1
            text = line.strip().removesuffix("<eos>").strip()
            yield f"{split}-{number // _LINES_PER_DOCUMENT:06d}", text
