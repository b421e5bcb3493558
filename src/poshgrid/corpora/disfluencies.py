"""Turns of spontaneous speech: noises, fillers, broken-off words and repetitions taken out."""

from __future__ import annotations

import re

from pydantic import Field

from poshgrid import plugins

LONGEST = 20_000
"""Characters of a turn; whatever is longer is no turn but a broken file."""

_EMPHATIC = "very|really|no|yes|yeah|many|much|so|far|long|bye"  # said twice on purpose
_RULES = [
    (re.compile(r"<<[^<>]*>>|<[^<>]*>"), " "),  # <laughter>, <<very faint>>
    (re.compile(r"\{[A-Z]\b|[\[\]{}]|(?<!\S)\+(?!\S)|\(\(|\)\)"), " "),  # annotators' brackets
    (re.compile(r"(?<!\S)-{1,2}(?!\S)"), " , "),  # restarts
    (re.compile(r"(?<![\w'])\w*[\w']-(?=[\s,.?!]|$)"), " "),  # words cut off: sh-, wh-
    (re.compile(r"(?<![\w'-])(?:uh|um|eh|er|hm)(?![\w'-])", re.IGNORECASE), " "),  # fillers
    (re.compile(r"\s+"), " "),
    (re.compile(r" ([,.?!])"), r"\1"),
    (re.compile(r"([,.?!])(?:\s*,)+"), r"\1"),
    (re.compile(r"^[\s,]+|(?<=[.?!])[\s]*,"), ""),
    (re.compile(r",(?=[.?!])"), ""),
    (re.compile(r"(?<=[.?!])\s*(?=[.?!])[.?!]"), ""),
    (re.compile(r"\s+"), " "),
]
_REPEAT = re.compile(
    rf"(?<![\w'])(?!(?:{_EMPHATIC})\b)([\w']+(?: [\w']+){{0,3}}), \1(?![\w'])", re.IGNORECASE
)
_SENTENCE_START = re.compile(r"(^|[.?!] )([a-z])")


class TurnOptions(plugins.Options):
    """How much of speech is left as it was spoken."""

    disfluencies: bool = Field(False, description="Keep uh, um, repeated and broken-off words")


def mend(text: str) -> str:
    """Return a turn without noises, fillers, broken-off words and repetitions.

    ``"Uh, the, the <laughter> dog, wh-, um, ran. -"`` becomes ``"The dog, ran."``.
    """
    text = " ".join(text.split())  # long runs of spaces make the rules slow
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    text = text.strip()
    while (shorter := _REPEAT.sub(r"\1", text)) != text:
        text = shorter
    text = text.rstrip(" ,-")
    if text and text[-1] not in ".?!":
        text += "."
    return _SENTENCE_START.sub(lambda m: m[1] + m[2].upper(), text)
