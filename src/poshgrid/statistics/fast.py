"""The engine ``fast``: bambi's posterior of the counts, on a scale where a draw costs few steps.

The model is ``eta = X b + Z u``: common coefficients ``b`` with normal priors, and group intercepts
``u ~ Normal(0, sigma)``, one ``sigma`` for each group. On bambi's scale (``u = sigma * offset``)
the data pin down sums, such as intercept + category + phenomenon + seed, far better than their
parts: the posterior is a thin ridge, thinner with every pair judged, and a draw takes hundreds of
steps. Here the sampler moves, instead of the coefficients ``theta = (b, u)``, the standardised

    z = L^-1 (theta - m),   L L^T = (H + D)^-1,   m = (H + D)^-1 h

``D`` holds the prior precisions at the SDs that are proposed along with ``z``. ``H`` and ``h`` are
the quadratic approximation of the log likelihood at its penalised maximum, taken once. Were the
likelihood normal, ``m`` and ``L L^T`` would be the mean and covariance of the coefficients given
the SDs, and ``z`` standard normal at any SD. So every coefficient is centred on what the other
ones say of it (a phenomenon on intercept, category and mean seed effect) and scaled by its
conditional posterior SD (a seed by about ``1 / sqrt(1 / sigma^2 + information)``): there is neither
ridge nor funnel. The change of variables is exact, its Jacobian enters the density; how good the
approximation is changes the cost of a draw, never its distribution. It is the partial non-centring
of Papaspiliopoulos, Roberts & Sköld (2007, A general framework for the parametrization of
hierarchical models, Statistical Science 22), applied to all coefficients together.

The density and its gradient are one function that numba compiles, drawn from by nutpie's NUTS;
neither bambi nor PyMC is imported. `perf/fit_speed.py` measures it beside bambi.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from poshgrid.config import BayesianModel
from poshgrid.statistics.design import Design

if TYPE_CHECKING:
    import arviz

RESPONSE = "p(correct, n)"


def refuses(made: Design) -> str | None:
    """Return why the engine cannot fit a formula; None if it can.

    Args:
        made: the data, and a formula that they can bear.
    """
    matrices = _matrices(made)
    terms = matrices.common.terms if matrices.common is not None else {}
    if "Intercept" not in terms:
        return "the formula has no intercept"
    for name, term in terms.items():
        if term.kind not in {"intercept", "numeric", "categoric", "interaction"}:
            return f"{name} has no coefficient"  # an offset
    if matrices.group is None:
        return "the formula has no group, such as (1|seed)"
    for name in matrices.group.terms:
        if not name.startswith("1|"):
            return f"({name}) is a slope by group: only intercepts such as (1|seed) are known"
    return None


def sample(made: Design, model: BayesianModel, threads: int = 1) -> arviz.InferenceData:
    """Draw from bambi's posterior, with bambi's names, dimensions and coordinates.

    Args:
        made: the data, and a formula that the engine does not refuse.
        model: priors, and settings of the sampler.
        threads: chains that run at once; the draws are the same for any number.

    Returns:
        posterior, sample_stats (of NUTS, diverging among them) and observed_data, without warm-up.

    Raises:
        ValueError: the engine refuses the formula.
    """
    import nutpie
    from nutpie.compiled_pyfunc import from_pyfunc

    reason = refuses(made)
    if reason:
        raise ValueError(f"engine fast cannot fit {made.formula!r}: {reason}")
    density = Density.of(made, model)
    size = density.size
    density(density.start)  # compiles it
    started = time.perf_counter()
    drawn = nutpie.sample(
        from_pyfunc(
            size,
            make_logp_fn=lambda: density,
            make_expand_fn=lambda *_: lambda point: {"point": point},
            expanded_names=["point"],
            expanded_shapes=[(size,)],
            expanded_dtypes=[np.dtype(np.float64)],
        ),
        draws=model.draws,
        tune=model.warmup,
        chains=model.chains,
        cores=min(threads, model.chains),
        seed=model.seed,
        target_accept=model.target_accept,
        init_mean=density.start,
        save_warmup=False,
        progress_bar=False,
    )
    inference = _inference(drawn, terms(made, model), density, made)
    inference.posterior.attrs |= {
        "inference_library": "nutpie",
        "inference_library_version": nutpie.__version__,
        "modeling_interface": "poshgrid",
        "sampling_time": time.perf_counter() - started,
        "tuning_steps": model.warmup,
    }
    return inference


@dataclass(frozen=True)
class Term:
    """The coefficients of one term of the formula: a column of the design each.

    Attributes:
        name: of bambi's variable, e.g. ``S(category)`` or ``1|seed``.
        dimension: bambi's name of the coefficients' dimension; None for a single number.
        labels: the coefficients' coordinates.
        columns: predictors, one row per count, as bambi has them: centred if the term is common
            and not the intercept, 0 and 1 if it is a group.
        means: what was subtracted from the columns.
        scale: SD of the coefficients' normal prior, or, for a group, rate of its SD's exponential.
        group: whether the SD of the coefficients is a parameter.
    """

    name: str
    dimension: str | None
    labels: list[object]
    columns: np.ndarray
    means: np.ndarray
    scale: float
    group: bool

    @property
    def size(self) -> int:
        """Coefficients."""
        return self.columns.shape[1]


def terms(made: Design, model: BayesianModel) -> list[Term]:
    """Return the terms of a formula with their priors: common ones, intercept first, then groups.

    Args:
        made: the data, and a formula that the engine does not refuse.
        model: priors; one of ``model.priors`` goes before the model's own.
    """
    matrices = _matrices(made)
    own = {prior.term: prior.sd or prior.rate for prior in model.priors}
    found = []
    for name, term in matrices.common.terms.items():
        columns = np.asarray(matrices.common[name], dtype=float).reshape(len(made.frame), -1)
        means = columns.mean(axis=0) * (name != "Intercept")  # of rows, as bambi centres them
        usual = model.intercept_sd if name == "Intercept" else model.slope_sd
        labels: list[object] = []
        if any(part.kind == "categoric" for part in getattr(term, "components", [])):
            labels = list(term.levels)
        elif columns.shape[1] > 1:  # e.g. a polynomial
            labels = list(range(columns.shape[1]))
        scale = own.get(name, usual)
        dimension = f"{name}_dim" if labels else None
        found.append(Term(name, dimension, labels, columns - means, means, scale, group=False))
    for name, term in matrices.group.terms.items():
        columns = matrices.group.design_matrix[:, matrices.group.slices[name]].toarray()
        scale = own.get(name, model.group_rate)
        labels, dimension = list(term.groups), f"{name.removeprefix('1|')}__factor_dim"
        means = np.zeros(columns.shape[1])
        found.append(Term(name, dimension, labels, columns, means, scale, group=True))
    return found


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


def _matrices(made: Design):  # noqa: ANN202 - formulae's own type, imported late
    from formulae import design_matrices

    # The response is not read from here: formulae has none for counts that are not whole.
    return design_matrices(made.formula, made.frame.assign(correct=0))


def _inference(
    drawn: arviz.InferenceData, found: list[Term], density: Density, made: Design
) -> arviz.InferenceData:
    """Return draws of points as bambi's variables, in bambi's order: SDs before their groups."""
    import arviz

    points = drawn.posterior["point"].to_numpy()
    ends = np.cumsum([term.size for term in density.arranged])[:-1]
    parts = np.split(density.coefficients(points), ends, axis=-1)
    values = {term.name: part for term, part in zip(density.arranged, parts, strict=True)}
    # bambi reports the intercept of predictors that are not centred.
    values["Intercept"] -= sum(values[term.name] @ term.means for term in found)[..., None]
    sds = {
        f"{term.name}_sigma": np.exp(points[..., density.width + g])
        for g, term in enumerate(density.arranged[: len(density.rates)])
    }
    common = {t.name: values[t.name] if t.dimension else values[t.name][..., 0] for t in found}
    groups = {term.name: common.pop(term.name) for term in found if term.group}
    inference = arviz.from_dict(
        posterior={
            **common,
            **{f"{name}_sigma": sds[f"{name}_sigma"] for name in groups},
            **groups,
        },
        observed_data={RESPONSE: made.frame["correct"].to_numpy()},
        coords={term.dimension: term.labels for term in found if term.dimension},
        dims={term.name: [term.dimension] for term in found if term.dimension}
        | {RESPONSE: ["__obs__"]},
    )
    inference.add_groups(sample_stats=drawn.sample_stats)
    return inference
