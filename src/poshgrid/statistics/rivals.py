"""Models compared with their baselines and heuristics: what words alone do.

Rivals know no syntax, or a wrong one: the nulls of the same condition and size, and rules that
choose a member of each pair. They judge the pairs that a model judges, so that differences are
taken set by set.

A null that is far from 50% on one base and at 50% on the mean of two passes for a fair one. So what
register does to a model (accuracy on one base less that on another) stands beside what it does to
the null of the same text, phenomenon by phenomenon; and a model whose margins, pair by pair, go
with a null's may know no more than the null, whatever its accuracy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from poshgrid.config.runs import COUNTED, NULLS, REFERENCE, UNTRAINED, WORD_NULLS
from poshgrid.config.specs import Cell
from poshgrid.rules import predictions, table
from poshgrid.statistics import intervals
from poshgrid.statistics.intervals import Difference
from poshgrid.statistics.schema import BESIDE_NULLS, RUN_AXES
from poshgrid.statistics.tally import Tally

SOLVED = 0.95
"""Accuracy of a rival from which on the pairs cannot test a phenomenon."""
_Z = float(stats.norm.ppf(0.975))


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


def beside(tally: Tally, accuracies: pl.DataFrame, cells: Mapping[str, Cell]) -> pl.DataFrame:
    """Set every trained point beside each of its nulls, phenomenon by phenomenon.

    ``r`` is Pearson's correlation of the margins of the phenomenon's pairs, its interval Fisher's
    with as many observations as lexical sets. ``difference`` is the point's accuracy less that of
    the same point on another base without a filter, ``null_difference`` the same of its null. Sets
    are paired, and seeds count (:func:`intervals.difference`); word-counting nulls have none: their
    interval is of sets alone.

    Args:
        tally: of one suite, nulls included.
        accuracies: the columns of a point, category, phenomenon, sd, n_seeds.
        cells: "condition/size" -> its base, and whether it goes without evidence.

    Returns:
        Columns of ``BESIDE_NULLS``, in the order of points, phenomena, nulls and conditions.
    """
    points, margins = tally.points.to_dicts(), tally.margins
    spread, strata = _spread(accuracies), tally.sums.of("phenomenon")
    nulls_of = [dict(of_point(point, points)) for point in points]
    n = tally.sums.sets["n"].to_numpy()
    shares = tally.sums.correct / tally.points["seeds"].to_numpy()
    pairs = tally.units.select("category", "phenomenon").with_row_index("pair")
    of_pairs = pairs.partition_by("category", "phenomenon", as_dict=True, include_key=False)

    def difference(one: int, two: int, place: tuple[str, str], at: np.ndarray) -> Difference:
        seeds = [spread[*(points[k][axis] for axis in RUN_AXES), *place] for k in (one, two)]
        # Of one seed nobody knows how others would differ: it does not count
        known = [(sd, number) for sd, number in seeds if sd]
        return intervals.difference(shares[at, one] - shares[at, two], n[at], known)

    rows: list[dict[str, Any]] = []
    for i, name, nulls in trained(points):
        others = list(_other_bases(i, points, cells))
        for place, at in strata:
            mine = of_pairs[place]["pair"].to_numpy()
            where = dict(zip(("category", "phenomenon"), place, strict=True))
            for null, j in nulls.items():
                row = {
                    **name,
                    **where,
                    "suite": tally.sums.suite,
                    "null": null,
                    **_named("r", _correlation(margins[mine, i], margins[mine, j], len(at))),
                }
                compared = [
                    {
                        **row,
                        "less": points[k]["condition"],
                        **_named("difference", difference(i, k, place, at)),
                        **_named("null_difference", difference(j, nulls_of[k][null], place, at)),
                    }
                    for k in others
                    if null in nulls_of[k]
                ]
                rows += compared or [{**row, "less": ""}]
    return pl.DataFrame(rows, schema=BESIDE_NULLS)


def _spread(accuracies: pl.DataFrame) -> dict[Any, Any]:
    """Return the SD over seeds, and their number, of a point's values, category and phenomenon."""
    key = [*RUN_AXES, "category", "phenomenon"]
    return accuracies.select(*key, "sd", "n_seeds").rows_by_key(key, unique=True)


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


def _other_bases(i: int, points: list[dict[str, Any]], cells: Mapping[str, Cell]) -> Iterator[int]:
    """Yield the points that differ from one in their base alone: its text is whole, and theirs.

    Of two bases the one that comes later in the alphabet is first, so that each pair is there once.
    """
    mine = points[i]
    own = cells[f"{mine['condition']}/{mine['size']}"]
    if own.filtered:
        return
    for k, other in enumerate(points):
        if any(other[axis] != mine[axis] for axis in RUN_AXES if axis != "condition"):
            continue
        cell = cells[f"{other['condition']}/{other['size']}"]
        if not cell.filtered and cell.source < own.source:
            yield k


def _correlation(one: np.ndarray, two: np.ndarray, sets: int) -> list[float | None]:
    """Return Pearson's r and its interval; nothing where a side does not vary."""
    if len(one) < 2 or one.std() == 0 or two.std() == 0:
        return [None, None, None]
    # No BLAS: its sums depend on its threads
    first, second = one - one.mean(), two - two.mean()
    product = (first * second).sum() / ((first**2).sum() * (second**2).sum()) ** 0.5
    r = float(np.clip(product, -1, 1))
    if sets <= 3 or abs(r) == 1:
        return [r, None, None]
    half = _Z / (sets - 3) ** 0.5
    return [r, float(np.tanh(np.arctanh(r) - half)), float(np.tanh(np.arctanh(r) + half))]


def _named(name: str, values: Sequence[float | None]) -> dict[str, float | None]:
    return dict(zip((name, f"{name}_low", f"{name}_high"), values, strict=False))
