r"""The files of the BabyLM challenge, 2024 and 2025: ``childes.train``, ``simple_wiki.train`` ...

The conventions of a file, which are those of the organisers' preprocessing, depend on its name.
In all files ``= = = name = = =`` begins a document with a name.

``childes``
    A line is ``*MOT:\tan utterance.``; actions and situations are in brackets, in their own line or
    in an utterance.
``bnc_spoken``
    A sentence in a line, an empty line between recordings.
``open_subtitles``
    A sentence in a line, read as the reader ``opus`` reads it.
``switchboard``
    A dialogue act in a line, ``A:\tOkay,``.
``gutenberg``
    A paragraph is a line. Rows of ``*`` separate sections; a paragraph that begins with ``*`` is a
    note.
``simple_wiki``
    A paragraph is a line.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from poshgrid.core import plugins
from poshgrid.core.errors import check_known
from poshgrid.corpora import textfile
from poshgrid.corpora.joining import fluent, tighten
from poshgrid.corpora.readers.chat import UNINTELLIGIBLE
from poshgrid.corpora.readers.opus import LINES_PER_DOCUMENT, speeches
from poshgrid.corpora.report import Report

SPLIT = True
ENGLISH = True

_HEADING = re.compile(r"(=(?: ?=)*+)\s++(.*[^= ]) [= ]*=")  # = = = Title = = =
_NAMED = 3  # "=" before a document's name; fewer before that of a section
_SPEAKER = re.compile(r"\*([A-Z0-9]{1,7}):+\s*(.*)")
_TURN = re.compile(r"([AB]):\s+(.*)")
_BRACKETS = re.compile(r"\[[^\[\]]*\]")
_UNINTELLIGIBLE = re.compile(
    rf"(?<![\w'.]){UNINTELLIGIBLE.pattern}(?![\w'])(?!\.\w)", re.IGNORECASE
)
_ENDS = re.compile(r"[.?!][\"'”’)\]]*$")
_JOINED = 30  # largest number of lines joined to one turn

Event = tuple[str, str]
"""("text", text), ("heading", name) where a document with a name begins, or ("gap", "")."""
Convention = Callable[[Iterator[str], Report], Iterator[Event]]
"""Turns the lines of a file into events."""


def files(path: Path, options: plugins.Options) -> list[Path]:
    """Return the file, or the training files of a folder; raise if a file name is unknown."""
    paths = textfile.listed_below(path, ".train", ".train.gz", ".train.txt")
    for file in paths:
        check_known(f"{file}: rename it; no conventions for", _word(file), _CONVENTIONS)
    return paths


def _word(file: Path) -> str:
    return file.name.split(".")[0]


def read(path: Path, options: plugins.Options, report: Report) -> Iterator[tuple[str, str]]:
    """Yield (document, utterance or paragraph).

    Raises:
        PoshgridError: a file is missing, has an unknown name, or is not text in UTF-8.
    """
    for file in files(path, options):
        events = _CONVENTIONS[_word(file)](textfile.lines(file), report)
        document = length = 0
        named = False
        for kind, text in events:
            # an empty line does not end a document with a name: only the next name does
            full = kind == "gap" or length == LINES_PER_DOCUMENT
            if length and (kind == "heading" or (full and not named)):
                document, length = document + 1, 0
            named = named or kind == "heading"
            if kind == "text":
                length += 1
                yield f"{_word(file)}-{document:06d}", text


def _by_line(texts_of: Callable[[str, Report], list[str]], *, gaps: bool = True) -> Convention:
    """Return the convention of files in which each line is read by itself.

    Args:
        texts_of: returns the texts of a line; if there are none, it counts the line as dropped.
        gaps: whether an empty line or a section heading ends a document without a name.
    """

    def events(lines: Iterator[str], report: Report) -> Iterator[Event]:
        for line in map(str.strip, lines):
            if heading := _HEADING.fullmatch(line):
                marks, title = heading.groups()
                named = marks.count("=") == _NAMED
                report.lines += 1
                report.drop("heading", title)
                if gaps or named:
                    yield ("heading" if named else "gap"), title
            elif line:
                texts = texts_of(line, report)
                report.lines += len(texts) or 1
                yield from (("text", text) for text in texts)
            elif gaps:
                yield "gap", ""

    return events


def _utterance(line: str, report: Report) -> list[str]:
    match = _SPEAKER.match(line)
    speaker, text = (match[1], match[2]) if match else ("", line)
    if speaker == "CHI":
        report.drop("child's utterance", text)
        return []
    if not match and line.startswith(("@", "%")):
        report.drop("annotation", line)
        return []
    text = tighten(_BRACKETS.sub(" ", text))
    if _UNINTELLIGIBLE.search(text):
        report.drop("unintelligible", line)
        return []
    if not any(c.isalpha() for c in text):
        report.drop("annotation" if line.startswith("[") else "no words", line)
        return []
    return [text]


def _sentence(line: str, report: Report) -> list[str]:
    return [tighten(line)]


def _paragraph_of_a_book(line: str, report: Report) -> list[str]:
    text = line.replace("_", "")
    if text.startswith("*"):
        report.drop("note or row of asterisks", text)
    elif not any(c.islower() for c in text):
        report.drop("heading", text)
    else:
        return [text]
    return []


def _paragraph_of_an_article(line: str, report: Report) -> list[str]:
    if _ENDS.search(line):
        return [line]
    report.drop("no final punctuation", line)  # titles, items of lists
    return []


def _switchboard(lines: Iterator[str], report: Report) -> Iterator[Event]:
    """Join the turns of a speaker up to the end of a sentence, across the other's "uh-huh".

    The files do not mark the end of a call, so at most 30 lines are joined.
    """
    pending: dict[str, list[str]] = {}
    for line in map(str.strip, itertools.chain(lines, [""])):
        finished: list[str] = []
        if match := _TURN.match(line):
            turns = pending.setdefault(match[1], [])
            turns.append(match[2])
            if _ENDS.search(match[2]) or len(turns) == _JOINED:
                finished.append(" ".join(pending.pop(match[1])))
        else:
            finished = [*(" ".join(turns) for turns in pending.values()), *filter(None, [line])]
            pending = {}
        for spoken in finished:
            report.lines += 1
            if text := fluent(spoken, report):
                yield "text", text


_CONVENTIONS: dict[str, Convention] = {
    "childes": _by_line(_utterance, gaps=False),
    "bnc_spoken": _by_line(_sentence),
    "open_subtitles": _by_line(speeches),
    "switchboard": _switchboard,
    "gutenberg": _by_line(_paragraph_of_a_book, gaps=False),
    "simple_wiki": _by_line(_paragraph_of_an_article),
}
