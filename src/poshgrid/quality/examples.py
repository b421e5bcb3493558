"""Pairs to look at: some of each phenomenon, drawn at random, their critical regions marked."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, NamedTuple

import polars as pl

Pieces = list[tuple[str, bool]]
"""A sentence cut up: text, and whether it is in the critical region."""


class Example(NamedTuple):
    """A pair as the page shows it."""

    item: str
    template: str
    contrast: str
    lexical_set: str
    good: Pieces
    bad: Pieces


def draw(items: pl.DataFrame, count: int = 5, seed: int = 0) -> dict[str, list[Example]]:
    """Return phenomenon -> some of its pairs; the same suite gives the same pairs.

    Args:
        items: ``ITEMS``.
        count: pairs of each phenomenon.
        seed: another seed gives other pairs.
    """
    found = {}
    for (phenomenon,), rows in items.group_by("phenomenon", maintain_order=True):
        rng = random.Random(f"{seed}/{phenomenon}")
        places = sorted(rng.sample(range(rows.height), min(count, rows.height)))
        found[str(phenomenon)] = [example(rows.row(place, named=True)) for place in places]
    return found


def example(row: Mapping[str, Any]) -> Example:
    """Return an item (``ITEMS``) as the page shows it."""
    return Example(
        row["item_id"],
        row["template"],
        row["contrast"],
        row["lexical_set"],
        *(_pieces(row[m], row[f"{m}_start"], row[f"{m}_end"]) for m in ("good", "bad")),
    )


def _pieces(text: str, start: int, end: int) -> Pieces:
    parts = ((text[:start], False), (text[start:end], True), (text[end:], False))
    return [(part, inside) for part, inside in parts if part]
