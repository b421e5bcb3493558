"""Marginal contrasts of a fitted model: two levels of a factor, over the cells that both have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from poshgrid.config import Contrast
from poshgrid.core.errors import did_you_mean
from poshgrid.core.writing import counted
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
"""Factor -> axes that cannot be held equal when its levels are compared: one determines the other,
as a condition determines its source."""
GROUPS = ("phenomenon", "template", "condition:phenomenon")
"""Groups whose estimated effects are used as they are: their levels are the items of the suite."""
TAIL = 0.025
"""Posterior probability of either tail outside a 95% interval."""
_NOT_PREDICTORS = ("correct", "n", "accuracy", "words")  # numeric columns that are not predictors
_BLOCK_ROWS = 256  # rows of the grid whose draws are in memory at a time


def contrasts(
    posterior: xarray.Dataset, made: Design, wanted: Sequence[Contrast]
) -> tuple[pl.DataFrame, list[str]]:
    """Return the contrasts of a fitted model.

    They are differences of estimated marginal means (Searle, Speed & Milliken 1980, The American
    Statistician 34) on a reference grid. The grid has the cells that both levels have: the same
    size, model, recipe, bias, phenomenon and level of every other factor of the formula. A cell
    that only one level has is left out, because the model would have to extrapolate there, and its
    guess would be taken for a difference. A numeric predictor has the mean of both sides in each
    cell; group effects are 0. In each draw, the linear predictor is averaged over the cells of a
    phenomenon, then the phenomena of a category, then the categories, with equal weights; then the
    two levels are subtracted.

    ``share`` is the same difference in accuracy. It is the inverse logit of the linear predictor
    plus the effects of phenomena and templates, averaged over the other groups (seeds, cells,
    points, lexical sets) with the SDs that were estimated for them (population-averaged: Zeger,
    Liang & Albert 1988, Biometrics 44). Without this average, accuracies would be further from 50%
    than they are on average over cells. Each share has two intervals: one by itself, and one that
    is simultaneous over its family (:func:`tails`). ``raw`` is the difference of the observed
    accuracies over the same cells with the same weights; ``words_first`` and ``words_less`` are the
    words that both sides were trained on.

    Args:
        posterior: draws of the fit, with bambi's names of variables.
        made: the design that was fitted.
        wanted: contrasts of the configuration. One that the data do not allow, because no run has
            the level, is left out with a note.

    Returns:
        Columns of ``CONTRASTS``, contrast by contrast; and notes on contrasts and cells that were
        left out.
    """
    notes: list[str] = []
    grid = ReferenceGrid(made, Predictor(made, posterior))
    rows = [row for contrast in wanted for row in _rows(contrast, grid, notes)]
    return pl.DataFrame(rows, schema=CONTRASTS), list(dict.fromkeys(notes))


def _rows(contrast: Contrast, grid: ReferenceGrid, notes: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows of ``CONTRASTS`` of one contrast."""
    parts = list(slices(contrast, grid, notes))
    for part, tail in zip(parts, tails(parts), strict=True):
        draws, share = grid.difference(part.rows, part.signed)
        inside = [tail, TAIL, 0.5, 1 - TAIL, 1 - tail]
        names = ("joint_low", "share_low", "share", "share_high", "joint_high")
        quantiles = map(float, np.quantile(share, inside))
        yield {
            "contrast": called(contrast, part.first),
            "factor": contrast.factor,
            "first": part.first,
            "less": contrast.less,
            "by": part.by,
            "level": part.level,
            "cells": part.cells,
            **summary.describe(draws),
            "above": float((draws > 0).mean()),
            **dict(zip(names, quantiles, strict=True)),
            "raw": float(part.signed @ part.rows["accuracy"]),
            "words_first": round(part.signed.clip(min=0) @ part.rows["words"]),
            "words_less": round(-part.signed.clip(max=0) @ part.rows["words"]),
        }


def called(contrast: Contrast, first: str) -> str:
    """Return the name of a contrast for one first level; default: both levels, as "a - b"."""
    return contrast.name or f"{first} - {contrast.less}"


@dataclass(frozen=True)
class Slice:
    """The data on which a contrast is taken: all of them, or those at one level of a factor.

    Attributes:
        first: the level from which the other level of the contrast is subtracted.
        by: the factor whose level selects the data; "": all of them.
        level: that level; "": all of the data.
        rows: of the reference grid: the cells that both levels have, with every variable of the
            data as a column.
        signed: weights of the rows: those of the first level sum to 1, those of the other to -1.
        cells: points of the grid that both levels have, over all phenomena.
    """

    first: str
    by: str
    level: str
    rows: pd.DataFrame
    signed: np.ndarray
    cells: int


def slices(contrast: Contrast, grid: ReferenceGrid, notes: list[str]) -> Iterator[Slice]:
    """Yield the slices of a contrast: all data first, then each level of the factors ``by``.

    Args:
        contrast: of the configuration.
        grid: of the fit.
        notes: gets a line for each slice or cell that is left out.
    """
    factor: str = contrast.factor
    called = f"contrast {contrast.name or factor}"
    levels = grid.levels.get(factor)
    if levels is None:
        notes.append(f"{called} left out: {_unknown_factor(factor, grid)}")
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
            notes.append(f"{called}: not by {by}: {_unknown_factor(by, grid)}")
    for first in firsts:
        for by, level in wanted:
            within = {by: level} if by else {}
            rows, signed, cells, lacking = grid.matched(factor, (first, contrast.less), within)
            notes += [f"{called}: {note}" for note in lacking if not by]
            if cells:
                yield Slice(first, by, level, rows, signed, cells)
                continue
            of = f" at {by} {level}" if by else ""
            notes.append(
                f"{called} left out{of}: {first} and {contrast.less} have no cell in common"
            )


def tails(parts: Iterable[Slice]) -> list[float]:
    """Return, for each slice, the posterior probability of either tail outside its joint interval.

    A family is what is read together: the slices of a contrast with the same ``by``. With
    Bonferroni's correction all intervals of a family hold with a posterior probability of at least
    95%, however their differences are correlated. The difference over all data is a family of its
    own: it is not corrected for the slices at single levels.

    Args:
        parts: the slices of one contrast.
    """
    parts = list(parts)
    family = Counter(part.by for part in parts)
    return [TAIL / family[part.by] for part in parts]


def _unknown_factor(factor: str, grid: ReferenceGrid) -> str:
    near = did_you_mean(factor, grid.levels)
    return f"{factor!r} is no factor with several levels of the formula's common terms{near}"


class ReferenceGrid:
    """The reference grid of a fit: one row for each point of the grid and phenomenon."""

    def __init__(self, made: Design, predictor: Predictor) -> None:
        frame = made.frame
        self._predictor = predictor
        factors = predictor.factors
        if "phenomenon" in factors:
            factors = [*factors, "category"]  # the phenomenon determines the category
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

    def matched(
        self, factor: str, levels: tuple[str, str], within: dict[str, str]
    ) -> tuple[pd.DataFrame, np.ndarray, int, list[str]]:
        """Return the cells that both levels of a factor have.

        Args:
            factor: of the formula's common terms.
            levels: the first, and the one that is subtracted.
            within: factor -> level: only rows with these levels are used.

        Returns:
            Rows, signed weights and number of cells (see :class:`Slice`), and a note for each level
            that lacks cells of the other.
        """
        rows = self._rows
        kept = np.all([rows[name] == level for name, level in within.items()], axis=0)
        rows = rows[kept & rows[factor].isin(levels).to_numpy()].copy()
        apart = {factor, *_GO_WITH.get(factor, ())}
        same = [axis for axis in self._axes if axis not in apart]
        cell = rows[same].astype(str).agg("/".join, axis=1)
        sides = [set(cell[rows[factor] == level]) for level in levels]
        both = cell.isin(sides[0] & sides[1]).to_numpy()
        points = [axis for axis in same if axis not in ("category", "phenomenon")]
        lacking = []
        for level, other in (levels, levels[::-1]):
            alone = rows[~both & (rows[factor] == other).to_numpy()]
            if number := len(alone[points].drop_duplicates()):
                sizes = ", ".join(alone["size"].astype(str).unique())
                cells = counted(number, "cell")
                lacking.append(f"{level} lacks {cells} of {other} ({sizes}), left out")
        rows, cell = rows[both], cell[both]
        numbers = rows.select_dtypes("number").columns.difference(_NOT_PREDICTORS)
        for name in numbers:
            # Average each side first: a side with more rows in a cell must not weigh more.
            means = rows.groupby([cell, rows[factor]], observed=True)[name].mean()
            rows[name] = cell.map(means.groupby(level=0).mean())
        signed = np.zeros(len(rows))
        for sign, level in zip((1, -1), levels, strict=True):
            side = (rows[factor] == level).to_numpy()
            signed[side] = sign * _weights(rows[side], cell[side])
        return rows, signed, len(rows[points].drop_duplicates()), lacking

    def difference(self, rows: pd.DataFrame, signed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the differences of the linear predictor (chain x draw) and of the accuracy.

        The second array is flat: one number for each draw of each chain.
        """
        coefficients, matrix = self._predictor.coefficients(), self._predictor.matrix(rows)
        eta = coefficients @ (signed @ matrix)
        effects = self._predictor.group_coefficients(only=GROUPS)
        groups = self._predictor.group_matrix(rows, only=GROUPS)
        share = np.zeros(len(coefficients))
        blocks = len(rows) // _BLOCK_ROWS + 1
        for block in np.array_split(np.arange(len(rows)), blocks):
            log_odds = matrix[block] @ coefficients.T + groups[block] @ effects.T
            spread = self._predictor.spread(rows.iloc[block], but=GROUPS)
            share += signed[block] @ mean_share(log_odds, spread)
        return eta.reshape(self._predictor.shape), share


def _weights(rows: pd.DataFrame, cell: pd.Series) -> np.ndarray:
    """Return weights that sum to 1: equal for categories, then phenomena, then their cells."""
    phenomena = rows.groupby("category", observed=True)["phenomenon"].nunique()
    cells = cell.groupby(rows["phenomenon"].astype(str)).transform("nunique")
    # A cell may have several rows (templates, or conditions of one source): weighted by pairs.
    within = rows["n"] / rows.groupby([cell, rows["phenomenon"].astype(str)])["n"].transform("sum")
    categories = rows["category"].map(phenomena).astype(float)
    return (within / (categories * cells * len(phenomena))).to_numpy()
