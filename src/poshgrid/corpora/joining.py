"""Joins tokens into text as people write it, and removes disfluencies from transcribed speech."""

from __future__ import annotations

import re

from poshgrid.corpora.report import Report

LONGEST = 20_000
"""Largest number of characters in a turn; a longer one means a broken file."""

_EMPHATIC = (
    "very|really|no|yes|yeah|many|much|so|far|long|bye"  # words that are repeated on purpose
)
_DISFLUENT = [
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


_SPACE_BEFORE = re.compile(r"\s+(?=[.,?!;:](?:\s|$))")


def tighten(text: str) -> str:
    """Return a text with single spaces between words and none before a punctuation mark."""
    return _SPACE_BEFORE.sub("", " ".join(text.split()))


def without_disfluencies(text: str) -> str:
    """Return a turn without noises, fillers, broken-off words and repetitions.

    ``"Uh, the, the <laughter> dog, wh-, um, ran. -"`` becomes ``"The dog, ran."``.
    """
    text = " ".join(text.split())  # long runs of spaces make the rules slow
    for pattern, replacement in _DISFLUENT:
        text = pattern.sub(replacement, text)
    text = text.strip()
    while (shorter := _REPEAT.sub(r"\1", text)) != text:
        text = shorter
    text = text.rstrip(" ,-")
    if text and text[-1] not in ".?!":
        text += "."
    return _SENTENCE_START.sub(lambda m: m[1] + m[2].upper(), text)


def fluent(text: str, report: Report) -> str:
    """Return a turn without its disfluencies; "" if no word remains, which the report counts."""
    spoken = without_disfluencies(text)
    if spoken.strip(" .,?!-"):
        return spoken
    report.drop("only noise or fillers", text)
    return ""


# Possessive quantifiers and lookbehinds keep the time linear: a line of ten thousand spaces takes
# ten thousand steps, not their square.
_DASHES = re.compile(r"(?<!\s)\s++-\s++-(?:\s++-)*\s++")
_RULES = [
    # tags whose characters were separated; brackets that lost their first items or all of them
    (re.compile(r"<\s*+/?\s*+(?!unk\b)[a-z]++\s*+/?\s*+>"), " "),
    (re.compile(r"([(\[])\s*+[,;](?:[\s,;]|[-–] )*+"), r"\1"),
    (re.compile(r"\(\s*+\)|\[\s*+\]"), ""),
    (re.compile(r"(?<!\s)\s++([,;:.?!%°)\]}])"), r"\1"),
    (re.compile(r"([(\[{$£€#])\s+"), r"\1"),
    (re.compile(r"(?<=\w)\s+'\s+(s|t|re|ve|ll|d|m)\b"), r"'\1"),
    (re.compile(r"(?<=\w)\s+'\s+(?=\w)"), "' "),  # the boys ' books
    (re.compile(r"(?<=\w)\s+-\s+(?=\w)"), "-"),
    (re.compile(r"(?<=\w)\s+/\s+(?=\w)"), "/"),
    (re.compile(r"\b([a-z]\.[a-z])\s*\.(?=\s|$)"), r"\1."),  # u.s ., e.g .
    (re.compile(r"(?<!\.)\.{2,}+$"), "."),
    (re.compile(r"\s+"), " "),
]
_FINAL_QUOTE = re.compile(r'(?<!\s)\s++"(\s*+[.?!]?)$')
_QUOTED = re.compile(r'"([^"]*)"')


def detokenise(text: str) -> str:
    """Return a tokenised sentence as people write it: ``"a ( b ) ."`` becomes ``"a (b)."``."""
    text = _DASHES.sub(" - ", text)
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    # With an odd number of marks the pairs are unknown: only a final mark surely closes one.
    if text.count('"') % 2:
        return _FINAL_QUOTE.sub(r'"\1', text).strip()
    return _QUOTED.sub(lambda match: f'"{match[1].strip()}"', text).strip()
