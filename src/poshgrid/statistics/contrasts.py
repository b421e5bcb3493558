"""Marginal contrasts of a fitted model: two levels of a factor, the others held at their means."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from poshgrid.config import Contrast
from poshgrid.errors import did_you_mean
from poshgrid.statistics import summary
from poshgrid.statistics.design import Design
from poshgrid.statistics.predictor import Predictor
from poshgrid.statistics.schema import CONTRASTS

if TYPE_CHECKING:
    import pandas as pd
    import xarray

_NESTED = ("category", "phenomenon")
_BLOCK = 256  # rows of the grid whose draws are held at a time


def contrasts(
    posterior: xarray.Dataset, made: Design, wanted: Sequence[Contrast]
) -> tuple[pl.DataFrame, list[str]]:
    """Return the differences that a model was asked for.

    Estimated marginal means (Searle, Speed & Milliken 1980, The American Statistician 34): the
    linear predictor is taken on a reference grid of all levels of the formula's factors, numeric
    predictors at 0 (their mean), groups at 0; it is averaged, all levels of a factor weighing
    alike, and subtracted draw by draw. Its share is the same difference in accuracy: the inverse
    logit with the phenomena's effects added, averaged over the phenomena of a category, then over
    categories; other groups (seeds) are at 0.

    Args:
        posterior: of the fit, as bambi names its variables.
        made: what was fitted.
        wanted: a contrast that the data cannot bear (a level that no run has) gives a note.

    Returns:
        Columns of ``CONTRASTS``, contrast by contrast, and notes on what was left out.
    """
    notes: list[str] = []
    grid = _Grid(made, Predictor(made, posterior))
    rows = [row for contrast in wanted for row in _rows(contrast, grid, made, notes)]
    return pl.DataFrame(rows, schema=CONTRASTS), list(dict.fromkeys(notes))


def _rows(
    contrast: Contrast, grid: _Grid, made: Design, notes: list[str]
) -> Iterator[dict[str, Any]]:
    factor = contrast.factor
    called = f"contrast {contrast.name or factor}"
    levels = grid.levels.get(factor)
    if levels is None:
        notes.append(f"{called} left out: {_why_absent(factor, made, grid)}")
        return
    firsts = [contrast.first] if contrast.first else [x for x in levels if x != contrast.less]
    unknown = [x for x in (contrast.less, *firsts) if x not in levels]
    if unknown:
        near = did_you_mean(unknown[0], levels)
        notes.append(f"{called} left out: {factor} has no level {unknown[0]!r}{near}")
        return
    places: list[tuple[str, str]] = [("", "")]
    for by in dict.fromkeys(contrast.by):
        if by in grid.levels:
            places += [(by, level) for level in grid.levels[by] if by != factor]
        elif by != factor:
            notes.append(f"{called}: not by {by}: {_why_absent(by, made, grid)}")
    for first in firsts:
        for by, level in places:
            place = {by: level} if by else {}
            draws = grid.difference(factor, first, contrast.less, place)
            share = grid.share({**place, factor: first})
            share -= grid.share({**place, factor: contrast.less})
            low, median, high = np.quantile(share, [0.025, 0.5, 0.975])
            yield {
                "contrast": contrast.name or f"{first} - {contrast.less}",
                "factor": factor,
                "first": first,
                "less": contrast.less,
                "by": by,
                "level": level,
                **summary.describe(draws),
                "above": float((draws > 0).mean()),
                "share": float(median),
                "share_low": float(low),
                "share_high": float(high),
            }


def _why_absent(factor: str, made: Design, grid: _Grid) -> str:
    if factor not in made.frame.columns:
        return f"unknown factor {factor!r}{did_you_mean(factor, grid.levels)}"
    if made.frame[factor].nunique() == 1:
        return f"{factor} has one value, {made.frame[factor].iloc[0]}"
    return f"{factor} is no factor of the formula's common terms"


class _Grid:
    """The reference grid of a fit: every phenomenon at all levels of the other factors.

    Categories weigh alike, and phenomena within a category.
    """

    def __init__(self, made: Design, predictor: Predictor) -> None:
        frame = made.frame
        self.shape = predictor.shape
        self.levels: dict[str, list[str]] = {
            v: [str(level) for level in frame[v].cat.categories]
            for v in predictor.factors
            if v in frame.columns and hasattr(frame[v], "cat")
        }
        self._rows = _cross(frame, self.levels)
        self._common = predictor.coefficients(), predictor.matrix(self._rows)
        only = ("phenomenon",)
        self._groups = (
            predictor.group_coefficients(only=only),
            predictor.group_matrix(self._rows, only=only),
        )

    def difference(self, factor: str, first: str, less: str, place: dict[str, str]) -> np.ndarray:
        """Return the difference of the linear predictor: chain x draw."""
        coefficients, matrix = self._common
        weights = self._weights({**place, factor: first}) - self._weights({**place, factor: less})
        return (coefficients @ (weights @ matrix)).reshape(self.shape)

    def share(self, place: dict[str, str]) -> np.ndarray:
        """Return the accuracy at some levels: one number per draw of all chains."""
        from scipy.special import expit

        weights = self._weights(place)
        total = np.zeros(len(self._common[0]))
        for rows in np.array_split(np.flatnonzero(weights), len(weights) // _BLOCK + 1):
            eta = self._common[1][rows] @ self._common[0].T
            eta += self._groups[1][rows] @ self._groups[0].T
            total += weights[rows] @ expit(eta)
        return total

    def _weights(self, place: dict[str, str]) -> np.ndarray:
        rows = self._rows
        kept = np.all([rows[name] == level for name, level in place.items()], axis=0)
        rows = rows[kept]
        phenomena = rows.groupby("category", observed=True)["phenomenon"].nunique()
        of_each = rows.groupby("phenomenon", observed=True)["phenomenon"].transform("size")
        weights = np.zeros(len(kept))
        weights[kept] = 1 / (
            rows["category"].map(phenomena).astype(float) * of_each.astype(float) * len(phenomena)
        )
        return weights


def _cross(frame: pd.DataFrame, levels: dict[str, list[str]]) -> pd.DataFrame:
    """Return the rows of the grid, with every variable of the data as a column.

    A phenomenon belongs to one category, with which it is not crossed. Numbers are at 0, their
    mean; groups other than phenomena at any level.
    """
    import pandas as pd

    nested = frame[list(_NESTED)].astype(str).drop_duplicates().itertuples(index=False, name=None)
    crossed = {name: found for name, found in levels.items() if name not in _NESTED}
    rows = [(*pair, *point) for pair in nested for point in itertools.product(*crossed.values())]
    grid = pd.DataFrame(rows, columns=[*_NESTED, *crossed])
    for name in frame.columns:
        column = frame[name]
        if hasattr(column, "cat"):
            values = grid[name] if name in grid else [column.cat.categories[0]] * len(grid)
            grid[name] = pd.Categorical(values, dtype=column.dtype)
        else:
            grid[name] = column.iloc[0] if name in ("correct", "n") else 0.0
    return grid
