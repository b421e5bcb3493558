"""Sentences of running text: spaCy's rules for abbreviations and full stops, corrected at quotes.

A text that is too long for one go is cut after a sentence or a word first.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any

from poshgrid.errors import PoshgridError

LONGEST = 100_000
"""Characters of one text: spaCy refuses more than a million, and cleaning lengthens a text."""

_NEAR = 2_000  # characters before the limit, where a sentence is looked for first
_SENTENCE_END = re.compile(r"[.?!][\"'”’)\]]*\s")


def pieces(text: str, where: str) -> Iterator[str]:
    """Yield a text in pieces of at most :data:`LONGEST` characters, cut after a sentence or a word.

    Args:
        text: any text; a short one comes back as it is.
        where: file and line, for the message.

    Raises:
        PoshgridError: so many characters hold no white space, as no text does.
    """
    start = 0
    while len(text) - start > LONGEST:
        window = text[start : start + LONGEST]
        ends = (
            [match.end() for match in _SENTENCE_END.finditer(window, LONGEST - _NEAR)]
            or [match.end() for match in _SENTENCE_END.finditer(window)]
            or [max(map(window.rfind, " \t\n")) + 1]
        )
        cut = ends[-1]
        if not cut:
            raise PoshgridError(
                f"{where}: {LONGEST:,} characters without a space; "
                "take out what is not running text"
            )
        yield window[:cut]
        start += cut
    yield text[start:]


_OPENING = re.compile(r"\s+([\"'(\[]+)$")  # belongs to the sentence that follows
_GOES_ON = re.compile(r"[\"')\]]*\s*(?:[-,;:]\s*)?[a-z]")  # a sentence does not begin like this
_NUMBER = re.compile(r"\b(?:[Nn]o|[Pp]p|[Vv]ol|[Ff]ig)\.$")


def split(text: str, language: str) -> list[str]:
    """Return the sentences of a running text that :func:`poshgrid.corpora.clean.clean` has cleaned.

    A full stop ends no sentence after an abbreviation or an initial, nor where the text goes on
    in lower case (``'Well!' thought Alice.`` is one sentence).

    Args:
        text: the text.
        language: of the abbreviations, by its code of ISO 639-1.
    """
    sentences: list[str] = []
    opening = ""
    for span in _pipeline(language)(text).sents:
        piece = (opening + span.text_with_ws).strip()
        opening = ""
        match = _OPENING.search(piece)
        if match:
            piece, opening = piece[: match.start()], match[1]
        if sentences and (
            _GOES_ON.match(piece) or (_NUMBER.search(sentences[-1]) and piece[:1].isdigit())
        ):
            sentences[-1] += f" {piece}"
        elif piece:
            sentences.append(piece)
    if opening:  # nothing follows: it stays where it was
        sentences[-1] += f" {opening}"
    return sentences


@functools.cache
def _pipeline(language: str) -> Any:  # noqa: ANN401 - spaCy is imported here only
    import spacy

    pipeline = spacy.blank(language)
    pipeline.max_length = 1 << 40  # its limit is for parsers, of which this one has none
    pipeline.add_pipe("sentencizer")
    return pipeline
