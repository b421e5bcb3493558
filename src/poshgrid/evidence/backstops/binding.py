"""Sentences that look like evidence about binding by their words alone."""

from __future__ import annotations

from collections.abc import Sequence

from poshgrid.evidence.closed_classes import (
    DETERMINERS,
    OTHER_SUBJECTS,
    SUBJECT_PRONOUNS,
    listed,
    spoken,
)
from poshgrid.parsing.tree import lowered

_ENDINGS = ("self", "selves")
_PRONOUNS = (SUBJECT_PRONOUNS | OTHER_SUBJECTS - {"there"}) | listed(
    "me him her us them em 'em my your his its our their mine yours hers ours theirs who whom "
    "whose which what"
)


def direct(words: Sequence[str]) -> tuple[int, ...] | None:
    """Return the positions of two words that look like nouns or pronouns, and of a reflexive.

    These are pronouns, possessives, names, and words after a determiner. Checking that one of them
    agrees with the reflexive and another does not would save almost nothing (1.42 instead of 1.56%
    of the words of web text, with the same evidence found): reflexives are rare, so the test is
    cheap.

    Args:
        words: words as parsers receive them (``poshgrid.parsing.tokenize``).
    """
    small = lowered(words)
    for i, word in enumerate(small):
        if word.endswith(_ENDINGS):
            before = [
                j + 1
                for j in range(i)
                if small[j] in _PRONOUNS
                or (j and words[j][0].isupper())
                or (j and small[j - 1] in DETERMINERS and spoken(small[j]))
            ]
            if len(before) >= 2:
                return before[0], before[1], i + 1
    return None


def candidates(words: Sequence[str]) -> tuple[int, ...] | None:
    """Return the positions of the reflexives, or ``None``: the paper's candidates (appendix C)."""
    small = enumerate(lowered(words), start=1)
    reflexives = tuple(i for i, word in small if word.endswith(_ENDINGS))
    return reflexives or None
