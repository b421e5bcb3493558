"""The Wikipedia corpora of Gulordava et al. (2018), and any in their form: train, valid, test.

A line of ``train.txt``, ``valid.txt`` and ``test.txt`` is a sentence; its words stand between
spaces, rare ones are ``<unk>``, and the last is ``<eos>``. Words stay as they are, with their
spaces. The splits are kept by a corpus with ``splits: published``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from poshgrid import plugins
from poshgrid.corpora.listing import listed_below
from poshgrid.corpora.report import Report
from poshgrid.corpora.textfile import lines

SPLIT = False

_SPLITS = {"train": "train", "valid": "dev", "test": "test"}
_LINES_PER_DOCUMENT = 100  # sentences are shuffled: a document says nothing


def files(path: Path, options: plugins.Options) -> list[Path]:
    """Return ``train.txt``, ``valid.txt`` and ``test.txt`` of a folder, packed or not, or one."""
    paths = listed_below(path, ".txt", ".txt.gz")
    return [file for file in paths if file.name.split(".")[0] in _SPLITS]


def read(path: Path, options: plugins.Options, report: Report) -> Iterator[tuple[str, str]]:
    """Yield (split and block of lines, sentence)."""
    for file in files(path, options):
        split = _SPLITS[file.name.split(".")[0]]
        for number, line in enumerate(lines(file)):
            report.lines += 1
            text = line.strip().removesuffix("<eos>").strip()
            yield f"{split}-{number // _LINES_PER_DOCUMENT:06d}", text
