"""Marginal contrasts of a fitted model: two levels of a factor, over the cells that both have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from poshgrid.config import Contrast
from poshgrid.errors import did_you_mean
from poshgrid.statistics import summary
from poshgrid.statistics.design import Design
from poshgrid.statistics.predictor import Predictor, mean_share
from poshgrid.statistics.schema import CONTRASTS, RUN_AXES

if TYPE_CHECKING:
    import pandas as pd
    import xarray

_AXES = (*RUN_AXES, "source", "filter", "category", "phenomenon")
_GO_WITH = {
    "condition": {"source", "filter"}, "source": {"condition"}, "filter": {"condition"},
    "category": {"phenomenon"}, "phenomenon": {"category"},
}  # fmt: skip
"""Axes that a factor's levels determine or are determined by: they cannot be held equal."""
GROUPS = ("phenomenon", "template", "condition:phenomenon")
"""Groups whose effects enter a share as estimated: these are the items that were asked."""
TAIL = 0.025
"""Posterior probability of either tail outside a 95% interval."""
_MOST = 4  # missing cells that a note lists
_COUNTED = ("correct", "n", "accuracy", "words")  # numbers that are no predictors
_BLOCK = 256  # rows of the grid whose draws are held at a time


def contrasts(
    posterior: xarray.Dataset, made: Design, wanted: Sequence[Contrast]
) -> tuple[pl.DataFrame, list[str]]:
    """Return the differences that a model was asked for.

    Estimated marginal means (Searle, Speed & Milliken 1980, The American Statistician 34) on a
    reference grid of the cells that runs of both levels have: the same size, model, recipe,
    bias, phenomenon and level of every other factor of the formula. What one level lacks is left
    out of the other, too: a model would have to extrapolate there, and its guess would pass for a
    difference. Numeric predictors are what they are in the cell, the mean of both sides; groups are
    at 0. The linear predictor is averaged over the cells of a phenomenon, the phenomena of a
    category, then the categories, all weighing alike, and subtracted draw by draw. Its share is
    the same difference in accuracy: the inverse logit with the effects of the phenomena and
    templates added, and averaged over other groups (seeds, cells, points, lexical sets) as their
    SDs let them vary (population-averaged: Zeger, Liang & Albert 1988, Biometrics 44). At the
    average cell accuracies would lie further from 50% than those of cells do on average. Intervals
    of shares are given twice: each by itself, and for all of a family at once (:func:`tails`).
    Beside them stand the difference of observed accuracies over the same cells, with the same
    weights, and the words that both sides were trained on.

    Args:
        posterior: of the fit, as bambi names its variables.
        made: what was fitted.
        wanted: a contrast that the data cannot bear (a level that no run has) gives a note.

    Returns:
        Columns of ``CONTRASTS``, contrast by contrast, and notes on what was left out: contrasts,
        and cells that one side lacks.
    """
    notes: list[str] = []
    grid = ReferenceGrid(made, Predictor(made, posterior))
    rows = [row for contrast in wanted for row in _rows(contrast, grid, notes)]
    return pl.DataFrame(rows, schema=CONTRASTS), list(dict.fromkeys(notes))


def _rows(contrast: Contrast, grid: ReferenceGrid, notes: list[str]) -> Iterator[dict[str, Any]]:
    taken = list(places(contrast, grid, notes))
    for at, tail in zip(taken, tails(taken), strict=True):
        draws, share = grid.difference(at.matched)
        rows, signed = at.matched.rows, at.matched.signed
        inside = [tail, TAIL, 0.5, 1 - TAIL, 1 - tail]
        names = ("joint_low", "share_low", "share", "share_high", "joint_high")
        quantiles = map(float, np.quantile(share, inside))
        yield {
            "contrast": called(contrast, at.first),
            "factor": contrast.factor,
            "first": at.first,
            "less": contrast.less,
            "by": at.by,
            "level": at.level,
            "cells": at.matched.cells,
            **summary.describe(draws),
            "above": float((draws > 0).mean()),
            **dict(zip(names, quantiles, strict=True)),
            "raw": float(signed @ rows["accuracy"]),
            "words_first": round(signed.clip(min=0) @ rows["words"]),
            "words_less": round(-signed.clip(max=0) @ rows["words"]),
        }


def called(contrast: Contrast, first: str) -> str:
    """Return a contrast's name with one first level: the one given, or that of the two levels."""
    return contrast.name or f"{first} - {contrast.less}"


class Place(NamedTuple):
    """Where a contrast is taken: its first level; overall (``by`` is ""), or at one level."""

    first: str
    by: str
    level: str
    matched: Matched


def places(contrast: Contrast, grid: ReferenceGrid, notes: list[str]) -> Iterator[Place]:
    """Yield the places of a contrast, overall ones before others; what is left out gives notes."""
    factor: str = contrast.factor
    called = f"contrast {contrast.name or factor}"
    levels = grid.levels.get(factor)
    if levels is None:
        notes.append(f"{called} left out: {_absent(factor, grid)}")
        return
    firsts = [contrast.first] if contrast.first else [x for x in levels if x != contrast.less]
    unknown = [x for x in (contrast.less, *firsts) if x not in levels]
    if unknown:
        near = did_you_mean(unknown[0], levels)
        notes.append(f"{called} left out: {factor} has no level {unknown[0]!r}{near}")
        return
    wanted: list[tuple[str, str]] = [("", "")]
    for by in dict.fromkeys(map(str, contrast.by)):
        if by in grid.levels:
            wanted += [(by, level) for level in grid.levels[by] if by != factor]
        elif by != factor:
            notes.append(f"{called}: not by {by}: {_absent(by, grid)}")
    for first in firsts:
        for by, level in wanted:
            matched = grid.matched(factor, (first, contrast.less), {by: level} if by else {})
            if not by and matched.lacking:
                notes.append(f"{called}: {matched.lacking}")
            if not matched.cells:
                of = f" at {by} {level}" if by else ""
                notes.append(
                    f"{called} left out{of}: {first} and {contrast.less} have no cell in common"
                )
                continue
            yield Place(first, by, level, matched)


def tails(taken: Iterable[Place]) -> list[float]:
    """Return the posterior probability of either tail outside each place's joint interval.

    A family is what is read side by side: all of a contrast's first levels overall, or at the
    levels of one factor. Bonferroni's correction: a family's intervals all hold with a posterior
    probability of at least 95%, however its differences are correlated. What is asked of all of
    the data is not corrected for what is asked of its parts.

    Args:
        taken: the places of one contrast.
    """
    taken = list(taken)
    family = Counter(at.by for at in taken)
    return [TAIL / family[at.by] for at in taken]


def _absent(factor: str, grid: ReferenceGrid) -> str:
    near = did_you_mean(factor, grid.levels)
    return f"{factor!r} is no factor with several levels of the formula's common terms{near}"


@dataclass(frozen=True)
class Matched:
    """What two levels are compared on.

    Attributes:
        rows: of the reference grid, with every variable of the data as a column.
        signed: weights of the rows: those of the first level sum to 1, of the other to -1.
        cells: points of the grid, phenomena not counted, that both levels have.
        lacking: a note on the cells that one level lacks; "": there is none.
    """

    rows: pd.DataFrame
    signed: np.ndarray
    cells: int
    lacking: str


class ReferenceGrid:
    """The reference grid of a fit: its cells, seeds not counted, phenomenon by phenomenon."""

    def __init__(self, made: Design, predictor: Predictor) -> None:
        frame = made.frame
        self._predictor = predictor
        factors = predictor.factors
        if "phenomenon" in factors:
            factors = [*factors, "category"]  # which phenomena determine
        self.levels: dict[str, list[str]] = {
            v: [str(level) for level in frame[v].cat.categories]
            for v in factors
            if v in frame.columns and hasattr(frame[v], "cat")
        }
        self._axes = list(dict.fromkeys((*_AXES, *self.levels)))
        kept = [*self._axes, *(name for name in ("template",) if name in frame)]
        seeds = frame.groupby(kept, observed=True)["accuracy"]
        frame = frame.assign(accuracy=seeds.transform("mean"))
        self._rows = frame.drop_duplicates(kept).reset_index(drop=True)

    def matched(self, factor: str, levels: tuple[str, str], within: dict[str, str]) -> Matched:
        """Return the cells that both levels of a factor have.

        Args:
            factor: of the formula's common terms.
            levels: the first, and the one that is subtracted.
            within: factor -> level: other rows do not enter.
        """
        rows = self._rows
        kept = np.all([rows[name] == level for name, level in within.items()], axis=0)
        rows = rows[kept & rows[factor].isin(levels).to_numpy()].copy()
        apart = {factor, *_GO_WITH.get(factor, ())}
        same = [axis for axis in self._axes if axis not in apart]
        cell = rows[same].astype(str).agg("/".join, axis=1)
        sides = [set(cell[rows[factor] == level]) for level in levels]
        both = cell.isin(sides[0] & sides[1]).to_numpy()
        lacking = self._lacking(rows[~both], factor, levels, same)
        rows, cell = rows[both], cell[both]
        numbers = rows.select_dtypes("number").columns.difference(_COUNTED)
        for name in numbers:
            # Over cells, not rows: a side with more rows of a cell does not weigh more.
            means = rows.groupby([cell, rows[factor]], observed=True)[name].mean()
            rows[name] = cell.map(means.groupby(level=0).mean())
        points = [axis for axis in same if axis not in ("category", "phenomenon")]
        cells = int(rows[points].drop_duplicates().shape[0]) if len(rows) else 0
        signed = np.zeros(len(rows))
        for sign, level in zip((1, -1), levels, strict=True):
            side = (rows[factor] == level).to_numpy()
            signed[side] = sign * _weights(rows[side], cell[side])
        return Matched(rows, signed, cells, lacking)

    @staticmethod
    def _lacking(
        alone: pd.DataFrame, factor: str, levels: tuple[str, str], same: Sequence[str]
    ) -> str:
        shown = [
            axis
            for axis in ("size", "model", "recipe", "bias", "condition")
            if axis in same and (axis == "size" or alone[axis].nunique() > 1)
        ]
        notes = []
        for level, other in (levels, levels[::-1]):
            points = alone[alone[factor] == other][shown].astype(str).drop_duplicates()
            names = [" ".join(point) for point in points.to_numpy()]
            more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
            if names:
                named = ", ".join(names[:_MOST]) + more
                notes.append(f"{level} has no {named}, left out of {other}")
        return "; ".join(notes)

    def difference(self, matched: Matched) -> tuple[np.ndarray, np.ndarray]:
        """Return the differences of the linear predictor (chain x draw) and of the accuracy.

        The latter has one number per draw of all chains.
        """
        coefficients, matrix = self._predictor.coefficients(), self._predictor.matrix(matched.rows)
        eta = coefficients @ (matched.signed @ matrix)
        effects = self._predictor.group_coefficients(only=GROUPS)
        groups = self._predictor.group_matrix(matched.rows, only=GROUPS)
        share = np.zeros(len(coefficients))
        for block in np.array_split(np.arange(len(matched.rows)), len(matched.rows) // _BLOCK + 1):
            at = matrix[block] @ coefficients.T + groups[block] @ effects.T
            spread = self._predictor.spread(matched.rows.iloc[block], but=GROUPS)
            share += matched.signed[block] @ mean_share(at, spread)
        return eta.reshape(self._predictor.shape), share


def _weights(rows: pd.DataFrame, cell: pd.Series) -> np.ndarray:
    """Return weights that sum to 1: categories alike, in them phenomena, in them cells."""
    phenomena = rows.groupby("category", observed=True)["phenomenon"].nunique()
    cells = cell.groupby(rows["phenomenon"].astype(str)).transform("nunique")
    # A cell of several templates, or conditions of one source: by their pairs.
    within = rows["n"] / rows.groupby([cell, rows["phenomenon"].astype(str)])["n"].transform("sum")
    categories = rows["category"].map(phenomena).astype(float)
    return (within / (categories * cells * len(phenomena))).to_numpy()
