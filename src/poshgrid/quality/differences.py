"""What a pair's members differ in besides syntax: length and the frequency of their words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from poshgrid.benchmark.lexicon import tokens


@dataclass(frozen=True)
class Difference:
    """Good minus bad, over the pairs of a phenomenon."""

    phenomenon: str
    measure: str  # words, characters, tokens, log frequency (base)
    mean: float
    sd: float
    pairs: int
    equal: int  # pairs without a difference

    def described(self) -> dict[str, Any]:
        """Return it as JSON."""
        return asdict(self)


def differences(
    items: pl.DataFrame,
    counts: Mapping[str, Counter[str]],
    lengths: pl.DataFrame | None = None,
) -> list[Difference]:
    """Return the differences of length and frequency, phenomenon by phenomenon.

    The frequency of a member is the mean over its words of log10((count + 1) / all words): one
    more for each word, so that words that a base lacks have a logarithm.

    Args:
        items: the columns of ``PAIRS``.
        counts: base -> type -> tokens.
        lengths: ``item_id``, ``tokens``: good minus bad in tokens, a row for each item and run.
    """
    found = []
    sums = {base: math.log10(sum(counted.values())) for base, counted in counts.items()}
    for (phenomenon,), rows in items.group_by("phenomenon", maintain_order=True):
        pairs = list(rows.select("good", "bad").iter_rows())
        measures: dict[str, list[float]] = {
            "words": [len(good.split()) - len(bad.split()) for good, bad in pairs],
            "characters": [len(good) - len(bad) for good, bad in pairs],
        }
        if lengths is not None:
            joined = lengths.join(rows.select("item_id"), on="item_id")
            measures["tokens"] = joined["tokens"].to_list()
        for base, counted in counts.items():
            measures[f"log frequency ({base})"] = [
                _frequency(good, counted, sums[base]) - _frequency(bad, counted, sums[base])
                for good, bad in pairs
            ]
        found += [
            _difference(str(phenomenon), measure, values)
            for measure, values in measures.items()
            if values
        ]
    return found


def _frequency(text: str, counted: Counter[str], total: float) -> float:
    """Return the mean log10 relative frequency of a sentence's words; 0 without words.

    Summed exactly: members with the same words must have the same frequency.
    """
    logs = [math.log10(counted[word] + 1) - total for word in tokens(text)]
    return math.fsum(logs) / len(logs) if logs else 0.0


def _difference(phenomenon: str, measure: str, values: list[float]) -> Difference:
    mean = math.fsum(values) / len(values)
    spread = math.fsum((value - mean) ** 2 for value in values)
    sd = math.sqrt(spread / (len(values) - 1)) if len(values) > 1 else 0.0
    return Difference(
        phenomenon, measure, mean, sd, len(values), sum(value == 0 for value in values)
    )
