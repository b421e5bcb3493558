"""The Wikipedia corpora of Gulordava et al. (2018), and any in their form: train, valid, test.

A line of ``train.txt``, ``valid.txt`` and ``test.txt`` is a sentence; its words stand between
spaces, rare ones are ``<unk>``, and the last is ``<eos>``. Words stay as they are, with their
spaces. The splits are kept by a corpus with ``splits: published``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from poshgrid import plugins
from poshgrid.corpora.report import Report
from poshgrid.corpora.textfile import lines
from poshgrid.errors import PoshgridError

SPLIT = False

_NAMES = {"train": "train.txt", "dev": "valid.txt", "test": "test.txt"}
_LINES_PER_DOCUMENT = 100  # sentences are shuffled: a document says nothing


def files(path: Path, options: plugins.Options) -> list[Path]:
    """Return the three files of a folder.

    Raises:
        PoshgridError: one is missing.
    """
    found = [path / name for name in _NAMES.values()]
    if missing := [file for file in found if not file.is_file()]:
        raise PoshgridError(f"{missing[0]}: not found; put train.txt, valid.txt and test.txt there")
    return found


def read(path: Path, options: plugins.Options, report: Report) -> Iterator[tuple[str, str]]:
    """Yield (split and block of lines, sentence)."""
    for split, file in zip(_NAMES, files(path, options), strict=True):
        for number, line in enumerate(lines(file)):
            report.lines += 1
            text = line.strip().removesuffix("<eos>").strip()
            yield f"{split}-{number // _LINES_PER_DOCUMENT:06d}", text
