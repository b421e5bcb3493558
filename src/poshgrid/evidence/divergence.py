"""Word forms of texts by source, and how far two unigram distributions of them diverge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np
import polars as pl

from poshgrid.corpora.words import WORD

Forms = dict[str, Counter[str]]
"""Source -> word form -> how often it occurs."""


def count(batch: pl.DataFrame, forms: Forms) -> None:
    """Add the word forms of some sentences.

    A form is in lower case, with typewriter apostrophes, cut as for the n-gram nulls: marks are
    forms of their own.

    Args:
        batch: columns ``source`` and ``text``.
        forms: what they are added to.
    """
    text = pl.col("text").str.to_lowercase().str.replace_all("’", "'", literal=True)
    found = (
        batch.select("source", form=text.str.extract_all(WORD.pattern))
        .explode("form")
        .drop_nulls("form")
        .group_by("source", "form")
        .len()
    )
    for source, form, number in found.iter_rows():
        forms.setdefault(source, Counter())[form] += number


def total(forms: Forms) -> Counter[str]:
    """Return the word forms of all sources together."""
    found: Counter[str] = Counter()
    for each in forms.values():
        found.update(each)
    return found


def divergence(before: Mapping[str, int], after: Mapping[str, int]) -> float | None:
    """Return the Jensen-Shannon divergence of two unigram distributions, in bits (Lin 1991).

    Args:
        before: form -> how often it occurs.
        after: the same of the other text.

    Returns:
        0 where they are the same, 1 where no form is shared; ``None`` if one of them has no word.
    """
    from scipy.special import rel_entr

    forms = sorted({*before, *after})  # sums depend on the order
    one, other = (np.array([each.get(f, 0) for f in forms], float) for each in (before, after))
    if not one.sum() or not other.sum():
        return None
    one, other = one / one.sum(), other / other.sum()
    mean = (one + other) / 2
    nats = (rel_entr(one, mean).sum() + rel_entr(other, mean).sum()) / 2
    return round(max(0.0, float(nats / np.log(2))), 8)
