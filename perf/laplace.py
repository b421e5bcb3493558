"""The posterior of contrasts without a sampler: Laplace's method given the SDs, and a sum over SDs.

Log odds ``eta = X b + Z u`` have normal priors given the SDs of groups, and counts of some hundred
pairs a likelihood that is nearly normal in ``eta``: empirical log odds, and then one step of
iterated weights at the mode. Given the SDs the posterior is then a normal one in closed form, and
so is the marginal density of the SDs, of which there are a handful: a mode, and around it an
importance sample of a t distribution, as integrated nested Laplace approximations take theirs from
a grid (Rue, Martino & Chopin 2009, J. Royal Statistical Society B 71). Priors and columns are those
of the engine ``fast``, whose draws a fit takes a minute for; this takes a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.optimize import minimize
from scipy.special import expit, ndtr

from poshgrid.config import Contrast, Regression
from poshgrid.statistics import contrasts
from poshgrid.statistics.design import Design
from poshgrid.statistics.fast.formula import terms
from poshgrid.statistics.predictor import Predictor

_FREEDOM = 5  # of the t distribution of the SDs
_LEAST, _MOST = -7.0, 2.0  # log SDs
_RIDGE = 1e-3  # of the curvature at the mode, relative
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(20)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


class Posterior(NamedTuple):
    """Posterior of the differences in accuracy: a mixture of normals over the SDs' sample."""

    weights: np.ndarray  # points
    mean: np.ndarray  # points x places
    sd: np.ndarray

    def quantile(self, probability: np.ndarray) -> np.ndarray:
        """Return a quantile of every place, by bisection.

        Args:
            probability: one for each place.
        """
        low = (self.mean - 9 * self.sd).min(axis=0)
        high = (self.mean + 9 * self.sd).max(axis=0)
        for _ in range(60):
            middle = (low + high) / 2
            below = self.weights @ ndtr((middle - self.mean) / self.sd) < probability
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return (low + high) / 2


class Approximation:
    """The posterior of a model's contrasts, for any counts of one design."""

    def __init__(
        self, made: Design, model: Regression, wanted: Sequence[Contrast], points: int = 96
    ) -> None:
        """Lay out what does not depend on the counts.

        Args:
            made: rows and formula; its counts of pairs judged right do not matter.
            model: priors.
            wanted: contrasts; their places are :attr:`places`, in this order.
            points: of the importance sample of the SDs.
        """
        predictor = Predictor(made, {})  # type: ignore[arg-type]
        grid = contrasts.ReferenceGrid(made, predictor)
        notes: list[str] = []
        self.places, self.tails = [], []
        for contrast in wanted:
            places = list(contrasts.slices(contrast, grid, notes))
            self.places += [(contrast, place) for place in places]
            self.tails += contrasts.tails(places)
        of_model = terms(made, model)
        common = [term for term in of_model if not term.group]
        groups = [term for term in of_model if term.group]
        columns = np.hstack([term.columns for term in common])
        scales = np.concatenate([np.full(term.size, term.scale) for term in common])
        self._fixed = (columns * scales**2) @ columns.T
        self._rates = np.array([term.scale for term in groups for _ in range(term.sds)])
        # Of each SD, the covariance that it gives the rows: SDs x (rows x rows)
        parts = [term.columns[:, term.sd_of == j] for term in groups for j in range(term.sds)]
        self._kernels = np.array([(part @ part.T).ravel() for part in parts])
        # The rows of the reference grid, place after place: covariances with the data and in them.
        rows = [place.rows for _, place in self.places]
        ends = np.cumsum([0, *(len(part) for part in rows)])
        self._signed = np.zeros((len(rows), ends[-1]))
        for i, (_, place) in enumerate(self.places):
            self._signed[i, ends[i] : ends[i + 1]] = place.signed
        means = np.concatenate([term.means for term in common])
        reference = np.vstack([predictor.matrix(part) - means for part in rows])
        self._to_data = (columns * scales**2) @ reference.T
        self._inside = (reference * scales**2) @ reference.T
        self._shared: list[tuple[int, np.ndarray, np.ndarray]] = []
        # Groups that vary around a row: variance of its log odds, in squares of their SDs
        self._around = np.zeros((ends[-1], len(self._rates)))
        first = 0
        for term in groups:
            coded = [predictor._coded(part, term.name).toarray() for part in rows]
            at = np.vstack(coded)[:, term.placed]
            for j in range(term.sds):
                mine = term.columns[:, term.sd_of == j], at[:, term.sd_of == j]
                if term.name.partition("|")[2] in contrasts.GROUPS:
                    self._shared.append((first + j, mine[0] @ mine[1].T, mine[1] @ mine[1].T))
                else:
                    self._around[:, first + j] = (mine[1] ** 2).sum(axis=1)
            first += term.sds
        # The same points for all counts: decisions differ by the data alone.
        rng = np.random.default_rng(0)
        normal = rng.standard_normal((points // 2, len(self._rates)))
        stretch = np.sqrt(_FREEDOM / rng.chisquare(_FREEDOM, points // 2))
        drawn = normal * stretch[:, None]
        self._drawn = np.vstack([drawn, -drawn])

    def __call__(self, correct: np.ndarray, n: np.ndarray) -> Posterior:
        """Return the posterior of every place.

        Args:
            correct: pairs judged right, row by row of the design.
            n: pairs.
        """
        right, wrong = correct + 0.5, n - correct + 0.5
        z, noise = np.log(right / wrong), 1 / right + 1 / wrong
        mode = self._mode(z, noise, -np.log(self._rates))
        # Repeat with the curvature of the likelihood at the mode, instead of the empirical one.
        for _ in range(3):
            eta = z - noise * np.linalg.solve(self._covariance(mode, noise), z)
            share = np.clip(expit(eta), 1e-6, 1 - 1e-6)
            noise = 1 / (n * share * (1 - share))
            z = eta + (correct - n * share) * noise
        return self._summed(z, noise, self._mode(z, noise, mode))

    def _mode(self, z: np.ndarray, noise: np.ndarray, start: np.ndarray) -> np.ndarray:
        bounds = [(_LEAST, _MOST)] * len(start)
        inside = np.clip(start, _LEAST, _MOST)
        return minimize(
            self._descent, inside, (z, noise), jac=True, method="L-BFGS-B", bounds=bounds,
            options={"ftol": 1e-7},
        ).x  # fmt: skip

    def _covariance(self, log_sds: np.ndarray, noise: np.ndarray) -> np.ndarray:
        """Return that of the working log odds: rows x rows."""
        whole = self._fixed + (np.exp(2 * log_sds) @ self._kernels).reshape(self._fixed.shape)
        whole[np.diag_indices_from(whole)] += noise
        return whole

    def _descent(
        self, log_sds: np.ndarray, z: np.ndarray, noise: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """Return minus the log posterior density of the log SDs, but for a constant; its slope."""
        factor, _ = dpotrf(self._covariance(log_sds, noise), lower=1)
        below, _ = dpotri(factor, lower=1)
        whole = np.tril(below) + np.tril(below, -1).T
        pulled = whole @ z
        value = np.log(np.diag(factor)).sum() + 0.5 * z @ pulled
        by_variance = self._kernels @ (whole - np.outer(pulled, pulled)).ravel()
        prior = log_sds - self._rates * np.exp(log_sds)
        slope = np.exp(2 * log_sds) * by_variance - 1 + self._rates * np.exp(log_sds)
        return float(value - prior.sum()), slope

    def _summed(self, z: np.ndarray, noise: np.ndarray, mode: np.ndarray) -> Posterior:
        """Return the normal posteriors over an importance sample of the SDs."""
        step, size = 1e-3, len(mode)
        curvature = np.array(
            [
                (self._descent(mode + step * e, z, noise)[1]
                 - self._descent(mode - step * e, z, noise)[1]) / (2 * step)
                for e in np.eye(size)
            ]
        )  # fmt: skip
        values, vectors = np.linalg.eigh((curvature + curvature.T) / 2)
        values = np.maximum(values, max(_RIDGE * values.max(), 0.1))
        spread = vectors / np.sqrt(values)
        logs, means, sds = [], [], []
        for point in self._drawn:
            log_sds = np.clip(mode + spread @ point, _LEAST - 3, _MOST)
            to_data, inside = self._to_data.copy(), self._inside.copy()
            for j, with_data, within in self._shared:
                to_data += np.exp(2 * log_sds[j]) * with_data
                inside += np.exp(2 * log_sds[j]) * within
            factor = np.linalg.cholesky(self._covariance(log_sds, noise))
            half = solve_triangular(
                factor, np.column_stack([z, to_data]), lower=True, check_finite=False
            )
            around = np.sqrt(self._around @ np.exp(2 * log_sds))
            eta = half[:, 1:].T @ half[:, 0] + np.multiply.outer(_NODES, around)
            shares = expit(eta)
            by_eta = self._signed * (_WEIGHTS @ (shares * (1 - shares)))
            at = half[:, 1:] @ by_eta.T
            variance = ((by_eta @ inside) * by_eta).sum(axis=1) - (at**2).sum(axis=0)
            density = -np.log(np.diag(factor)).sum() - 0.5 * half[:, 0] @ half[:, 0]
            density += (log_sds - self._rates * np.exp(log_sds)).sum()
            proposed = -0.5 * (_FREEDOM + size) * np.log1p(point @ point / _FREEDOM)
            logs.append(density - proposed)
            means.append(self._signed @ (_WEIGHTS @ shares))
            sds.append(np.sqrt(np.maximum(variance, 1e-18)))
        weights = np.exp(np.array(logs) - max(logs))
        return Posterior(weights / weights.sum(), np.array(means), np.array(sds))
