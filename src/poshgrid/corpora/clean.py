"""One spelling for what corpora spell in many ways: quotes, dashes, white space, markup."""

from __future__ import annotations

import html
import re
import unicodedata

from poshgrid.config import Cleaning

_CHARACTERS = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′`´ʼ", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        **dict.fromkeys("‐‑‒−", "-"),
        "…": "...",
        "—": " - ",
        "―": " - ",
    }
)
_RULES = [
    (re.compile(r"</?[A-Za-z][^<>]*>"), " "),  # HTML and XML tags
    (re.compile(r"\{\{[^{}]*\}\}"), " "),  # wiki templates
    (re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]"), r"\1"),  # wiki links
    (re.compile(r"\[(?:\d+|citation needed)\]"), ""),  # references
    (re.compile(r"'{3,}|={2,}"), " "),  # wiki bold, headings
    (re.compile(r"``|''"), '"'),
    (re.compile(r"\s+"), " "),  # long runs of spaces make the rules for dashes slow
    (re.compile(r"\s*–\s+|\s+–\s*|\s*-{2,}\s*"), " - "),
    (re.compile(r"–"), "-"),
    (re.compile(r" - (?=['\"](?:[\s,.;:?!)]|$))"), " -"),  # a dash at the end of a quotation
    (re.compile(r"(?<!\w)(['\"]) - "), r"\1- "),  # and at its beginning
    (re.compile(r"\s+"), " "),
]
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_PLAIN = re.compile(r"[A-Za-z0-9,.?!;:]+(?:(?:' | '|[ '])[A-Za-z0-9,.?!;:]+)*")
"""What no rule changes: words between single spaces, single apostrophes within them."""
_DROPPED_CATEGORIES = {"Cc", "Cf", "Co", "Cs", "Cn"}
_LONGEST_WORD = 1_000  # characters; tokenisers need their square in time
_LETTER = re.compile(r"[^\W\d_]")


def clean(text: str) -> str:
    """Return the text in Unicode NFC with plain quotes and dashes, single spaces and no markup.

    ``“`` and ``‘`` become ``"`` and ``'``; a dash between words becomes ``" - "``, one between
    numbers ``-``; control and formatting characters, tags, wiki templates and reference marks go.
    """
    text = unicodedata.normalize("NFC", html.unescape(text) if "&" in text else text)
    if not text.isascii() or not text.isprintable():
        text = text.translate(_CHARACTERS)
        text = "".join(
            " " if c.isspace() else c
            for c in text
            if c.isspace() or unicodedata.category(c) not in _DROPPED_CATEGORIES
        )
    if not _PLAIN.fullmatch(text):  # most sentences of speech are: ten patterns saved
        # Up to the last end of a comment, each has one: none is looked for in vain
        commented, end, rest = text.rpartition("-->")
        text = _COMMENT.sub(" ", commented + end) + rest
        for pattern, replacement in _RULES:
            text = pattern.sub(replacement, text)
    return text.strip()


def running(text: str) -> bool:
    """Say whether a text may be sentences: none of its words has a thousand characters."""
    return max(map(len, text.split()), default=0) <= _LONGEST_WORD


def fault(text: str, cleaning: Cleaning) -> str | None:
    """Return why a cleaned sentence is left out, or ``None`` if it is kept.

    Args:
        text: what :func:`clean` returned.
        cleaning: limits of length, in words divided by white space.
    """
    n_words = text.count(" ") + 1 if text else 0
    if not text:
        return "empty"
    if "\ufffd" in text:
        return "undecodable character"
    if not _LETTER.search(text):
        return "no letter"
    if n_words < cleaning.min_words:
        return "too short"
    if n_words > cleaning.max_words:
        return "too long"
    return None
