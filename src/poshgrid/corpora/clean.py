"""One spelling for quotes, dashes and white space in all corpora, and removal of markup."""

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
UNKNOWN = "<unk>"
"""A word that the makers of a corpus replaced because it was not in their vocabulary."""

_BLOCKS = "br|hr|p|div|li|[ou]l|d[ltd]|table|t[rdh]|h[1-6]|blockquote|pre|section"
_MARKUP = [
    (re.compile(r"< ?unk ?>", re.IGNORECASE), UNKNOWN),
    (re.compile(rf"</?(?:{_BLOCKS})\b[^<>]*>", re.IGNORECASE), " "),  # tags that separate words
    (re.compile(r"</?(?!unk>)[A-Za-z][^<>]*>"), ""),  # tags within a word: un<b>believ</b>able
    (re.compile(r"\{\{(?:citation needed|cn|fact|sfn|refn?)\b[^{}]*\}\}", re.IGNORECASE), ""),
    (re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]"), r"\1"),  # wiki links
    (re.compile(r"\[(?:\d+|citation needed)\]"), ""),  # references
    (re.compile(r"'{3,}|={2,}"), " "),  # wiki bold, headings
    (re.compile(r"\s+"), " "),
]
_SPELLING = [
    (re.compile(r"''"), '"'),
    (re.compile(r" {2,}"), " "),  # long runs of spaces make the rules for dashes slow
    (re.compile(r" *– +| +– *| *[-–]{2,} *"), " - "),
    (re.compile(r"–"), "-"),
    (re.compile(r" - (?=['\"](?:[\s,.;:?!)]|$))"), " -"),  # a dash at the end of a quotation
    (re.compile(r"(?<!\w)(['\"]) - "), r"\1- "),  # and at its beginning
    (re.compile(r" {2,}"), " "),
]
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_PLAIN = re.compile(r"[A-Za-z0-9,.?!;:]+(?:(?:' | '|[ '])[A-Za-z0-9,.?!;:]+)*")
"""Texts that no rule changes: words with single spaces between them and single apostrophes in
them."""
_DROPPED_CATEGORIES = {"Cc", "Cf", "Co", "Cs", "Cn"}
MAX_WORDS = 200  # longer sentences are dropped
_LONGEST_WORD = 1_000  # characters; a tokenizer's time grows with their square
_LETTER = re.compile(r"[^\W\d_]")


def normalise(text: str) -> str:
    """Return a text in the spelling that all sentences of the corpora have.

    Whatever a model is tested on must be spelt like this, too. In this order:

    1. control, format, private and unassigned characters are removed (zero-width space, soft
       hyphen, byte order mark); white space other than a line break becomes a space (no-break
       space, tab, carriage return);
    2. Unicode NFC: a letter and its accent are one character;
    3. single quotes, apostrophes, primes and backticks become ``'``, double ones ``"`` (two single
       ones, too); ``…`` becomes ``...``, the hyphens of Unicode and the minus ``-``;
    4. a dash (``—``, ``--``, or ``–`` next to a space) becomes ``" - "``, any other ``–`` becomes
       ``-``; there is no space between a dash and a quotation mark that it touches;
    5. several spaces become one.

    Line breaks, and a space at either end, are kept. Case, digits and words are not changed. A
    second call changes nothing.
    """
    return text if _PLAIN.fullmatch(text) else _rewrite(_characters(text), _SPELLING)


def clean(text: str) -> str:
    """Return a text without markup, in one line, as :func:`normalise` spells it.

    Tags are removed; a tag that separates words, such as ``<br>``, becomes a space. ``<unk>`` is a
    word. A wiki link is replaced by its text; reference marks and citation templates are removed.
    Any other template stays, because its words are not known (see :func:`fault`).
    """
    text = html.unescape(text) if "&" in text else text
    if not _PLAIN.fullmatch(text):  # saves ten patterns for most sentences of speech
        text = _characters(text)
        # The pattern is fast only where each comment ends, so it is applied up to the last end
        commented, end, rest = text.rpartition("-->")
        text = _COMMENT.sub(" ", commented + end) + rest
        text = _rewrite(_rewrite(text, _MARKUP), _SPELLING)
    return text.strip()


def _characters(text: str) -> str:
    """Return a text after steps 1 to 3 of :func:`normalise`, character by character."""
    if text.isascii() and text.isprintable() and "`" not in text:
        return text
    text = "".join(
        c if c == "\n" else " " if c.isspace() else c
        for c in text
        if c.isspace() or unicodedata.category(c) not in _DROPPED_CATEGORIES
    )
    return unicodedata.normalize("NFC", text).replace("``", '"').translate(_CHARACTERS)


def _rewrite(text: str, rules: list[tuple[re.Pattern[str], str]]) -> str:
    for pattern, replacement in rules:
        text = pattern.sub(replacement, text)
    return text


def running(text: str) -> bool:
    """Return whether a text can be running text: all its words have at most 1,000 characters."""
    return max(map(len, text.split()), default=0) <= _LONGEST_WORD


def fault(text: str, cleaning: Cleaning) -> str | None:
    """Return why a cleaned sentence is left out, or ``None`` if it is kept.

    Args:
        text: the output of :func:`clean`.
        cleaning: its ``min_words`` is the smallest number of words, separated by white space.
    """
    n_words = text.count(" ") + 1 if text else 0
    faults = {
        "no running text": not running(text),
        "empty": not text,
        "undecodable character": "\ufffd" in text,
        "wiki template": "{{" in text or "}}" in text,
        "no letter": not _LETTER.search(text),
        "too short": n_words < cleaning.min_words,
        "too long": n_words > MAX_WORDS,
    }
    return next((reason for reason, holds in faults.items() if holds), None)
