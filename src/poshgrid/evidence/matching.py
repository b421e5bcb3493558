"""Choosing the sentences whose places evidence takes: same source, nearest length."""

from __future__ import annotations

import numpy as np
import polars as pl

from poshgrid.errors import PoshgridError


def replacements(
    evidence: pl.DataFrame, sentences: pl.DataFrame, generator: np.random.Generator
) -> dict[int, int]:
    """Return which sentence gives its place to which sentence with evidence.

    Each evidence sentence, in turn, takes the place of a random sentence among those of its source
    that are nearest to it in length (words); of two equally near lengths the shorter. When its
    source has none left, the nearest of any source is taken.

    Args:
        evidence: ``sent_id``, ``source`` and ``n_words`` of the sentences to put back.
        sentences: the same of those that may give way.
        generator: source of randomness.

    Returns:
        sent_id of the sentence that gives way -> sent_id of the evidence.

    Raises:
        PoshgridError: there are more evidence sentences than places.
    """
    if evidence.height > sentences.height:
        raise PoshgridError(
            f"{evidence.height:,} sentences of evidence for {sentences.height:,} places; "
            "lower the rates of re-insertion"
        )
    places: dict[str, dict[int, list[int]]] = {}
    shuffled = sentences[generator.permutation(sentences.height).tolist()]
    for sent_id, source, length in shuffled.select("sent_id", "source", "n_words").iter_rows():
        places.setdefault(source, {}).setdefault(length, []).append(sent_id)
    found: dict[int, int] = {}
    for sent_id, source, length in evidence.select("sent_id", "source", "n_words").iter_rows():
        home = source if places.get(source) else _nearest_source(places, length)
        near = _nearest(places[home], length)
        found[places[home][near].pop()] = sent_id
        if not places[home][near]:
            del places[home][near]
    return found


def _nearest(lengths: dict[int, list[int]], length: int) -> int:
    return min(lengths, key=lambda each: (abs(each - length), each))


def _nearest_source(places: dict[str, dict[int, list[int]]], length: int) -> str:
    return min(
        (source for source in places if places[source]),
        key=lambda source: (abs(_nearest(places[source], length) - length), source),
    )
