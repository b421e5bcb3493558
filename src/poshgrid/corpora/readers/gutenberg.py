"""Books of Project Gutenberg: plain text between the licence's marks, lines joined to paragraphs.

What is not clearly a paragraph of the book is dropped and counted: a text between marks that may be
a licence, credits, transcribers' notes, headings, contents, and paragraphs without a final mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import dropwhile, pairwise
from pathlib import Path

from poshgrid.core import logs, plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.corpora import textfile
from poshgrid.corpora.report import Report

SPLIT = True
ENGLISH = True

# Before 2004 a book began after a "small print", which may also be at the end of a book. A title
# may fill several lines. `end` is also the end of one work of a volume. Here and below, runs of
# one character are tried from their beginning, or are bounded, so that time is linear.
_MARK = re.compile(
    r"^.*?(?:"
    r"(?P<start>(?<!\*)\*{2,}\s*START OF (?:THE |THIS )?(?:COPYRIGHTED )?PROJECT GUTENBERG"
    r"(?:(?:[^*\n]|\n(?!\n)){0,300}\*\*)?|\*END\s*\*?\s*THE SMALL PRINT)"
    r"|(?P<stop>(?<!\*)\*{2,}\s*END OF (?:THE |THIS )?(?:COPYRIGHTED )?PROJECT GUTENBERG)"
    r"|(?P<licence>(?<!\*)\*{2,}\s*(?:START: FULL LICENSE|START\s*\*+\s*THE SMALL PRINT))"
    r"|(?P<end>^[^\w\n]*(?:this is )?(?:the )?end of (?:the |this )?PROJECT GUTENBERG.*(?:\n.+)*)"
    r").*$",
    re.IGNORECASE | re.MULTILINE,
)
_BOOK = {
    ("start", "stop"), ("start", "licence"), ("start", "end"), ("end", "stop"), ("end", "end"),
}  # fmt: skip
"""Marks before and after a text of the book; between any others may be a licence."""
_NOTE_OPENS = (
    r"(?<! ) *\[\s*(?:illustrat|footnote|sidenote|transcriber|frontispiece|decorat|music|blank page"
    r"|editor|note\b|pg\b|page\b|map\b|ornament|greek|\w+: see footnote)"
)
_NOTE = re.compile(
    _NOTE_OPENS + r"[^\[\]]{0,5000}(?:\[[^\[\]]{0,500}\][^\[\]]{0,5000}){0,9}\]", re.IGNORECASE
)
_UNCLOSED = re.compile(_NOTE_OPENS, re.IGNORECASE)
_MARKS = re.compile(
    r"\[(?:\d+|[A-Z*†‡§]|fn ?\d+)\]|\{\d+[a-z]?\}|\(\*+\)|(?<=[\w.,;:?!\"'”’)])\*+(?=\s|$)"
    r"|(?<!_)_(?!_)|(?<!\w)=(?=\S)|(?<=\S)=(?!\w)"
)
_TRANSCRIBER = re.compile(r"\W*transcriber\W{0,2}s?\W*\bnotes?\b\W*", re.IGNORECASE)
_CREDITS = re.compile(
    r"project gutenberg|https?://|www\.|\b\d+-[h80]\.(?:html?|zip|txt)\b|images of the original"
    r"|distributed proofread|^(?:contents|illustrations)\W*$",
    re.IGNORECASE,
)
_OPENING_CREDITS = re.compile(
    r"copyright\b|(?:this )?(?:e-?(?:text|book)|file|book|html version)?,?\s*(?:was |is )?"
    r"(?:first )?(?:re-?)?"
    r"(?:produced|transcribed|prepared|scanned|typed|created|digitized|proofed|proofread)"
    r"\b[^.]{0,60}?\b(?:by|from|for)\b",
    re.IGNORECASE,
)
"""Credits whose words may also begin a paragraph of a story."""
_CHAPTER = re.compile(
    r"(?:chapter|book|part|volume|canto|stave|letter|act|scene)\s+"
    r"(?:(?:the )?(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty"
    r"|\w+ty-\w+|first|second|third|\w+th|last)\W*$"
    r"|(?:the )?(?!(?-i:[a-z])[\w-]*[.?!])[\w-]+(?:[^\w-]\W*)?$"
    r"|(?:[ivxlcdm]+|\d+)\b(?!\s+[a-z]).{0,90}$)"
    r"|[ivxlc]+\.\s(?!(?-i:[a-z]))(?!.*\b(?-i:[a-z])[\w'’-]*[.?!]\W*$).{0,90}$"
    r"|(?:the )?(?:preface|introduction|prologue|epilogue)\W*$",
    re.IGNORECASE,
)
"""A heading has no full stop after a word in lower case, unless that is a number."""
_ENTRY = re.compile(
    r"^[^\S\n]*(?:chapter |book |part )?(?:[ivxlc]+|\d+)[.:)]\s"
    r"|^.*(?:\. ?\.| {3})\s{0,99}\d+$",
    re.IGNORECASE | re.MULTILINE,
)
_FINAL = re.compile(r"[.?!,;:)—-][\"'”’)\]_]{0,20}$|[\"'”’]$")

_NOTED = "transcriber's note"
_HEADINGS = ("heading", "no final mark", "contents")  # end a note
_LONGEST_NOTE = 10  # paragraphs below the heading of a transcriber's note
_OPENING = 40  # paragraphs of a book in which credits are looked for, if no chapter is before them

log = logs.get(__name__)


def files(path: Path, options: plugins.Options) -> list[Path]:
    """Return the books: one file, or all ``.txt`` and ``.txt.gz`` of a folder and its folders."""
    return textfile.listed_below(path, ".txt", ".txt.gz", ".TXT")


def read(path: Path, options: plugins.Options, report: Report) -> Iterator[tuple[str, str]]:
    """Yield (chapter, paragraph).

    Notes and captions in brackets, marks of notes and of emphasis are removed from the text.

    Raises:
        PoshgridError: a file is not text in UTF-8, or its marks do not say where the book is.
    """
    for file in files(path, options):
        chapter = 0
        noted = 0  # paragraphs that may still belong to a transcriber's note
        book = _NOTE.sub(" ", _body(file, report))
        for number, paragraph in enumerate(re.split(r"\n(?:[ \t]*\n)+", book)):
            text = " ".join(_MARKS.sub("", paragraph).split())
            text = re.sub(r" ([.,;:?!](?:\s|$))", r"\1", text)  # after a note is removed
            if not text:
                continue
            report.lines += 1
            reason = _reason(text, paragraph, opening=not chapter and number < _OPENING)
            if note := _TRANSCRIBER.match(text):
                noted, reason = _LONGEST_NOTE * (note.end() == len(text)), _NOTED
            elif noted and reason not in _HEADINGS:
                noted, reason = noted - 1, _NOTED
            else:
                noted = 0
            if reason == "heading" and _CHAPTER.match(text):
                chapter += 1
            if reason:
                report.drop(reason, text)
            else:
                yield f"{textfile.label(file, path)}-{chapter:03d}", text


def _body(file: Path, report: Report) -> str:
    """Return the text of a book without the licence, which may be before, between and after it.

    Raises:
        PoshgridError: there is no opening mark, or there are several and no closing one, so the
            licence might be read as the book.
    """
    text = "".join(textfile.lines(file)).replace("\r\n", "\n")
    marks = list(dropwhile(lambda mark: mark.lastgroup != "start", _MARK.finditer(text)))
    if not marks:
        raise PoshgridError(
            f"{file}: no line '*** START OF THE PROJECT GUTENBERG EBOOK'; add one before the text"
        )
    works: list[str] = []
    for mark, following in pairwise(marks):
        between = text[mark.end() : following.start()]
        if (mark.lastgroup, following.lastgroup) in _BOOK:
            works.append(between)
        elif following.lastgroup != "licence" and between.strip():
            report.lines += 1
            report.drop("licence", between)
    if not works:
        if len(marks) > 1:
            raise PoshgridError(
                f"{file}: no line '*** END OF THE PROJECT GUTENBERG EBOOK'; add one after the text"
            )
        log.warning("%s: no line '*** END OF THE PROJECT GUTENBERG EBOOK': is it whole?", file)
        works.append(text[marks[0].end() :])
    return "\n\n".join(works)


def _reason(text: str, paragraph: str, *, opening: bool) -> str | None:
    """Return why a paragraph is not text of the book; ``None`` if it is text.

    Args:
        text: the paragraph in one line, without marks.
        paragraph: as the file has it.
        opening: whether it is before the first chapter.
    """
    reasons = {
        "contents": len(_ENTRY.findall(paragraph)) > 1,
        "heading": not any(c.islower() for c in text) or _CHAPTER.match(text),
        "credits": _CREDITS.search(text) or (opening and _OPENING_CREDITS.match(text)),
        "no final mark": not _FINAL.search(text),
        "note that does not close": _UNCLOSED.search(text),
    }
    return next((reason for reason, holds in reasons.items() if holds), None)
