r"""The files of the BabyLM challenge (2023 to 2025): ``childes.train``, ``simple_wiki.dev`` ...

A file's name tells its conventions, which are those of the organisers' preprocessing:

``childes`` (from 2024)
    ``= = = path/of/a/transcript.cha = = =`` opens a transcript, a line is ``*MOT:\tan utterance.``;
    actions and situations stand in brackets, alone in a line or in an utterance.
``aochildes`` (2023)
    An utterance in a line, no speakers: the children's own are not in it.
``bnc_spoken``
    A sentence in a line, an empty line between recordings.
``open_subtitles``
    A sentence in a line, read as the reader ``opus`` reads it.
``switchboard``
    A dialogue act in a line, ``A:\tOkay,``; 2023 without the speaker or with a dash.
``gutenberg``, ``children_stories``
    From 2024 ``= = = number = = =`` opens a book and a paragraph is a line; 2023 the lines are
    wrapped as in the book, with an empty line between paragraphs. Rows of ``*`` part sections; a
    paragraph that begins with ``*`` is a note.
``simple_wiki``, ``simple_wikipedia``, ``wikipedia``
    ``= = = Title = = =`` opens an article (2023: a title in its own line, ``= = Section = =``), a
    paragraph is a line, an empty line ends an article.
``qed``
    Subtitles of lectures, cut anywhere: lines are joined up to the end of a sentence or the next
    speaker, and read as ``open_subtitles``.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from poshgrid import plugins
from poshgrid.corpora import textfile
from poshgrid.corpora.joining import fluent, tighten
from poshgrid.corpora.listing import listed_below
from poshgrid.corpora.readers.chat import UNINTELLIGIBLE
from poshgrid.corpora.readers.opus import LINES_PER_DOCUMENT, opens_turn, speeches
from poshgrid.corpora.report import Report
from poshgrid.corpora.split import LONGEST
from poshgrid.errors import check_known

SPLIT = True

_MARKS = re.compile(r"=(?: ?=)*+\s++")
_SPEAKER = re.compile(r"\*([A-Z0-9]{1,7}):+\s*(.*)")
_TURN = re.compile(r"([AB]):\s+(.*)")
_BRACKETS = re.compile(r"\[[^\[\]]*\]")
_UNINTELLIGIBLE = re.compile(
    rf"(?<![\w'.]){UNINTELLIGIBLE.pattern}(?![\w'])(?!\.\w)", re.IGNORECASE
)
_ENDS = re.compile(r"[.?!][\"'”’)\]]*$")
_JOINED = 30  # lines of one sentence at most
_PARAGRAPH = 100  # a line with more characters is not wrapped

Event = tuple[str, str]
"""("text", words), ("heading", name): a document that has a name opens, or ("gap", "")."""


Convention = Callable[[Iterator[str], Report], Iterator[Event]]
"""How the lines of a file are read."""


def files(path: Path, options: plugins.Options) -> list[Path]:
    """Return the file, or the training files of a folder; see :func:`convention`."""
    paths = listed_below(path, ".train", ".train.gz", ".train.txt")
    for file in paths:
        convention(file)
    return paths


def convention(file: Path) -> Convention:
    """Return how the lines of a file are read.

    Raises:
        PoshgridError: the file's name is not known.
    """
    word = file.name.split(".")[0]
    check_known(f"{file}: rename it; no conventions for", word, _CONVENTIONS)
    return _CONVENTIONS[word]


def read(path: Path, options: plugins.Options, report: Report) -> Iterator[tuple[str, str]]:
    """Yield (document, utterance or paragraph).

    Raises:
        PoshgridError: a file is missing, unknown, or no text in UTF-8.
    """
    for file in files(path, options):
        events = convention(file)(textfile.lines(file, cut=True), report)
        name = file.name.removesuffix(".gz").removesuffix(".txt").removesuffix(".train")
        document = length = 0
        named = False
        for kind, text in events:
            if kind != "text":
                # an empty line ends no document that has a name: its next one opens with a name
                if length and (kind == "heading" or not named):
                    document, length = document + 1, 0
                named = named or kind == "heading"
                continue
            if length == LINES_PER_DOCUMENT and not named:
                document, length = document + 1, 0
            length += 1
            yield f"{name}-{document:06d}", text


def _headings(lines: Iterator[str], report: Report) -> Iterator[Event]:
    """Yield a file's lines as events; headings count as dropped lines."""
    single = False  # = Title = is the form of 2023, where = = = Part = = = is inside an article
    for raw in lines:
        line = raw.strip()
        heading = _heading(line)
        if not line:
            yield "gap", ""
        elif heading:
            report.lines += 1
            level, title = heading
            report.drop("heading", title)
            single = single or level == 1
            yield ("heading" if level == (1 if single else 3) else "gap"), title
        else:
            yield "text", line


def _heading(line: str) -> tuple[int, str] | None:
    """Return the level and title of ``= = = Title = = =``; ``None``: the line is no heading."""
    marks = _MARKS.match(line)
    if marks is None or not line.endswith("="):
        return None
    title = line[marks.end() :].rstrip("= ")
    spaced = line[marks.end() + len(title) :].startswith(" ")
    return (marks[0].count("="), title) if title and spaced else None


def _utterance(line: str, report: Report) -> list[str]:
    """Return what was said in a line of childes."""
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


def _by_line(texts_of: Callable[[str, Report], list[str]], *, gaps: bool = True) -> Convention:
    """Return the convention of files in which each line is read by itself.

    Args:
        texts_of: the texts of a line; none: it has counted the line as dropped.
        gaps: whether an empty line ends a document.
    """

    def events(lines: Iterator[str], report: Report) -> Iterator[Event]:
        for kind, line in _headings(lines, report):
            if kind == "text":
                texts = texts_of(line, report)
                report.lines += len(texts) or 1
                yield from (("text", text) for text in texts)
            elif gaps or kind == "heading":
                yield kind, line

    return events


def _spoken(line: str, report: Report) -> list[str]:
    return [tighten(line)]


def _switchboard(lines: Iterator[str], report: Report) -> Iterator[Event]:
    """Join what a speaker says up to the end of a sentence: the other's "uh-huh" does not end it.

    The files do not tell where a call ends, and the joining must end somewhere: after 30 lines.
    """
    pending: dict[str, list[str]] = {}
    for raw in itertools.chain(lines, [""]):
        line = raw.strip()
        match = _TURN.match(line)
        finished: list[str] = []
        if match:
            said = pending.setdefault(match[1], [])
            said.append(match[2])
            if _ENDS.search(match[2]) or len(said) == _JOINED:
                finished.append(" ".join(pending.pop(match[1])))
        else:
            # an empty line, or one of 2023, where nothing tells whose it is
            finished = [" ".join(said) for said in pending.values()]
            pending = {}
            if line:
                finished.append(line.lstrip("- "))
        for spoken in finished:
            report.lines += 1
            if text := fluent(spoken, report):
                yield "text", text


def _book(lines: Iterator[str], report: Report) -> Iterator[Event]:
    first = list(itertools.islice(lines, 500))
    full = [line for line in first if line.strip()]
    long = sum(len(line.rstrip("\r\n")) > _PARAGRAPH for line in full)
    # In a book whose lines are wrapped hardly one is long; paragraphs often are.
    wrapped = long * 20 < len(full)
    block: list[str] = []
    events = _headings(itertools.chain(first, lines), report)
    for kind, line in itertools.chain(events, [("gap", "")]):
        if kind == "text":
            block.append(line)
        if block and (kind != "text" or not wrapped or sum(map(len, block)) > LONGEST):
            report.lines += 1
            text = " ".join(block).replace("_", "")
            block = []
            if text.startswith("*"):
                report.drop("note or row of asterisks", text)
            elif not any(c.islower() for c in text):
                report.drop("heading", text)
            else:
                yield "text", text
        if kind == "heading":
            yield kind, line


def _finished(line: str, report: Report) -> list[str]:
    if _ENDS.search(line):
        return [line]
    report.drop("no final punctuation", line)  # titles, items of lists
    return []


def _lectures(lines: Iterator[str], report: Report) -> Iterator[Event]:
    said: list[str] = []
    for raw in itertools.chain(lines, [""]):
        line = raw.strip()
        finished = said and (_ENDS.search(said[-1]) or len(said) == _JOINED)
        if said and (finished or not line or opens_turn(line)):
            texts = speeches(" ".join(said), report)
            report.lines += len(texts) or 1
            yield from (("text", text) for text in texts)
            said = []
        if line:
            said.append(line)
        else:
            yield "gap", ""


_wiki = _by_line(_finished)
_CONVENTIONS: dict[str, Convention] = {
    "childes": _by_line(_utterance, gaps=False),
    "aochildes": _by_line(_utterance, gaps=False),
    "bnc_spoken": _by_line(_spoken),
    "open_subtitles": _by_line(speeches),
    "switchboard": _switchboard,
    "gutenberg": _book,
    "gutenberg_fixed": _book,
    "children_stories": _book,
    "simple_wiki": _wiki,
    "simple_wikipedia": _wiki,
    "wikipedia": _wiki,
    "qed": _lectures,
}
