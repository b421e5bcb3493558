"""Sentences of running text: spaCy's rules for abbreviations and full stops, mended at quotes."""

from __future__ import annotations

import functools
import re
from typing import Any

_OPENING = re.compile(r"\s+([\"'(\[]+)$")  # belongs to the sentence that follows
_GOES_ON = re.compile(r"[\"')\]]*\s*(?:[-,;:]\s*)?[a-z]")  # a sentence does not begin like this
_NUMBER = re.compile(r"\b(?:[Nn]o|[Pp]p|[Vv]ol|[Ff]ig)\.$")


def split(text: str) -> list[str]:
    """Return the sentences of a running text that :func:`poshgrid.corpora.clean.clean` has cleaned.

    A full stop ends no sentence after an abbreviation or an initial, nor where the text goes on
    in lower case (``'Well!' thought Alice.`` is one sentence).
    """
    sentences: list[str] = []
    opening = ""
    for span in _pipeline()(text).sents:
        piece = (opening + span.text).strip()
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
def _pipeline() -> Any:  # noqa: ANN401 - spaCy is imported here only
    import spacy

    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer")
    return pipeline
