"""Split running text into sentences: spaCy's rules for abbreviations, corrected at quotes."""

from __future__ import annotations

import functools
import re
from typing import Any

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
