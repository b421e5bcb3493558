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
``cbt``
    The Children's Book Test: tokenised paragraphs, ``_BOOK_TITLE_ : name`` opens a book.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from pydantic import Field

from poshgrid import plugins
from poshgrid.config.base import Positive
from poshgrid.corpora import textfile
from poshgrid.corpora.chat_codes import UNINTELLIGIBLE
from poshgrid.corpora.joining import detokenise, fluent, tighten
from poshgrid.corpora.listing import listed_below
from poshgrid.corpora.readers.opus import opens_turn, speeches
from poshgrid.corpora.report import Report
from poshgrid.corpora.split import LONGEST
from poshgrid.errors import PoshgridError, did_you_mean

SPLIT = True

_MARKS = re.compile(r"=(?: ?=)*+\s++")
_SPEAKER = re.compile(r"\*([A-Z0-9]{1,7}):+\s*(.*)")
_TURN = re.compile(r"([AB]):\s+(.*)")
_BRACKETS = re.compile(r"\[[^\[\]]*\]")
_UNINTELLIGIBLE = re.compile(rf"(?<![\w'.]){UNINTELLIGIBLE}(?![\w'])(?!\.\w)", re.IGNORECASE)
_ENDS = re.compile(r"[.?!][\"'”’)\]]*$")
_CBT_CODE = re.compile(r"-L[CRS]B-.*?-R[CRS]B-")
_CBT_LAST = re.compile(r".*-R[CRS]B-")
_CBT_NOT = re.compile(r" (?=n't\b|'(?:s|ll|re|ve|d|m)\b)")
_JOINED = 30  # lines of one sentence at most
_PARAGRAPH = 100  # a line with more characters is not wrapped

Event = tuple[str, str]
"""("text", words), ("heading", name): a document that has a name opens, or ("gap", "")."""


class Options(plugins.Options):
    """Which files, and what of speech is left out."""

    corpus: str | None = Field(
        None, description="Conventions of the files, e.g. childes; none: their names tell"
    )
    splits: tuple[Literal["train", "dev", "test"], ...] = Field(
        ("train",), min_length=1, description="Which files of a folder"
    )
    exclude_codes: tuple[str, ...] = Field(
        ("CHI",), description="Speakers of childes that are left out"
    )
    unintelligible: Literal["drop", "remove"] = Field(
        "drop", description="xxx, yyy, www: drop the utterance, or remove the word from it"
    )
    disfluencies: bool = Field(False, description="Keep uh, um, repeated words of switchboard")
    lines_per_document: Positive = Field(
        500, description="Lines kept together where nothing marks a document"
    )


Convention = Callable[[Iterator[str], Options, Report], Iterator[Event]]
"""How the lines of a file are read."""


def files(path: Path, options: Options) -> list[Path]:
    """Return the file, or those of a folder that end in one of ``options.splits``.

    Raises:
        PoshgridError: there is none, one comes twice, or a name tells no conventions.
    """
    endings = [f".{split}{rest}" for split in options.splits for rest in ("", ".gz", ".txt")]
    found = listed_below(path, tuple(endings))
    names: dict[str, Path] = {}
    for file in found:
        convention(file, options)
        other = names.setdefault(file.name, file)
        if other != file:
            # the sentences of train_10M are in train_100M too
            raise PoshgridError(
                f"{path}: holds {file.name} twice, in {other.parent.name} and {file.parent.name}; "
                "give one of the folders in sources[].path"
            )
    return found


def convention(file: Path, options: Options) -> str:
    """Return the name of a file's conventions.

    Raises:
        PoshgridError: neither the option nor the file's name is known.
    """
    word = options.corpus or file.name.split(".")[0]
    if word not in _CONVENTIONS:
        raise PoshgridError(
            f"{file}: no conventions for {word!r}{did_you_mean(word, _CONVENTIONS)}; "
            "set the option `corpus`"
        )
    return word


def read(path: Path, options: Options, report: Report) -> Iterator[tuple[str, str]]:
    """Yield (document, utterance or paragraph).

    Raises:
        PoshgridError: a file is missing, unknown, or no text in UTF-8.
    """
    for file in files(path, options):
        events = _CONVENTIONS[convention(file, options)](
            textfile.lines(file, cut=True), options, report
        )
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
            if length == options.lines_per_document and not named:
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


def _childes(lines: Iterator[str], options: Options, report: Report) -> Iterator[Event]:
    for kind, line in _headings(lines, report):
        if kind == "text":
            report.lines += 1
            text = _utterance(line, options, report)
            if text:
                yield "text", text
        elif kind == "heading":
            yield kind, line


def _utterance(line: str, options: Options, report: Report) -> str | None:
    """Return what was said in a line of childes, or ``None`` if it is left out."""
    match = _SPEAKER.match(line)
    speaker, text = (match[1], match[2]) if match else ("", line)
    if speaker in options.exclude_codes:
        report.drop("child's utterance", text)
        return None
    if not match and line.startswith(("@", "%")):
        report.drop("annotation", line)
        return None
    text = _BRACKETS.sub(" ", text)
    understood = _UNINTELLIGIBLE.sub(" ", text)
    if understood != text and options.unintelligible == "drop":
        report.drop("unintelligible", line)
        return None
    text = tighten(understood)
    if not any(c.isalpha() for c in text):
        report.drop("annotation" if line.startswith("[") else "no words", line)
        return None
    return text


def _by_line(texts_of: Callable[[str, Report], list[str]]) -> Convention:
    """Return the convention of files in which each line is read by itself.

    Args:
        texts_of: the texts of a line; none: it has counted the line as dropped.
    """

    def events(lines: Iterator[str], options: Options, report: Report) -> Iterator[Event]:
        for kind, line in _headings(lines, report):
            texts = texts_of(line, report) if kind == "text" else [line]
            if kind == "text":
                report.lines += len(texts) or 1
            yield from ((kind, text) for text in texts)

    return events


def _spoken(line: str, report: Report) -> list[str]:
    return [tighten(line)]


def _switchboard(lines: Iterator[str], options: Options, report: Report) -> Iterator[Event]:
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
            if text := fluent(spoken, report, disfluencies=options.disfluencies):
                yield "text", text


def _book(lines: Iterator[str], options: Options, report: Report) -> Iterator[Event]:
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


def _lectures(lines: Iterator[str], options: Options, report: Report) -> Iterator[Event]:
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


def _cbt(lines: Iterator[str], options: Options, report: Report) -> Iterator[Event]:
    for raw in lines:
        line = raw.strip()
        if not line:
            continue
        report.lines += 1
        if line.startswith("_BOOK_TITLE_"):
            report.drop("heading")
            yield "heading", line
            continue
        closed = _CBT_LAST.match(line)  # what opens later never closes: it is not looked for
        end = closed.end() if closed else 0
        text = detokenise(_CBT_NOT.sub("", _CBT_CODE.sub(" ", line[:end]) + line[end:]))
        if any(c.islower() for c in text):
            yield "text", text
        else:
            report.drop("heading", text)


_wiki = _by_line(_finished)
_CONVENTIONS: dict[str, Convention] = {
    "childes": _childes,
    "aochildes": _childes,
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
    "cbt": _cbt,
}
