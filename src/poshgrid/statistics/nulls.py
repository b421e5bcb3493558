"""Models beside their nulls: margins that go together, and differences of bases that both show.

A null that is far from 50% on one base and at 50% on the mean of two passes for a fair one. So what
register does to a model (accuracy on one base less that on another) stands beside what it does to
the null of the same text, phenomenon by phenomenon; and a model whose margins, pair by pair, go
with a null's may know no more than the null, whatever its accuracy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from poshgrid.config.runs import COUNTED, NULLS, REFERENCE, UNTRAINED
from poshgrid.config.specs import Cell
from poshgrid.statistics import intervals
from poshgrid.statistics.intervals import SetSums
from poshgrid.statistics.schema import BESIDE_NULLS, RUN_AXES

_Z = float(stats.norm.ppf(0.975))


def beside(
    sums: SetSums,
    seeds: pl.DataFrame,
    margins: np.ndarray,
    places: pl.DataFrame,
    cells: Mapping[str, Cell],
) -> pl.DataFrame:
    """Set every trained point beside each of its nulls, phenomenon by phenomenon.

    ``r`` is Pearson's correlation of the margins of the phenomenon's pairs, its interval Fisher's
    with as many observations as lexical sets. ``difference`` is the point's accuracy less that of
    the same point on another base without a filter, ``null_difference`` the same of its null. Sets
    are paired, and seeds count (:func:`intervals.difference`); word-counting nulls have none: their
    interval is of sets alone.

    Args:
        sums: of one suite, nulls included.
        seeds: the columns of a point, category, phenomenon, sd, n_seeds.
        margins: judged pairs x points of ``sums``: log P(good) - log P(bad), nats, mean over seeds.
        places: category, phenomenon, lexical_set of the judged pairs.
        cells: "condition/size" -> its base, and whether it goes without evidence.

    Returns:
        Columns of ``BESIDE_NULLS``, in the order of points, phenomena, nulls and conditions.
    """
    points = sums.points.to_dicts()
    spread = seeds.rows_by_key([*RUN_AXES, "category", "phenomenon"], named=True, unique=True)
    nulls_of = [dict(of_point(point, points)) for point in points]
    n = sums.sets["n"].to_numpy()

    def difference(one: int, two: int, place: dict[str, str], at: np.ndarray) -> list[float | None]:
        rows = [
            spread[(*(points[k][axis] for axis in RUN_AXES), *place.values())] for k in (one, two)
        ]
        # Of one seed nobody knows how others would differ: it does not count
        over = [(row["sd"], row["n_seeds"]) for row in rows if row["sd"]]
        mine, its = (sums.correct[at, k] / points[k]["seeds"] for k in (one, two))
        return list(intervals.difference(mine - its, n[at], over)[:3])

    names = places.select("category", "phenomenon").unique().sort("category", "phenomenon")
    rows: list[dict[str, Any]] = []
    trained = [i for i, point in enumerate(points) if point["regimen"] not in REFERENCE]
    for i, place in product(trained, names.to_dicts()):
        of = pl.all_horizontal(pl.col(name) == value for name, value in place.items())
        pairs, at = (
            table.select(of.arg_true()).to_series().to_numpy() for table in (places, sums.sets)
        )
        others = list(_other_bases(i, points, cells))
        for null, j in nulls_of[i].items():
            row = {
                **{axis: points[i][axis] for axis in RUN_AXES},
                **place,
                "suite": sums.suite,
                "null": null,
                **_named("r", _correlation(margins[pairs, i], margins[pairs, j], len(at))),
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


def of_point(point: dict[str, Any], points: list[dict[str, Any]]) -> Iterator[tuple[str, int]]:
    """Yield the nulls of a point's condition and size, and where they are, in their usual order."""
    found = {}
    for j, other in enumerate(points):
        if (other["condition"], other["size"]) != (point["condition"], point["size"]):
            continue
        if other["regimen"] == UNTRAINED and other["learner"] == point["learner"]:
            if other["bias"] == "none":
                found[UNTRAINED] = j
        elif other["regimen"] == COUNTED:
            found[other["learner"]] = j
    yield from ((null, found[null]) for null in NULLS if null in found)


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


def _named(name: str, values: list[float | None]) -> dict[str, float | None]:
    middle, low, high = values
    return {name: middle, f"{name}_low": low, f"{name}_high": high}
