"""The linear predictor of a fitted model, draw by draw, for any rows of data.

It needs the posterior and the formula only, and so works with every engine.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from poshgrid.statistics import design

if TYPE_CHECKING:
    import pandas as pd
    import scipy.sparse
    import xarray

_NODES = 20
"""Nodes of the Gauss-Hermite rule: the error of an accuracy is below 1e-4 for SDs up to 3."""


def mean_share(eta: np.ndarray, spread: np.ndarray | None) -> np.ndarray:
    """Return the mean accuracy over groups (lexical sets, cells) whose log odds vary.

    Args:
        eta: log odds where the effect of the group is 0: rows x draws.
        spread: SD of the groups' effects: one number per draw, or rows x draws. None: groups do not
            vary.
    """
    from scipy.special import expit

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
    ) -> scipy.sparse.csr_array:
        """Return the coded groups of rows: rows x group coefficients.

        Args:
            frame: rows with levels that were fitted.
            only: grouping variables whose terms are used; default: all.
        """
        from scipy import sparse

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
        from scipy import sparse

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

    def _coded(self, frame: pd.DataFrame, name: str) -> scipy.sparse.csr_array:
        """Return the coded columns of one group term for rows."""
        return self._groups[name].eval_new_data(self._padded(frame))[: len(frame)]

    def _padded(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Append the fitted rows: ``S(x)`` needs rows of all levels (formulae 0.6)."""
        import pandas as pd

        return pd.concat([frame, self._frame[list(frame.columns)]], ignore_index=True)

    def _stacked_draws(self, names: list[str], every: int) -> np.ndarray:
        chains, draws = self.shape
        count = chains * len(range(0, draws, every))
        return np.concatenate(
            [np.zeros((count, 0)), *(self._draws(name, every) for name in names)], axis=1
        )

    def _draws(self, name: str, every: int) -> np.ndarray:
        """Return the draws of one term: draws of all chains x coefficients."""
        values = self._posterior[name].values[:, ::every]
        if "|" in name and values.ndim == 4:
            values = values.swapaxes(2, 3)  # from predictor x group to the order of the columns
        return values.reshape(values.shape[0] * values.shape[1], -1)
