"""Words as tokenisers set them apart, joined as one would write them."""

from __future__ import annotations

import re
from collections.abc import Iterable

_CLOSING = re.compile(
    r"[,.;:?!%…)\]}]+|''|['’”]|n['’]t|['’](?:s|t|re|ve|ll|d|m)", re.IGNORECASE
)  # written on to the word before
_GLUING = re.compile(r"[(\[{$£€“‘]|``")  # the word after is written on to it
_HALVES = {  # words that tokenisers cut in two
    ("gon", "na"), ("wan", "na"), ("got", "ta"), ("gim", "me"), ("lem", "me"), ("dun", "no"),
}  # fmt: skip

# Nothing is tried twice (possessive quantifiers, runs that begin where nothing like them is before
# them): a line of ten thousand spaces costs ten thousand steps, not their square.
_DASHES = re.compile(r"(?<!\s)\s++-\s++-(?:\s++-)*\s++")
_RULES = [
    (re.compile(r"<\s*+/?\s*+[a-z]++\s*+/?\s*+>"), " "),  # tags whose characters were set apart
    (re.compile(r"\(\s*+[,;]*+\s*+\)|\[\s*+\]"), ""),  # brackets whose content was lost
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


def joined(words: Iterable[str]) -> str:
    """Return words and marks of a tokeniser as one would write them.

    ``I do n't wan na , " Bob "`` becomes ``I don't wanna, "Bob"``.
    """
    text = before = ""
    quoted = False
    glued = True
    for word in words:
        attached = (
            glued
            or _CLOSING.fullmatch(word) is not None
            or (word == '"' and quoted)
            or (before.lower(), word.lower()) in _HALVES
        )
        text += word if attached else f" {word}"
        glued = _GLUING.fullmatch(word) is not None or (word == '"' and not quoted)
        quoted ^= word == '"'
        before = word
    return text


def detokenise(text: str) -> str:
    """Return a sentence as one would write it: ``"a test ( or two ) , yes ."`` loses its spaces."""
    text = _DASHES.sub(" - ", text)
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    # With an odd mark it is open which ones are partners: only a final one is sure to close.
    if text.count('"') % 2:
        return _FINAL_QUOTE.sub(r'"\1', text).strip()
    return _QUOTED.sub(lambda found: f'"{found[1].strip()}"', text).strip()
