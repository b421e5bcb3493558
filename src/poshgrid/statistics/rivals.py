"""What else could explain an accuracy: baselines, and what heuristics choose."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from poshgrid.config.runs import COUNTED, NULLS, REFERENCE, UNTRAINED, WORD_NULLS
from poshgrid.rules import predictions, table
from poshgrid.statistics.schema import RUN_AXES

SOLVED = 0.95
"""Accuracy of a rival from which on the pairs cannot test a phenomenon."""


def read_rules(
    path: Path, pairs: pl.DataFrame, judged: pl.DataFrame
) -> tuple[pl.DataFrame, set[tuple[str, str]]]:
    """Return what the heuristics that are not hierarchical choose, and what they solve.

    A heuristic that has no say tosses a coin, .5. Pairs that are judged as one are one choice: the
    member that the heuristic prefers in most of them.

    Args:
        path: columns of ``RULES``.
        pairs: the suite's, columns of ``ITEMS``.
        judged: the units that are judged, sorted by item_id.

    Returns:
        A column for each heuristic, with the rows of ``judged``; and the categories and phenomena
        of which one is right on ``SOLVED`` of the pairs that a hierarchical heuristic has a say on.
        On the other pairs of such a phenomenon something else decides.

    Raises:
        PoshgridError: the file is missing, or its pairs are not those of the suite.
    """
    rules = table.read(path, pairs)
    wide = predictions.wide(predictions.of_words(rules, pairs), judged)
    names = [name for name in wide.columns if name in set(rules["rule"])]
    hierarchical = set(rules.filter("hierarchical")["rule"]).intersection(names)
    tested = wide.filter(pl.any_horizontal(False, pl.col(sorted(hierarchical)).is_not_null()))
    others = [name for name in names if name not in hierarchical]
    means = tested.group_by("category", "phenomenon").agg(pl.col(others).fill_null(0.5).mean())
    best = pl.max_horizontal(0.0, *others)
    solved = means.filter(best >= SOLVED).select("category", "phenomenon")
    return wide.select(pl.col(others).fill_null(0.5)), set(solved.iter_rows())


def trained(points: list[dict[str, Any]]) -> Iterator[tuple[int, dict[str, str], dict[str, int]]]:
    """Yield the place, the axes and the nulls of the points that are no reference."""
    for i, point in enumerate(points):
        if point["regimen"] not in REFERENCE:
            yield i, {axis: point[axis] for axis in RUN_AXES}, dict(of_point(point, points))


def of_point(point: dict[str, Any], points: list[dict[str, Any]]) -> Iterator[tuple[str, int]]:
    """Yield the nulls of a point's condition and size, and the index of each in ``points``."""
    cell = point["condition"], point["size"]
    names = {
        (*cell, point["learner"], UNTRAINED, "none"): UNTRAINED,
        **{(*cell, null, COUNTED, "none"): null for null in WORD_NULLS},
    }
    places = {
        null: j
        for j, other in enumerate(points)
        if (null := names.get(tuple(other[axis] for axis in RUN_AXES)))
    }
    yield from ((null, places[null]) for null in NULLS if null in places)
