"""The log density of the standardised coefficients and log SDs, and its gradient.

The symbols are those of the package's docstring.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from poshgrid.config import BayesianModel
from poshgrid.statistics.design import Design
from poshgrid.statistics.fast.formula import Term, terms


class Density:
    """Log density, and its gradient, at a point ``(z, log sigma)``: what the sampler moves.

    Coefficients are in the order of ``arranged``: first the group with the most levels, whose block
    of ``H`` is diagonal as all are (a count has one level), then other groups, then common terms.
    The work is that of the Cholesky factor of all but the first group: it grows with the levels of
    the first, and with the cube of the rest.

    Args:
        found: the terms.
        correct: successes of each count; they need not be whole.
        trials: pairs of each count.
    """

    def __init__(self, found: list[Term], correct: np.ndarray, trials: np.ndarray) -> None:
        groups = sorted((term for term in found if term.group), key=lambda term: -term.size)
        common = [term for term in found if not term.group]
        self.arranged = [*groups, *common]
        self.correct, self.trials = correct.astype(float), trials.astype(float)
        starts = np.cumsum([0, *(term.size for term in groups)])
        self.levels = np.column_stack(
            [
                start + term.columns.argmax(1)
                for start, term in zip(starts[:-1], groups, strict=True)
            ]
        )
        self.predictors = np.hstack([term.columns for term in common])
        self.columns = np.ascontiguousarray(self.predictors.T)
        self.group = np.repeat(np.arange(len(groups)), np.diff(starts))
        self.rates = np.array([term.scale for term in groups])
        self.precision = np.concatenate([np.full(t.size, t.scale**-2.0) for t in common])
        self.first = groups[0].size
        self.width = len(self.group) + len(self.precision)
        self.information, self.pull = self._quadratic()
        self._evaluate = _compiled()

    @classmethod
    def of(cls, made: Design, model: BayesianModel) -> Density:
        """Return the density of a design with a model's priors."""
        frame = made.frame
        return cls(terms(made, model), frame["correct"].to_numpy(), frame["n"].to_numpy())

    @property
    def size(self) -> int:
        """Parameters: coefficients, and one SD for each group."""
        return self.width + len(self.rates)

    @property
    def start(self) -> np.ndarray:
        """Where chains begin: the approximation's centre, with SDs at their prior means."""
        return np.concatenate([np.zeros(self.width), -np.log(self.rates)])

    def __call__(self, point: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the log density, but for a constant, and its gradient; -inf where it has none."""
        value, gradient, _ = self._at(point)
        if not (math.isfinite(value) and np.isfinite(gradient).all()):
            return -math.inf, np.zeros_like(point)  # the sampler turns back
        return value, gradient

    def coefficients(self, points: np.ndarray) -> np.ndarray:
        """Return the coefficients at points, both along the last axis."""
        return np.apply_along_axis(lambda point: self._at(point)[2], -1, points)

    def _at(self, point: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        gradient, theta = np.zeros(self.size), np.zeros(self.width)
        value = self._evaluate(
            point, self.predictors, self.columns, self.levels, self.correct, self.trials,
            self.precision, self.group, self.rates, self.first, self.information, self.pull,
            gradient, theta,
        )  # fmt: skip
        return value, gradient, theta

    def _quadratic(self) -> tuple[np.ndarray, np.ndarray]:
        """Return ``H`` and ``h``, at the most probable coefficients given the SDs' prior means."""
        from scipy.optimize import minimize
        from scipy.special import expit

        design = np.zeros((len(self.trials), self.width))
        np.put_along_axis(design, self.levels, 1, axis=1)
        design[:, len(self.group) :] = self.predictors
        precisions = np.concatenate([(self.rates**2)[self.group], self.precision])

        def descent(theta: np.ndarray) -> tuple[float, np.ndarray]:
            eta, penalty = design @ theta, precisions * theta
            value = self.correct @ eta - self.trials @ np.logaddexp(0, eta)
            slope = (self.correct - self.trials * expit(eta)) @ design
            return 0.5 * float(penalty @ theta) - value, penalty - slope

        def curvature(theta: np.ndarray) -> np.ndarray:
            share = expit(design @ theta)
            return (design.T * (self.trials * share * (1 - share))) @ design

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


@cache
def _compiled() -> Callable[..., float]:
    # Not cached on disk: three seconds are not worth a folder that jobs share.
    import numba

    return numba.njit(nogil=True, error_model="numpy")(_log_density)


def _log_density(  # noqa: PLR0912, PLR0915 - one pass, in the order of the formulas
    point: np.ndarray,
    predictors: np.ndarray,
    columns: np.ndarray,
    levels: np.ndarray,
    correct: np.ndarray,
    trials: np.ndarray,
    precision: np.ndarray,
    group: np.ndarray,
    rates: np.ndarray,
    first: int,
    information: np.ndarray,
    pull: np.ndarray,
    gradient: np.ndarray,
    theta: np.ndarray,
) -> float:
    """Return the log density; put its gradient and the coefficients into arrays of zeros.

    Loops, as numba compiles them: no BLAS, whose sums depend on the number of its threads. The
    gradient with respect to the SDs goes through the Cholesky factor (Murray, 2016, Differentiation
    of the Cholesky decomposition, arXiv:1602.07527), of which a change in the diagonal is needed.
    """
    rows, width, effects = len(trials), len(theta), len(group)
    z, log_sds = point[:width], point[width:]

    prior = np.empty(width)  # D
    for j in range(effects):
        prior[j] = math.exp(-2 * log_sds[group[j]])
    prior[effects:] = precision

    # The Cholesky factor of H + D: diagonal in the first block, of which no row is kept.
    value = 0.0
    edge = np.empty(width)  # the inverse of its diagonal
    factor = np.zeros((width - first, width))
    for j in range(width):
        rest = information[j, j] + prior[j]
        if j >= first:
            for k in range(j):
                rest -= factor[j - first, k] * factor[j - first, k]
        if not rest > 0:
            return -math.inf
        value -= 0.5 * math.log(rest)  # |d theta / d z|
        edge[j] = 1 / math.sqrt(rest)
        for i in range(max(first, j + 1), width):
            rest = information[i, j]
            if j >= first:
                for k in range(j):
                    rest -= factor[i - first, k] * factor[j - first, k]
            factor[i - first, j] = rest * edge[j]

    # Its inverse R, likewise; theta = R^T (z + R h).
    root = np.zeros((width - first, width))
    centre = edge * pull
    for i in range(first, width):
        row = root[i - first]
        for j in range(first):
            row[j] = -factor[i - first, j] * edge[j]
        for k in range(first, i):
            for j in range(k + 1):
                row[j] -= factor[i - first, k] * root[k - first, j]
        centre[i] = 0.0
        for j in range(i):
            row[j] *= edge[i]
            centre[i] += row[j] * pull[j]
        row[i] = edge[i]
        centre[i] += row[i] * pull[i]
        for j in range(i + 1):
            theta[j] += row[j] * (z[i] + centre[i])
    for j in range(first):
        theta[j] += edge[j] * (z[j] + centre[j])

    # Likelihood and normal priors, and their slope by theta.
    eta, slope = np.zeros(rows), -prior * theta
    for j in range(width):
        value += 0.5 * slope[j] * theta[j]
    for j in range(width - effects):
        for i in range(rows):
            eta[i] += columns[j, i] * theta[effects + j]
    for i in range(rows):
        for level in levels[i]:
            eta[i] += theta[level]
        small = math.exp(-abs(eta[i]))
        share = (1 if eta[i] > 0 else small) / (1 + small)
        value += correct[i] * eta[i] - trials[i] * (max(eta[i], 0.0) + math.log1p(small))
        error = correct[i] - trials[i] * share
        for level in levels[i]:
            slope[level] += error
        for j in range(width - effects):
            slope[effects + j] += predictors[i, j] * error

    # By z: R times the slope.
    for i in range(first):
        gradient[i] = edge[i] * slope[i]
    for i in range(first, width):
        for j in range(i + 1):
            gradient[i] += root[i - first, j] * slope[j]

    # By log sigma: its own prior, those of its group's coefficients, and through D, R and m.
    for g in range(len(rates)):
        rate_sd = rates[g] * math.exp(log_sds[g])
        value += log_sds[g] - rate_sd  # exponential prior; d sigma / d log sigma
        gradient[width + g] = 1 - rate_sd
    for j in range(effects):
        g = group[j]
        value -= log_sds[g]  # of the normal prior of theta[j]
        above = edge[j] * gradient[j]  # sums over the rows i of R's column j
        through_root = 0.5 * edge[j] * z[j] * above
        mean, variance = edge[j] * centre[j], edge[j] * edge[j]
        for i in range(max(first, j + 1), width):
            entry = root[i - first, j]
            through_root += entry * z[i] * (above + 0.5 * entry * gradient[i])
            above += entry * gradient[i]
            mean += entry * centre[i]
            variance += entry * entry
        change = theta[j] * theta[j] + variance + 2 * (through_root + above * mean)
        gradient[width + g] += prior[j] * change - 1
    return value
