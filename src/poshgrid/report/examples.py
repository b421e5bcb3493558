"""One minimal pair of each phenomenon, with the words that differ marked."""

from __future__ import annotations

import difflib
from typing import Any

import polars as pl


def of_items(items: pl.DataFrame, phenomena: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return the first pair of each phenomenon.

    Args:
        items: :data:`poshgrid.benchmark.schema.ITEMS`.
        phenomena: (category, phenomenon) in the order of the page.

    Returns:
        ``phenomenon``, ``contrast``, ``n`` (pairs, with thousands apart), ``good`` and ``bad``:
        lists of (words, whether they differ from the other member).
    """
    found = []
    for category, phenomenon in phenomena:
        rows = items.filter(
            (pl.col("category") == category) & (pl.col("phenomenon") == phenomenon)
        ).sort("item_id")
        if rows.is_empty():
            continue
        row = rows.row(0, named=True)
        good, bad = differences(row["good"], row["bad"])
        found.append({
            "phenomenon": phenomenon,
            "contrast": row["contrast"].replace("-", " "),
            "n": f"{rows.height:,}",
            "good": good,
            "bad": bad,
        })  # fmt: skip
    return found


def differences(good: str, bad: str) -> tuple[list[tuple[str, bool]], list[tuple[str, bool]]]:
    """Cut two sentences into stretches of words that they share and that they do not share."""
    first, second = good.split(), bad.split()
    pairs: tuple[list[tuple[str, bool]], list[tuple[str, bool]]] = ([], [])
    matcher = difflib.SequenceMatcher(a=first, b=second, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        for stretch, parts in ((first[a:b], pairs[0]), (second[c:d], pairs[1])):
            if stretch:
                parts.append((" ".join(stretch), kind != "equal"))
    return pairs
