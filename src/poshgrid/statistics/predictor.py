"""The linear predictor of a fitted model, draw by draw, and what it predicts.

It needs the posterior and the formula only, and so works with every engine.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy import sparse
from scipy.special import expit

from poshgrid.statistics import design
from poshgrid.statistics.schema import PREDICTIVE, RUN_AXES

if TYPE_CHECKING:
    import pandas as pd
    import xarray

REPLICATIONS = 4_000
"""Largest number of draws that are replicated: more would not change an interval's second digit."""
_CELL = [*RUN_AXES, "category", "phenomenon"]
_NODES = 20
"""Nodes of the Gauss-Hermite rule: the error of an accuracy is below 1e-4 for SDs up to 3."""


def mean_share(eta: np.ndarray, spread: np.ndarray | None) -> np.ndarray:
    """Return the mean accuracy over groups (lexical sets, cells) whose log odds vary.

    Args:
        eta: log odds where the effect of the group is 0: rows x draws.
        spread: SD of the groups' effects: one number per draw, or rows x draws. None: groups do not
            vary.
    """
    if spread is None:
        return expit(eta)
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    weights = weights / weights.sum()
    return sum(w * expit(eta + x * spread) for x, w in zip(nodes, weights, strict=True))


class Predictor:
    """The coded predictors of a design, and the draws of its posterior."""

    def __init__(self, made: design.Design, posterior: xarray.Dataset) -> None:
        """Code the data.

        Args:
            made: the design that was fitted.
            posterior: one variable per term, with dimensions chain and draw before all others.
        """
        self._matrices = design.matrices(made.formula, made.frame)
        self._posterior, self._frame = posterior, made.frame

    @property
    def shape(self) -> tuple[int, int]:
        """Number of chains, and of draws in each."""
        sizes = self._posterior.sizes
        return sizes["chain"], sizes["draw"]

    @property
    def factors(self) -> list[str]:
        """Variables of the common terms, in the order of the formula."""
        names = (v for term in self._common.values() for v in sorted(term.var_names))
        return list(dict.fromkeys(names))

    def matrix(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the coded predictors of rows: rows x common coefficients."""
        if not self._common:
            return np.zeros((len(frame), 0))
        return self._matrices.common.evaluate_new_data(self._padded(frame)).design_matrix[
            : len(frame)
        ]

    def coefficients(self, every: int = 1) -> np.ndarray:
        """Return the common coefficients: draws of all chains x coefficients.

        Args:
            every: use every n-th draw.
        """
        return self._stacked_draws(list(self._common), every)

    def group_matrix(
        self, frame: pd.DataFrame, only: Collection[str] | None = None
    ) -> sparse.csr_array:
        """Return the coded groups of rows: rows x group coefficients.

        Args:
            frame: rows with levels that were fitted.
            only: grouping variables whose terms are used; default: all.
        """
        coded = [sparse.csr_array((len(frame), 0))]
        for name in self._group_names(only):
            columns = self._coded(frame, name)
            levels = columns.shape[1] // self._posterior[name][0, 0].size
            # Where the posterior has one number for a group, all its columns get this number
            coded.append(
                columns @ sparse.kron(sparse.eye(columns.shape[1] // levels), [[1]] * levels)
            )
        return sparse.csr_array(sparse.hstack(coded))

    def group_coefficients(self, every: int = 1, only: Collection[str] | None = None) -> np.ndarray:
        """Return the effects of groups: draws of all chains x group coefficients."""
        return self._stacked_draws(self._group_names(only), every)

    def linear(self, frame: pd.DataFrame, every: int = 1) -> np.ndarray:
        """Return the linear predictor, groups included: draws of all chains x rows."""
        groups = self.group_matrix(frame) @ self.group_coefficients(every).T
        return self.coefficients(every) @ self.matrix(frame).T + groups.T

    def spread(self, frame: pd.DataFrame, but: Collection[str] = ()) -> np.ndarray | None:
        """Return the SD of groups' effects: rows x draws.

        Args:
            frame: rows with levels that were fitted.
            but: grouping variables whose terms are left out.

        Returns:
            None without a group.
        """
        names = [name for name in self._groups if name.rpartition("|")[2] not in but]
        if not names:
            return None
        chains, draws = self.shape
        by_sd, squares = [np.zeros((len(frame), 0))], [np.zeros((chains * draws, 0))]
        for name in names:
            # Columns are sorted by group, then by level of the predictor. A row is in one group.
            coded, groups = self._coded(frame, name), len(self._groups[name].groups)
            of_groups = sparse.kron(np.ones((groups, 1)), sparse.eye(coded.shape[1] // groups))
            by_sd.append((coded.power(2) @ of_groups).toarray())
            sds = self._posterior[f"{name}_sigma"].to_numpy().reshape(chains * draws, -1)
            squares.append(sds**2)
        variance = np.hstack(by_sd) @ np.hstack(squares).T  # rows x SDs, SDs x draws
        return np.sqrt(variance)

    @property
    def _common(self) -> dict[str, Any]:
        return {} if self._matrices.common is None else self._matrices.common.terms

    @property
    def _groups(self) -> dict[str, Any]:
        return {} if self._matrices.group is None else self._matrices.group.terms

    def _group_names(self, only: Collection[str] | None) -> list[str]:
        """Return the names of group terms; ``only`` selects grouping variables."""
        return [n for n in self._groups if only is None or n.rpartition("|")[2] in only]

    def _coded(self, frame: pd.DataFrame, name: str) -> sparse.csr_array:
        """Return the coded columns of one group term for rows."""
        return self._groups[name].eval_new_data(self._padded(frame))[: len(frame)]

    def _padded(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Append the fitted rows: ``S(x)`` needs rows of all levels (formulae 0.6)."""
        import pandas as pd

        return pd.concat([frame, self._frame[list(frame.columns)]], ignore_index=True)

    def _stacked_draws(self, names: list[str], every: int) -> np.ndarray:
        """Return the draws of some terms: draws of all chains x coefficients."""
        chains, draws = self.shape
        count = chains * len(range(0, draws, every))
        stacked = [np.zeros((count, 0))]
        for name in names:
            values = self._posterior[name].values[:, ::every]
            if "|" in name and values.ndim == 4:
                values = values.swapaxes(2, 3)  # from predictor x group to the order of the columns
            stacked.append(values.reshape(count, -1))
        return np.concatenate(stacked, axis=1)


# ---- predictive check ----------------------------------------------------------------------------


def check(
    posterior: xarray.Dataset, made: design.Design, seed: int
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Check whether the fitted model could have produced the counts of each cell.

    The counts are compared with replications drawn from the posterior.

    For each draw of the parameters, group effects included, new counts of every run and phenomenon
    are drawn from the binomial (Gelman, Meng & Stern 1996, Statistica Sinica 6). In a cell, the
    counts of its seeds are summed. The discrepancy is chi-square over single runs, before seeds are
    summed: it shows seeds that differ more than binomial counts do, even where their mean is well
    predicted.

    A model with a ``(1|cell)`` term has an effect for every count and so fits noise: more than 95%
    of its cells are inside their intervals.

    Args:
        posterior: draws of the fit, with bambi's names of variables.
        made: the design that was fitted.
        seed: of the replications.

    Returns:
        Columns of ``PREDICTIVE``, and a dictionary: cells (their number), inside (number of cells
        whose observed share is within its 95% interval), share (of cells inside), p (posterior
        predictive p of the chi-square discrepancy; near 0: the counts vary more than the model
        allows).
    """
    predictor = Predictor(made, posterior)
    chains, draws = predictor.shape
    every = -(-chains * draws // REPLICATIONS)
    frame = made.frame
    # At 0 or 1 the discrepancy would divide by 0.
    probability = np.clip(expit(predictor.linear(frame, every)), 1e-12, 1 - 1e-12)
    n, correct = frame["n"].to_numpy(), frame["correct"].to_numpy(dtype=float)
    replicated = np.random.default_rng(seed).binomial(n, probability)

    groups = frame.groupby(_CELL, observed=True, sort=False).indices
    rows = []
    for cell, index in groups.items():
        pairs, right = int(n[index].sum()), float(correct[index].sum())
        counts = replicated[:, index].sum(axis=1)
        low, median, high = map(float, np.quantile(counts, [0.025, 0.5, 0.975]) / pairs)
        upper = (counts > right).mean() + 0.5 * (counts == right).mean()
        rows.append(
            {
                **dict(zip(_CELL, cell, strict=True)),
                "n_seeds": frame["seed"].iloc[index].nunique(),
                "n": pairs,
                "observed": right / pairs,
                "predicted": median,
                "low": low,
                "high": high,
                "p": float(min(1.0, 2 * min(upper, 1 - upper))),
            }
        )
    table = pl.DataFrame(rows, schema=PREDICTIVE)
    inside = table.filter(pl.col("observed").is_between("low", "high")).height
    # The sum over counts of squared standardised residuals: one number per draw
    mean, variance = n * probability, n * probability * (1 - probability)
    observed, expected = (
        ((counts - mean) ** 2 / variance).sum(axis=1) for counts in (correct, replicated)
    )
    return table, {
        "cells": table.height,
        "inside": inside,
        "share": round(inside / table.height, 4),
        "p": round(float((expected >= observed).mean()), 4),
    }
