"""Words of published pairs, and which of their characters are no text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from poshgrid.models.classes import CLITIC, FUNCTION_WORDS

# Control characters, half characters, and marks that reverse the direction of text
_BROKEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_DETACHED = re.compile(r"\s+(?=(?:n't|'(?:s|re|ve|ll|d|m))(?!\w)|[.,?!;:]+(?:\s|$))", re.IGNORECASE)
_NEAR = 0.5  # share of the words of two neighbours; see `lexical_sets`


def no_text(text: str) -> str | None:
    """Return which character is not allowed in text, or ``None``."""
    broken = _BROKEN.search(text)
    return f"the character U+{ord(broken[0]):04X} is not allowed in text" if broken else None


def detokenise(text: str) -> str:
    """Return a tokenised sentence as running text: ``who is n't here ?`` -> ``Who isn't here?``.

    Punctuation marks and clitics join the word before them, the first letter and the pronoun *I*
    become capital. ``can n't``, as SCaMP writes it, becomes ``can't``. Other capitals are not
    restored.

    Args:
        text: a sentence with spaces between its tokens.
    """
    text = re.sub(r"\b(ca)n(?=\s+n't\b)", r"\1", text, flags=re.IGNORECASE)
    text = re.sub(r"\bi\b", "I", _DETACHED.sub("", text))
    return text[:1].upper() + text[1:]


def shared_ends(one: Sequence[str], two: Sequence[str]) -> tuple[int, int]:
    """Return how many words two members share at the beginning and, of the rest, at the end."""
    shorter = min(len(one), len(two))
    first = next((i for i in range(shorter) if one[i] != two[i]), shorter)
    rest = shorter - first
    return first, next((i for i in range(rest) if one[-1 - i] != two[-1 - i]), rest)


def content(*members: str) -> frozenset[str]:
    """Return the lower-cased words of sentences that are not of a closed class."""
    words = (CLITIC.sub("", w) for member in members for w in WORD.findall(member.lower()))
    return frozenset(word for word in words if word and word not in FUNCTION_WORDS)


def lexical_sets(pairs: Iterable[tuple[str, str, str]]) -> list[str]:
    """Return the lexical set of each pair of a phenomenon: pairs of one set are not independent.

    The files do not say which pairs were filled with the same words. Zorro writes the fillings of
    one draw one after the other and varies the frame around them (*look at this purple thing*,
    *this purple thing went there*), so the words of a whole pair are too many, and the shared words
    are only known from the neighbours. Hence: a pair belongs to the set of the previous pair if at
    least half of the content words of the two (Jaccard) are the same. A set is named after the
    content words of its first pair, and sets with the same name are one. Where pairs are drawn one
    by one, as in BLiMP, nearly every pair is its own set.

    Args:
        pairs: (item id, good, bad), in the file's order; a pair without a content word is its own
            set, named after its id.
    """
    names: list[str] = []
    before: frozenset[str] = frozenset()
    for item, good, bad in pairs:
        words = content(good, bad)
        if not words:
            names.append(item)
        elif before and len(words & before) >= _NEAR * len(words | before):
            names.append(names[-1])
        else:
            names.append("+".join(sorted(words)))
        before = words
    return names
