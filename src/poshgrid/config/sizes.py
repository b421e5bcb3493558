"""Sizes of training corpora, e.g. ``10M``, and their numbers of words."""

from __future__ import annotations

import re

SIZE = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)([KM])")
MOST_WORDS = 10**12
"""Largest number of words; all crawled text has fewer."""


def words(size: str) -> int:
    """Return the number of words of a size: ``"10M"`` -> 10,000,000, ``"0.3M"`` -> 300,000.

    Raises:
        ValueError: not a positive number followed by K or M, not a whole number of words, or too
            many.
    """
    match = SIZE.fullmatch(size)
    amount = float(match[1]) * {"K": 1e3, "M": 1e6}[match[2]] if match else 0
    if amount <= 0 or abs(amount - round(amount)) > 1e-6:
        like = size.strip().upper()
        example = like if SIZE.fullmatch(like) and like != size else "300K or 10M"
        raise ValueError(
            f"impossible size {size!r}: write thousands or millions of words, e.g. {example}"
        )
    if amount > MOST_WORDS:
        raise ValueError(f"impossible size {size!r}: more than {MOST_WORDS:,} words; lower it")
    return round(amount)
