"""The log density of the standardised coefficients and log SDs, and its gradient.

The symbols are those of the package's docstring.
"""

from __future__ import annotations

import math

import numpy as np

from poshgrid.config import Regression
from poshgrid.statistics.design import Design
from poshgrid.statistics.fast.formula import terms
from poshgrid.statistics.fast.kernel import compiled


class Density:
    """Log density and its gradient at a point ``(z, log sigma)`` of the sampler.

    Coefficients are in the order of ``arranged``: groups, those with most levels first, then common
    terms. A count has one level of each group, so that ``H`` has few entries that are not 0. In
    this order its Cholesky factor has few, too: the cost of a step grows with the number of levels,
    not with its cube.

    Args:
        made: the counts, and a formula that :func:`formula.refuses` accepts.
        model: priors.
    """

    def __init__(self, made: Design, model: Regression) -> None:
        self.terms = terms(made, model)
        groups = sorted((term for term in self.terms if term.group), key=lambda term: -term.size)
        common = [term for term in self.terms if not term.group]
        self.arranged = [*groups, *common]
        self.correct = made.frame["correct"].to_numpy().astype(float)
        self.trials = made.frame["n"].to_numpy().astype(float)
        starts = np.cumsum([0, *(term.size for term in groups)])
        self.levels = np.column_stack(
            [start + term.columns.argmax(1) for start, term in zip(starts, groups, strict=False)]
        )
        self.predictors = np.hstack([term.columns for term in common])
        self.columns = np.ascontiguousarray(self.predictors.T)
        # Which SD each level has: a group has one SD, or one for each level of its predictor.
        firsts = np.cumsum([0, *(term.sds for term in groups)])
        self.group = np.concatenate(
            [first + term.sd_of for first, term in zip(firsts, groups, strict=False)]
        )
        self.rates = np.array([term.scale for term in groups for _ in range(term.sds)])
        self.precision = np.concatenate([np.full(t.size, t.scale**-2.0) for t in common])
        self.width = len(self.group) + len(self.precision)
        self.information, self.pull = self._quadratic()
        self._pattern()
        self._evaluate = compiled()

    @property
    def size(self) -> int:
        """Number of parameters: coefficients and SDs."""
        return self.width + len(self.rates)

    @property
    def start(self) -> np.ndarray:
        """The first point of a chain: the centre of the approximation, SDs at their prior means."""
        return np.concatenate([np.zeros(self.width), -np.log(self.rates)])

    def __call__(self, point: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the log density (up to a constant) and its gradient; -inf if not finite."""
        value, gradient, _ = self._at(point)
        if not (math.isfinite(value) and np.isfinite(gradient).all()):
            return -math.inf, np.zeros_like(point)  # the sampler turns back
        return value, gradient

    def coefficients(self, points: np.ndarray) -> np.ndarray:
        """Return the coefficients at points, both along the last axis."""
        return np.apply_along_axis(lambda point: self._at(point)[2], -1, points)

    def _at(self, point: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        gradient, theta = np.zeros(self.size), np.zeros(self.width)
        on_diagonal = np.ascontiguousarray(np.diagonal(self.information))
        value = self._evaluate(
            point, self.predictors, self.columns, self.levels, self.correct, self.trials,
            self.precision, self.group, self.rates, self._starts, self._entries, self._target,
            self.information[self._entries, self._of], on_diagonal, self.pull, gradient, theta,
        )  # fmt: skip
        return value, gradient, theta

    def _pattern(self) -> None:
        """Find the entries of the Cholesky factor, including those that elimination adds."""
        filled = np.abs(self.information) > 0
        starts, entries, of = [0], [], []
        for j in range(self.width):
            rows = j + 1 + np.flatnonzero(filled[j + 1 :, j])
            filled[np.ix_(rows, rows)] = True
            entries.append(rows)
            of.append(np.full(len(rows), j))
            starts.append(starts[-1] + len(rows))
        index = np.zeros((self.width, self.width), dtype=np.int64)
        self._starts = np.array(starts, dtype=np.int64)
        self._entries = np.concatenate(entries).astype(np.int64)
        self._of = np.concatenate(of).astype(np.int64)
        index[self._entries, self._of] = np.arange(len(self._entries))
        target = []
        for rows in entries:
            upper = np.triu_indices(len(rows), 1)
            target.append(index[rows[upper[1]], rows[upper[0]]])
        self._target = np.concatenate(target).astype(np.int64)

    def _quadratic(self) -> tuple[np.ndarray, np.ndarray]:
        """Return ``H`` and ``h``, at the most probable coefficients given the SDs' prior means."""
        from scipy.optimize import minimize
        from scipy.special import expit
        from threadpoolctl import threadpool_limits

        design = np.zeros((len(self.trials), self.width))
        np.put_along_axis(design, self.levels, 1, axis=1)
        design[:, len(self.group) :] = self.predictors
        precisions = np.concatenate([(self.rates**2)[self.group], self.precision])

        def likelihood(theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
            eta = design @ theta
            share = expit(eta)
            value = self.correct @ eta - self.trials @ np.logaddexp(0, eta)
            return value, self.correct - self.trials * share, self.trials * share * (1 - share)

        def descent(theta: np.ndarray) -> tuple[float, np.ndarray]:
            value, by_eta, _ = likelihood(theta)
            penalty = precisions * theta
            return 0.5 * float(penalty @ theta) - value, penalty - by_eta @ design

        def curvature(theta: np.ndarray) -> np.ndarray:
            return design.T @ (likelihood(theta)[2][:, None] * design)

        with threadpool_limits(1):  # the result of BLAS depends on the number of threads
            best = minimize(
                descent,
                np.zeros(self.width),
                jac=True,
                hess=lambda theta: curvature(theta) + np.diag(precisions),
                method="trust-exact",
            ).x
            information = curvature(best)
            slope = precisions * best - descent(best)[1]  # of the likelihood alone
            return information, information @ best + slope
