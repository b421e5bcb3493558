"""The British National Corpus, XML edition (2007): speech, one text per file.

Elements as in the corpus's Reference Guide (L. Burnard, ed., 2007): ``<stext>`` holds speech,
``<wtext>`` writing; ``<s>`` is a sentence, ``<w>`` a word and ``<c>`` a punctuation mark, each with
the space that follows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from poshgrid.core import plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.corpora.report import Report
from poshgrid.corpora.textfile import elements, listed_below

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

SPLIT = False  # <s> is a sentence
ENGLISH = True

_HOLES = {"unclear": "unintelligible", "gap": "words left out by the corpus"}
_FILLERS = {"er", "erm", "uh", "um"}
_LONGEST = 10_000  # characters; a longer sentence is an error in the file
_ID = "{http://www.w3.org/XML/1998/namespace}id"
_COMMAS = [  # commas left over around removed words
    (re.compile(r"\s+([,.;:?!])"), r"\1"),
    (re.compile(r",(?:\s*,)+"), ","),
    (re.compile(r",\s*([.;:?!])"), r"\1"),
    (re.compile(r"^[\s,]+"), ""),
]


def files(path: Path, options: plugins.Options) -> list[Path]:
    """Return the texts: one file, or all ``.xml`` and ``.xml.gz`` files below a folder."""
    return listed_below(path, ".xml", ".xml.gz")


def read(path: Path, options: plugins.Options, report: Report) -> Iterator[tuple[str, str]]:
    """Yield (text, sentence). Headings are dropped; a written text counts as one drop.

    Raises:
        PoshgridError: a file is not a text of the XML edition, or is broken.
    """
    for file in files(path, options):
        number = 0
        for number, (ancestors, s) in enumerate(elements(file, "bncDoc", "s"), start=1):
            names = [element.tag for element in ancestors]
            if "wtext" in names:
                report.drop("written text")
                break
            if "stext" not in names:
                raise PoshgridError(
                    f"{file}: sentence {number:,} is in no <stext> or <wtext>; "
                    "give texts of the BNC's XML edition"
                )
            report.lines += 1
            if "head" in names:
                report.drop("heading", "".join(s.itertext()))
                continue
            if text := sentence(s, report):
                yield ancestors[0].get(_ID) or file.name.split(".")[0], text
        if not number:
            report.drop("text without sentences")


def sentence(s: Element, report: Report) -> str | None:
    """Return the text of an ``<s>`` element, or ``None`` if the sentence is dropped.

    Args:
        s: the element; noises, pauses, changes of voice and overlap marks in it hold no words.
        report: counts dropped sentences.
    """
    parts: list[str] = []
    has_word = removed = opening = False
    pending = list(reversed(s))
    while pending:
        element = pending.pop()
        if element.tag in _HOLES:
            report.drop(_HOLES[element.tag], "".join(s.itertext()))
            return None
        if element.tag not in ("w", "c", "trunc"):
            pending.extend(reversed(element))
            continue
        text = "".join(element.itertext())
        word = text.strip()
        if element.tag == "trunc" or word.lower() in _FILLERS:
            removed, opening = True, opening or (not has_word and word[:1].isupper())
        else:
            has_word = has_word or any(c.isalnum() for c in word)
            parts.append(text)
    if not has_word:
        report.drop("no words")
        return None
    text = " ".join("".join(parts).split())
    if len(text) > _LONGEST:
        report.drop("too long", text)
        return None
    if removed:
        for pattern, replacement in _COMMAS:
            text = pattern.sub(replacement, text)
    return text[0].upper() + text[1:] if opening else text
