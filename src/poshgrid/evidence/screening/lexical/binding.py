"""Words without which a sentence holds no reflexive with two nouns or pronouns before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from poshgrid.evidence.screening.closed_classes import (
    DETERMINERS,
    OTHER_SUBJECTS,
    SUBJECT_PRONOUNS,
    listed,
    lower,
    spoken,
)

_ENDINGS = ("self", "selves")
_PRONOUNS = (SUBJECT_PRONOUNS | OTHER_SUBJECTS - {"there"}) | listed(
    "me him her us them em 'em my your his its our their mine yours hers ours theirs who whom "
    "whose which what"
)


def screen(words: Sequence[str]) -> bool:
    """Say whether the filter may remove a sentence of these words: a reflexive, two words before.

    Args:
        words: as parsers see them (``poshgrid.parsing.words``).
    """
    return any(word.endswith(_ENDINGS) for word in lower(words)[2:])


def direct(words: Sequence[str]) -> tuple[int, ...] | None:
    """Return the places of two words that are nouns or pronouns by their form, and a reflexive.

    Pronouns, possessives, names, and what follows a determiner. To ask that one of them agrees
    with the reflexive and another does not would spare next to nothing (1.56 against 1.42% of the
    words of web text, the same evidence found): reflexives are rare, so that this is cheap.

    Args:
        words: as parsers see them (``poshgrid.parsing.words``).
    """
    small = lower(words)
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


BACKSTOPS: dict[str, Callable[[Sequence[str]], tuple[int, ...] | None]] = {"direct": direct}
"""Reading of the filter -> its backstop."""


def candidates(words: Sequence[str]) -> tuple[int, ...] | None:
    """Return the places of the reflexives, or ``None``: the paper's candidates (appendix C)."""
    reflexives = tuple(i for i, word in enumerate(lower(words), start=1) if word.endswith(_ENDINGS))
    return reflexives or None
