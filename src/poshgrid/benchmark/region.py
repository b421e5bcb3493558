"""The critical region of a minimal pair: from the first difference to the last, in whole words."""

from __future__ import annotations

import re

import polars as pl

_WORD = re.compile(r"\S+")


def region(good: str, bad: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return where two members differ, as [start, end) in characters of each.

    Words are what spaces separate, less the punctuation that both members end with. The region of a
    member that only lacks words is empty, at the place where they are missing.

    Args:
        good: one member.
        bad: the other.
    """
    spans = [[m.span() for m in _WORD.finditer(text)] for text in (good, bad)]
    words = [[text[a:b] for a, b in found] for text, found in zip((good, bad), spans, strict=True)]
    shorter = min(map(len, words))
    first = 0
    while first < shorter and words[0][first] == words[1][first]:
        first += 1
    last = 0
    while last < shorter - first and words[0][-1 - last] == words[1][-1 - last]:
        last += 1
    ends = []
    for text, found in zip((good, bad), spans, strict=True):
        inside = found[first : len(found) - last]
        if inside:
            ends.append((inside[0][0], inside[-1][1]))
        else:
            place = found[first][0] if first < len(found) else len(text)
            ends.append((place, place))
    shared = _shared_marks(*(text[a:b] for text, (a, b) in zip((good, bad), ends, strict=True)))
    (a, b), (c, d) = ends
    return (a, b - shared), (c, d - shared)


def add(pairs: pl.DataFrame) -> pl.DataFrame:
    """Add the critical regions to a table of pairs: the columns of ``ITEMS``."""
    found = [region(*members) for members in pairs.select("good", "bad").iter_rows()]
    columns = ("good_start", "good_end", "bad_start", "bad_end")
    values = zip(*((*good, *bad) for good, bad in found), strict=True)
    return pairs.with_columns(
        pl.Series(name, each, dtype=pl.UInt32) for name, each in zip(columns, values, strict=True)
    )


def _shared_marks(first: str, second: str) -> int:
    """Return the number of punctuation characters that both texts end with."""
    shared = 0
    while (
        shared < min(len(first), len(second))
        and first[-1 - shared] == second[-1 - shared]
        and not first[-1 - shared].isalnum()
    ):
        shared += 1
    return shared
