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
UNKNOWN = "<unk>"
"""A word that the makers of a corpus replaced because it was not in their vocabulary."""

_BLOCKS = "br|hr|p|div|li|[ou]l|d[ltd]|table|t[rdh]|h[1-6]|blockquote|pre|section"
_MARKUP = [
    (re.compile(r"< ?unk ?>", re.IGNORECASE), UNKNOWN),
    (re.compile(rf"</?(?:{_BLOCKS})\b[^<>]*>", re.IGNORECASE), " "),  # tags that part words
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
"""What no rule changes: words between single spaces, single apostrophes within them."""
_DROPPED_CATEGORIES = {"Cc", "Cf", "Co", "Cs", "Cn"}
MAX_WORDS = 200  # longer sentences are dropped
_LONGEST_WORD = 1_000  # characters; tokenisers need their square in time
_LETTER = re.compile(r"[^\W\d_]")


def normalise(text: str) -> str:
    """Return a text spelt with the characters that the corpora have.

    All sentences of the corpora are spelt like this; whatever a model is tested on must be, too. In
    this order:

    1. control, format, private and unassigned characters are removed (zero-width space, soft
       hyphen, byte order mark); white space other than a line break becomes a space (no-break
       space, tab, carriage return);
    2. Unicode NFC: a letter and its accent are one character;
    3. single quotes, apostrophes, primes and backticks become ``'``, double ones ``"`` (two single
       ones, too); ``…`` becomes ``...``, the hyphens of Unicode and the minus ``-``;
    4. a dash (``—``, ``--``, or ``–`` next to a space) becomes ``" - "``, any other ``–`` becomes
       ``-``; a dash next to a quotation mark is written on to it;
    5. several spaces become one.

    Line breaks, and a space at either end, stay. Case, digits and words are not changed. A second
    call changes nothing.
    """
    return text if _PLAIN.fullmatch(text) else _rewrite(_characters(text), _SPELLING)


def clean(text: str) -> str:
    """Return a text without markup, in one line, as :func:`normalise` spells it.

    Tags go, and leave no space unless they part words, as ``<br>`` does; ``<unk>`` is a word. Wiki
    links leave their text, reference marks and citation templates nothing. Any other template
    stays: its words are not known (see :func:`fault`).
    """
    text = html.unescape(text) if "&" in text else text
    if not _PLAIN.fullmatch(text):  # most sentences of speech are: ten patterns saved
        text = _characters(text)
        # Up to the last end of a comment each comment has an end, which makes the search fast
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
    """Say whether a text may be sentences: none of its words has a thousand characters."""
    return max(map(len, text.split()), default=0) <= _LONGEST_WORD


def fault(text: str, cleaning: Cleaning) -> str | None:
    """Return why a cleaned sentence is left out, or ``None`` if it is kept.

    Args:
        text: what :func:`clean` returned.
        cleaning: the fewest words, divided by white space.
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
