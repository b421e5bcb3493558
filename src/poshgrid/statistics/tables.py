"""Accuracies for a paper: its Tables 3 and 8, with nulls and the models of others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from poshgrid.statistics import levels
from poshgrid.tables.table import Column, Table, text, varying

_AXES = ("size", "condition", "learner", "regimen", "bias")
_TESTS = (
    "Stars: two-sided χ² against 50% over all seeds' pairs, uncorrected (* p < .05, ** p < .01, "
    "*** p < .001); daggers: the same levels for one χ² per seed, Fisher-combined, Holm-corrected "
    "within a row (p = 1 where seeds disagree in direction). ‡: a null of this cell (untrained, "
    "unigram or n-gram) is far from 50%. §: by the sum and by the mean over tokens the accuracies "
    "differ by more than 5 points, so that it matters how words are cut into tokens. Mean and "
    "sample SD over seeds in %. Rows marked untrained or counted are the nulls, rows marked "
    "pretrained models of others."
)

_APART = 0.05  # accuracies by sum and by mean further apart than this (share) are marked


def accuracies(rows: pl.DataFrame) -> Iterator[Table]:
    """Yield two tables for each suite: by category, and by phenomenon.

    Args:
        rows: columns of ``ACCURACY``.
    """
    for suite in sorted(rows["suite"].unique()):
        found = rows.filter(pl.col("suite") == suite)
        yield _wide(found, "category", "overall", f"{suite}: by category")
        yield _wide(found, "phenomenon", "average", f"{suite}: by phenomenon")


def _wide(rows: pl.DataFrame, level: str, mean: str, caption: str) -> Table:
    columns = rows.filter(pl.col("level") == level).sort("category", "phenomenon")
    names = columns[level].unique(maintain_order=True).to_list()
    axes = varying(rows, _AXES, always=("size", "condition"))
    cells: dict[tuple[str, ...], dict[str, str]] = {}
    kept = rows.filter(pl.col("level").is_in([level, mean])).sort(
        levels.words(), "size", "condition", "learner", "regimen", "bias"
    )
    for row in kept.iter_rows(named=True):
        key = tuple(row[axis] for axis in _AXES)
        cells.setdefault(key, {})[row[level] if row["level"] == level else mean] = _cell(row)
    lines = [
        [key[_AXES.index(axis)] for axis in axes] + [found.get(name, "") for name in (*names, mean)]
        for key, found in cells.items()
    ]
    header = [*map(text, axes), *map(Column, (*names, mean))]
    return Table(f"accuracy-{level}", f"{caption}. {_TESTS}", header, lines)


def _cell(row: dict[str, Any]) -> str:
    marks = str(row["stars_pooled"]) + str(row["stars_fisher_holm"]).replace("*", "†")
    marks += ("‡" if row["far"] else "") + ("§" if _depends_on_tokens(row) else "")
    sd = "" if row["sd"] is None else f" ({100 * row['sd']:.1f})"
    return f"{100 * row['mean']:.1f}{marks}{sd}"


def _depends_on_tokens(row: dict[str, Any]) -> bool:
    either = row["mean_sum"], row["mean_mean"]
    # The last bits of a mean are no difference.
    return None not in either and abs(either[0] - either[1]) > _APART + 1e-9
