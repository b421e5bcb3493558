"""Books of Project Gutenberg: plain text between the licence's marks, lines joined to paragraphs.

A book goes up to the last closing mark, so that a volume of several works is read completely.
Credits and transcribers' notes are dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from poshgrid.core import logs, plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.corpora import textfile
from poshgrid.corpora.listing import label, listed_below
from poshgrid.corpora.report import Report

SPLIT = True
ENGLISH = True

_PG = r"PROJECT GUTENBERG"
_START = re.compile(rf"\*{{2,}}\s*START OF (?:THE |THIS )?(?:COPYRIGHTED )?{_PG}", re.IGNORECASE)
# Before 2004 a book began with a "small print", which has its own end mark, sometimes after the
# newer mark. It may also be at the end of a book.
_SMALL_PRINT_END = re.compile(r"\*END\s*\*?\s*THE SMALL PRINT", re.IGNORECASE)
_END = re.compile(
    rf"\*{{2,}}\s*END OF (?:THE |THIS )?(?:COPYRIGHTED )?{_PG}"
    rf"|^\W*(?:this is )?(?:the )?end of (?:the |this )?{_PG}",
    re.IGNORECASE,
)
_LICENCE = re.compile(
    r"\*{2,}\s*START: FULL LICENSE|\*{2,}\s*START\s*\*+\s*THE SMALL PRINT", re.IGNORECASE
)
_LONGEST_HEADER = 1_000  # lines; a small print after them ends the book
_CHAPTER = re.compile(
    r"(?:chapter|book|part|volume|canto|stave|letter|act|scene)\s+"
    r"(?:[ivxlcdm]+|\d+|the \w+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|(?:thir|four|fif|six|seven|eigh|nine)teen|twenty(?:-\w+)?|thirty(?:-\w+)?|first|second"
    r"|third|fourth|fifth|last)\b(?!\s+[a-z])",
    re.IGNORECASE,
)
_CONTENTS = re.compile(
    r"(?:the |table of )?(?:contents|list of (?:illustrations|plates|figures)|illustrations)\b\W*"
    r"(?:$|page\b|chapter\b|[ivx]+\.|\d)",
    re.IGNORECASE,
)
_ENTRY_END = re.compile(r"(?:\.\s*\.|\s{2,}|,\s)\s*(?:\d+|[ivxlc]+)$", re.MULTILINE)
_INTRODUCTORY = re.compile(
    r"(?:the )?(?:preface|introduction|prologue|epilogue|foreword|dedication)\.?", re.IGNORECASE
)
_NOTE_OPENS = re.compile(
    r"\[\s*(?:illustrat|footnote|sidenote|transcriber|frontispiece|decorat|music|blank page"
    r"|editor|note\b|pg\b|page\b|map\b|ornament|greek|\w+: see footnote)",
    re.IGNORECASE,
)
_MARKS = re.compile(
    r"\[(?:\d+|[A-Z*†‡§]|fn ?\d+|Pg ?\d+)\]|\{\d+[a-z]?\}|\(\*+\)|(?<=[\w.,;:?!\"'”’)])\*+(?=\s|$)"
)
_EMPHASIS = re.compile(r"(?<!_)_(?!_)|(?<!\w)=(?=\S)|(?<=\S)=(?!\w)")
_CREDIT = re.compile(
    r"note: project gutenberg|images of the original|"
    r"(?:this )?(?:e-?(?:text|book)|file|book|html version)?,?\s*(?:was |is )?"
    r"(?:first )?(?:re-?)?(?:produced|transcribed|prepared|scanned|typed|created|digitized|proofed)"
    r"\b[^.]{0,60}?\b(?:by|from|for)\b|(?:distributed )?proofread(?:ers|ing)\b"
    r"|e-?text\b[^.]*\bby\b",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"https?://|www\.|\b\d+-[h80]\.(?:html?|zip|txt)\b", re.IGNORECASE)
_TRANSCRIBER = re.compile(r"\W*transcriber\W{0,2}s?\W*\bnotes?\b\W*", re.IGNORECASE)
_TRANSCRIBED = 10  # largest number of paragraphs of a transcriber's note under a heading
_TITLE_PAGE = re.compile(
    r"by$|(?:(?:written|edited|translated|illustrated|told|retold|compiled) (?:and \w+ )?by"
    r"|author of|copyright|with (?:\w+ )*illustrations|printed (?:in|by)|all rights reserved"
    r"|first published|published by)\b",
    re.IGNORECASE,
)
_SMALL_WORDS = {
    "a", "an", "and", "as", "at", "but", "by", "de", "for", "from", "in", "into", "la", "of", "on",
    "or", "the", "to", "von", "with",
}  # fmt: skip
_FINAL = re.compile(r"[.?!,;:—-][\"'”’)\]_]*$|[\"'”’]$")
_LONGEST_NOTE = 30  # paragraphs; a longer bracket counts as never closed
_TITLE_PAGES = 40  # paragraphs in which a title page is looked for

log = logs.get(__name__)


def files(path: Path, options: plugins.Options) -> list[Path]:
    """Return the books: one file, or all ``.txt`` and ``.txt.gz`` of a folder and its folders."""
    return listed_below(path, ".txt", ".txt.gz", ".TXT")


def read(path: Path, options: plugins.Options, report: Report) -> Iterator[tuple[str, str]]:
    """Yield (chapter, paragraph).

    Headings, title pages, tables of contents, credits and rows of asterisks are dropped; notes and
    captions in brackets, page numbers and marks of emphasis are removed from the text.

    Raises:
        PoshgridError: a file is not text in UTF-8, or has no mark where the book begins.
    """
    for file in files(path, options):
        name = label(file, path)
        chapter = 0
        book = _paragraphs(_body(file))
        paragraphs = _without_transcribers(list(_without_notes(book)), report)
        for number, (lines, is_contents) in enumerate(_without_contents(paragraphs)):
            report.lines += 1
            text = _text(lines)
            reason = None
            if is_contents:
                reason = "contents"
            elif _is_chapter(text):
                chapter += 1
                reason = "heading"
            elif number < _TITLE_PAGES and chapter == 0:
                reason = _title_page(text)
            if reason or _is_heading(text, lines):
                report.drop(reason or "heading", text)
                continue
            yield f"{name}-{chapter:03d}", text


def _body(file: Path) -> list[str]:
    """Return the lines of a book between the licence's marks, an empty line where a mark was.

    A volume of several works has a closing mark after each work: the last one ends the book. The
    text after it is the licence, up to another opening mark.

    Raises:
        PoshgridError: there is no opening mark, so the licence might be read as the book.
    """
    body: list[str] = []
    stretch: list[str] = []  # lines since the last mark
    header = 0  # the line of the last opening mark
    opened = inside = closed = False
    mark = ""  # the mark whose paragraph continues: a long title may fill several lines
    for number, line in enumerate(textfile.lines(file), 1):
        small_print = _SMALL_PRINT_END.search(line)
        early = not body and number - header <= _LONGEST_HEADER
        if _START.search(line) or (small_print and early):
            opened, inside, closed, header, stretch = True, True, False, number, []
            mark = "" if small_print or line.rstrip().endswith("*") else "opening"
            continue
        if not inside:
            continue
        if _END.search(line):
            body += [*stretch, ""]
            closed, mark, stretch = True, "closing", []
            continue
        if small_print or _LICENCE.search(line):
            if not closed:
                body += [*stretch, ""]
            inside, closed = False, True
            continue
        stretch.append(line)
        if mark and line.strip() and (mark == "closing" or number <= header + 3):
            if mark == "closing" or line.rstrip().endswith("***"):
                stretch = []
        else:
            mark = ""
    if not opened:
        raise PoshgridError(
            f"{file}: no line '*** START OF THE PROJECT GUTENBERG EBOOK'; add one before the text"
        )
    if not closed:
        log.warning("%s: no line '*** END OF THE PROJECT GUTENBERG EBOOK': is it whole?", file)
        body += stretch
    return body


def _paragraphs(body: Iterable[str]) -> Iterator[list[str]]:
    """Yield the lines of each paragraph."""
    block: list[str] = []
    for line in map(str.strip, body):
        if line:
            block.append(line)
        elif block:
            yield block
            block = []
    if block:
        yield block


def _without_notes(paragraphs: Iterable[list[str]]) -> Iterator[list[str]]:
    """Remove notes in brackets, which may contain brackets and several paragraphs.

    If a bracket does not close within 30 paragraphs, only the rest of its own paragraph is removed.
    """
    held: list[list[str]] = []
    for lines in paragraphs:
        held.append(lines)
        cut, is_open = _cut_notes("\n\n".join(map("\n".join, held)))
        if is_open and len(held) < _LONGEST_NOTE:
            continue
        if is_open:
            yield from _unclosed(held)
        else:
            # an illustration alone leaves an empty paragraph
            text = cut.strip("\n") if cut.strip() else ""
            yield from (part.split("\n") for part in re.split(r"\n\n+", text))
        held = []
    yield from _unclosed(held)


def _unclosed(held: list[list[str]]) -> Iterator[list[str]]:
    """Yield paragraphs whose first one opens a note that is never closed."""
    if held:
        yield [_NOTE_OPENS.split("\n".join(held[0]))[0].strip()]
        yield from held[1:]


def _without_transcribers(paragraphs: list[list[str]], report: Report) -> Iterator[list[str]]:
    """Remove transcribers' notes.

    A note is a paragraph that begins with *Transcriber's note*. If that is a heading, the note
    continues up to the next heading or the end of the book; if that is far away, the note is one
    paragraph.
    """
    texts = [_text(lines) for lines in paragraphs]
    end = 0  # of the last note
    for start, text in enumerate(texts):
        opening = _TRANSCRIBER.match(text)
        if start >= end and opening:
            end = start + 1
            if opening.end() == len(text):
                while end < len(texts) and not (
                    _TRANSCRIBER.match(texts[end])
                    or _is_chapter(texts[end])
                    or _is_heading(texts[end], paragraphs[end])
                ):
                    end += 1
                if end > start + 1 + _TRANSCRIBED:
                    end = start + 2
        if start < end:
            report.lines += 1
            report.drop("transcriber's note", text)
        else:
            yield paragraphs[start]


def _cut_notes(text: str) -> tuple[str, bool]:
    """Return a text without its notes, and whether a note is still open at its end."""
    while match := _NOTE_OPENS.search(text):
        depth = 0
        for end in range(match.start(), len(text)):
            depth += {"[": 1, "]": -1}.get(text[end], 0)
            if depth == 0:
                text = f"{text[: match.start()].rstrip(' ')} {text[end + 1 :].lstrip(' ')}"
                break
        else:
            return text, True
    return text, False


def _text(lines: list[str]) -> str:
    """Return a paragraph in one line, without marks of notes, pages and emphasis."""
    text = _EMPHASIS.sub("", _MARKS.sub("", " ".join(lines)))
    return re.sub(r"\s+([.,;:?!](?:\s|$))", r"\1", " ".join(text.split()))


def _title_page(text: str) -> str | None:
    """Return why a paragraph before the first chapter is left out, or ``None`` if it is kept."""
    if _CREDIT.match(text) or _ADDRESS.search(text):
        return "credits"
    return "title page" if _TITLE_PAGE.match(text) else None


def _is_chapter(text: str) -> bool:
    """Return whether a paragraph is the heading of a chapter, a book or a part."""
    return _CHAPTER.match(text) is not None and (len(text) < 100 or not _FINAL.search(text))


def _is_heading(text: str, lines: list[str]) -> bool:
    """Return whether a paragraph is in capitals, or a title such as *The Fox and the Crow*."""
    if not any(c.islower() for c in text) or _INTRODUCTORY.fullmatch(text):
        return True
    if len(lines) > 1 or len(text) > 100 or _FINAL.search(text):
        return False
    words = re.findall(r"[^\W\d_][\w'’-]*", text)
    # a single name may be an author, a speaker or a signature
    if len(words) < 3 and words[0].lower() not in _SMALL_WORDS:
        return False
    return all(w[0].isupper() or w.lower() in _SMALL_WORDS for w in words)


def _without_contents(paragraphs: Iterable[list[str]]) -> Iterator[tuple[list[str], bool]]:
    """Yield (paragraph, whether it belongs to a table of contents).

    A table goes from its heading to the first paragraph of prose, or to the first repetition of one
    of its entries, which is the heading of a chapter.
    """
    entries: set[str] = set()
    inside = False
    # the last paragraph of the table: it may be the first chapter's heading
    last: list[str] | None = None
    for lines in paragraphs:
        text = " ".join(lines)
        if not inside:
            inside = _CONTENTS.match(text) is not None
            entries = set(map(_entry, lines[1:])) if inside else set()
            yield lines, inside
            continue
        again = len(lines) == 1 and _entry(text) in entries
        if again or _is_prose(text, lines):
            inside = False
            if last:
                yield last, again or not _CHAPTER.match(last[0])
            yield lines, False
            last = None
            continue
        entries.update(map(_entry, lines))
        if last:
            yield last, True
        last = lines
    if last:
        yield last, True


def _entry(line: str) -> str:
    """Return an entry as its chapter's heading writes it, case-folded: *chapter iv*, *the fox*."""
    chapter = _CHAPTER.match(line)
    return (chapter[0] if chapter else _ENTRY_END.sub("", line)).casefold().strip(" .")


def _is_prose(text: str, lines: list[str]) -> bool:
    """Return whether a paragraph after *Contents* is not an entry of the table."""
    if _CHAPTER.match(text) or _ENTRY_END.search("\n".join(lines)):
        return False
    return len(text.split()) >= 12 and re.search(r"[.?!][\"'”’)]*$", text) is not None
