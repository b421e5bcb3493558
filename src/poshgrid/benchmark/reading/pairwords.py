"""Words of outside pairs: how they are written, and which pairs share them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from poshgrid.models.classes import CLITIC, FUNCTION_WORDS

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_DETACHED = re.compile(r"\s+(?=(?:n't|'(?:s|re|ve|ll|d|m))(?!\w)|[.,?!;:]+(?:\s|$))", re.IGNORECASE)
_NEAR = 0.5  # of the words of two neighbours; see `lexical_sets`


def detokenise(text: str) -> str:
    """Write a sentence as running text: ``who is n't here ?`` becomes ``Who isn't here?``.

    Punctuation marks and clitics join the word before them, the first letter and the pronoun *I*
    are capital. ``can n't``, as SCaMP writes it, becomes ``can't``. Other capitals are not
    restored.

    Args:
        text: a sentence with spaces between its tokens.
    """
    text = re.sub(r"\b(ca)n(?=\s+n't\b)", r"\1", text, flags=re.IGNORECASE)
    text = re.sub(r"\bi\b", "I", _DETACHED.sub("", text))
    return text[:1].upper() + text[1:]


def shared_ends(one: Sequence[str], two: Sequence[str]) -> tuple[int, int]:
    """Return how many words two members share at their beginning and, of the others, at the end."""
    shorter = min(len(one), len(two))
    first = next((i for i in range(shorter) if one[i] != two[i]), shorter)
    rest = shorter - first
    return first, next((i for i in range(rest) if one[-1 - i] != two[-1 - i]), rest)


def content(*members: str) -> frozenset[str]:
    """Return the lower-cased words of some sentences that are not of a closed class."""
    words = (CLITIC.sub("", w) for member in members for w in WORD.findall(member.lower()))
    return frozenset(word for word in words if word and word not in FUNCTION_WORDS)


def lexical_sets(pairs: Iterable[tuple[str, str, str]]) -> list[str]:
    """Return the lexical set of each pair of a phenomenon: pairs of one set are not independent.

    The files do not say which pairs were filled with the same words. Zorro writes the fillings of
    one draw one after the other and varies the frame around them (*look at this purple thing*,
    *this purple thing went there*), so the words of a whole pair are too many, and those that all
    its pairs share are known only from the neighbours. Hence: a pair belongs to the set of the pair
    before it if at least half of the content words of the two (Jaccard) are the same. A set is
    called by the content words of its first pair, and sets with the same name are one. Where pairs
    are drawn one by one, as in BLiMP, nearly every pair is a set of its own.

    Args:
        pairs: (item id, good, bad), in the file's order; a pair without a content word is a set of
            its own, called by its id.
    """
    found: list[str] = []
    before: frozenset[str] = frozenset()
    for item, good, bad in pairs:
        words = content(good, bad)
        if not words:
            found.append(item)
        elif before and len(words & before) >= _NEAR * len(words | before):
            found.append(found[-1])
        else:
            found.append("+".join(sorted(words)))
        before = words
    return found
