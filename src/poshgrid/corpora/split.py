"""Split running text into sentences: spaCy's rules for abbreviations, corrected at quotes.

A text that is too long for spaCy is first cut after a sentence or a word.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any

from poshgrid.errors import PoshgridError

LONGEST = 100_000
"""Largest number of characters of a text: spaCy's limit is a million, and cleaning lengthens
texts."""

_NEAR = 2_000  # characters before the limit in which the end of a sentence is looked for first
_SENTENCE_END = re.compile(r"[.?!][\"'”’)\]]*\s")


def pieces(text: str, where: str) -> Iterator[str]:
    """Yield a text in pieces of at most :data:`LONGEST` characters, cut after a sentence or a word.

    Args:
        text: any text; a short one is returned unchanged.
        where: file and line, for the message.

    Raises:
        PoshgridError: a piece contains no white space, so it is not text.
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
                f"{where}: {LONGEST:,} characters without a space; remove what is not running text"
            )
        yield window[:cut]
        start += cut
    yield text[start:]


_OPENING = re.compile(r"\s+([\"'(\[]+)$")  # belongs to the sentence that follows
_GOES_ON = re.compile(r"[\"')\]]*\s*(?:[-,;:]\s*)?[a-z]")  # continues the previous sentence
_NUMBER = re.compile(r"\b(?:[Nn]o|[Pp]p|[Vv]ol|[Ff]ig)\.$")


def split(text: str, language: str) -> list[str]:
    """Return the sentences of a text that :func:`poshgrid.corpora.clean.clean` has cleaned.

    A full stop does not end a sentence after an abbreviation or an initial, or before a lower-case
    word (``'Well!' thought Alice.`` is one sentence).

    Args:
        text: the text.
        language: ISO 639-1 code; its abbreviations are used.
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
    if opening:  # no sentence follows: the mark stays at the end
        sentences[-1] += f" {opening}"
    return sentences


@functools.cache
def _pipeline(language: str) -> Any:  # noqa: ANN401 - spaCy is imported here only
    import spacy

    pipeline = spacy.blank(language)
    pipeline.max_length = 1 << 40  # spaCy's limit only concerns parsers; this pipeline has none
    pipeline.add_pipe("sentencizer")
    return pipeline
