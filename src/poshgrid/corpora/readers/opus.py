"""OpenSubtitles from OPUS: plain text with one sentence per line, ``.gz`` or not.

P. Lison and J. Tiedemann, LREC 2016. The text does not mark where a film ends: a document is a
block of lines.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

from poshgrid.core import plugins
from poshgrid.corpora.joining import tighten
from poshgrid.corpora.report import Report
from poshgrid.corpora.textfile import label, lines, listed_below

SPLIT = True  # a subtitle may hold several sentences

_LONGEST = 2_000  # characters: a longer line is no subtitle

_BREAK = re.compile(r"<\s*/?\s*br\b[^<>]*>|\\[Nnh]", re.IGNORECASE)
_MARKUP = re.compile(r"\{[^{}]*\}|<\s*/?\s*(?:i|b|u|s|font)\b[^<>]*>", re.IGNORECASE)
_SOUND = re.compile(r"\[[^\[\]]*\]|(?<!\w)\([^()]*\)")  # not f(x), person(s)
_UNHEARD = re.compile(  # words that the transcriber did not understand
    r"[\[(](?:[^\[\]()]*\b(?:inaudible|indistinct|unclear|unintelligible)\b[^\[\]()]*|\s*\?+\s*)[\])]",
    re.IGNORECASE,
)
_BRACKET = re.compile(r"[\[\]()]")
_MUSIC = re.compile(r"[♩♪♫♬¶]|^\W*#+\s+(?![\d\s])|\s#+$|^\W*#.*#$", re.DOTALL)
_URL = re.compile(
    r"https?\s*:\s*/|\bwww\s*\.|\w@\w|\b[\w-]+\.(?:com|net|org|info|tv)\b", re.IGNORECASE
)
_CREDIT = re.compile(
    r"\W*(?:"
    r"(?:(?:english|original)\W+)?(?:subtitl(?:es?|ed|ing)|caption(?:s|ed|ing)|transcript)"
    r"(?:\s*:|(?:\W+\w+){0,4}?\W+by\b)"
    r"|(?:re-?)?(?:sync(?:ed|h(?:ed|roni[sz]ed)?)?|transcribed|translat(?:ed|ion)|correct(?:ed|ions)"
    r"|ripped|encoded|proofread|adapted)(?:\W+\w+){0,4}?\W+by\b"
    r"|support us and become|advertise your product|please rate this subtitle)",
    re.IGNORECASE,
)
_DASH = r"(?:[-‐‑‒–—―−]+|>{2,})"
_CAPITAL = "A-ZÀ-ÖØ-Þ"
_LABEL = rf"[{_CAPITAL}][{_CAPITAL}\d .'’&#-]{{0,38}}[{_CAPITAL}\d.]\s*:(?![\d/])"
_OPENING = re.compile(rf"^(?:{_DASH}|{_LABEL}|[:\s])+")
# The next speaker: a dash on a new line or after a sentence, or a label after a sentence.
_CHANGE = re.compile(
    rf"\s*\n\s*(?={_DASH})|(?:(?<=[.?!…])|(?<=[.?!…][\"'’”]))\s+"
    rf"(?={_DASH}\s*\S|(?<![{_CAPITAL}]\.\s){_LABEL})"  # not within MRS. SMITH:
)


LINES_PER_DOCUMENT = 500
"""Lines in a document."""


def files(path: Path, options: plugins.Options) -> list[Path]:
    """Return the text: one file, or all ``.txt`` and ``.txt.gz`` below a folder."""
    return listed_below(path, ".txt", ".txt.gz")


def read(path: Path, options: plugins.Options, report: Report) -> Iterator[tuple[str, str]]:
    """Yield (block of lines, the speech of one speaker)."""
    for file in files(path, options):
        name, count = label(file, path), 0
        for text in filter(str.strip, lines(file)):
            report.lines += 1
            block = f"{name}-{count // LINES_PER_DOCUMENT:06d}"
            count += 1
            yield from ((block, speech) for speech in speeches(text, report))
        if not count:
            report.drop("file without text")


def speeches(text: str, report: Report) -> list[str]:
    """Return the speeches of a subtitle, one for each speaker, without the marks of subtitles.

    ``"- <i>JOHN: Hi!</i> [door slams] - Hello."`` becomes ``["Hi!", "Hello."]``. A phrase in
    capitals before a colon counts as the name of a speaker.

    Args:
        text: a line.
        report: counts the subtitle if it is dropped: a song, only sounds, a credit, an address.
    """
    if len(text) > _LONGEST:
        report.drop("too long", text)
        return []
    plain = html.unescape(text) if "&" in text else text
    plain = _MARKUP.sub("", _BREAK.sub(" ", plain)).strip()
    spoken = plain
    while (shorter := _SOUND.sub(" ", spoken).strip()) != spoken:  # brackets within brackets
        spoken = shorter
    faults = {
        "music": _MUSIC.search(spoken),
        "URL": _URL.search(plain),
        "credits": _CREDIT.match(plain),
        "unintelligible": _UNHEARD.search(plain),
        "unclosed bracket": _BRACKET.search(spoken),  # of a sound that goes on in another line
    }
    if fault := next((reason for reason, holds in faults.items() if holds), None):
        report.drop(fault, plain)
        return []
    parts = (tighten(_OPENING.sub("", part.lstrip())) for part in _CHANGE.split(spoken))
    spoken_parts = [part for part in parts if any(c.isalnum() for c in part)]
    if not spoken_parts:
        report.drop("sound description" if spoken != plain else "no words", plain)
    return spoken_parts
