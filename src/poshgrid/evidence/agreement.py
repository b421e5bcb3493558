"""Agreement between two parsers about which sentences are evidence."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from poshgrid.errors import PoshgridError
from poshgrid.evidence.schema import Labels, column
from poshgrid.files import read_schema, read_table


def agreement(first: Path, second: Path) -> dict[str, dict[str, dict[str, float | int | None]]]:
    """Compare two tables of evidence of the same corpus, sentence by sentence.

    Args:
        first: labels from one parser.
        second: labels from another.

    Returns:
        Filter -> reading -> ``both``, ``first_only``, ``second_only``, ``neither`` (sentences) and
        ``kappa``, Cohen's (``None`` if both give all sentences the same label, so that kappa is
        undefined).

    Raises:
        PoshgridError: the tables have different sentences or filters.
    """
    labels = Labels.of(read_schema(first))
    one, two = read_table(first, labels.schema), read_table(second, labels.schema)
    if not one["sent_id"].equals(two["sent_id"]):
        raise PoshgridError(f"{second}: other sentences than in {first}; label both again")
    return {
        word: {
            reading: _compare(one[column(word, reading)], two[column(word, reading)])
            for reading in readings
        }
        for word, readings in sorted(labels.readings.items())
    }


def _compare(one: pl.Series, two: pl.Series) -> dict[str, float | int | None]:
    both = int((one & two).sum())
    first_only, second_only = int((one & ~two).sum()), int((~one & two).sum())
    neither = len(one) - both - first_only - second_only
    return {
        "both": both,
        "first_only": first_only,
        "second_only": second_only,
        "neither": neither,
        "kappa": cohens_kappa(both, first_only, second_only, neither),
    }


def cohens_kappa(both: int, first_only: int, second_only: int, neither: int) -> float | None:
    """Return agreement beyond chance, (observed - expected) / (1 - expected).

    Args:
        both: number of sentences that both mark.
        first_only: number that only the first marks.
        second_only: number that only the second marks.
        neither: number that neither marks.
    """
    total = both + first_only + second_only + neither
    if not total:
        return None
    first, second = (both + first_only) / total, (both + second_only) / total
    expected = first * second + (1 - first) * (1 - second)
    if expected >= 1:
        return None
    return ((both + neither) / total - expected) / (1 - expected)
