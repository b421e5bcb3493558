"""Subtitles in SubRip format: a number, a time, lines of text, an empty line."""

from collections.abc import Iterator
from pathlib import Path

from poshgrid.core import plugins
from poshgrid.corpora.report import Report
from poshgrid.corpora.textfile import lines, listed_below

SPLIT = True


class Options(plugins.Options):
    """This reader takes none."""


def files(path: Path, options: Options) -> list[Path]:
    """Return the files that are read."""
    return listed_below(path, ".srt")


def read(path: Path, options: Options, report: Report) -> Iterator[tuple[str, str]]:
    """Yield (film, line); sounds in brackets are dropped."""
    for file in files(path, options):
        for line in lines(file):
            text = line.strip()
            if not text or text.isdigit() or "-->" in text:
                continue
            report.lines += 1
            if text.startswith("[") and text.endswith("]"):
                report.drop("sound", text)
            else:
                yield file.stem, text
