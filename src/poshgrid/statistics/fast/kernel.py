"""The log density and its gradient as loops that numba compiles.

The symbols are those of the package's docstring. No BLAS: its sums depend on its threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from types import FunctionType

import numpy as np

_FAR = 38.0
"""Nodes whose weight is below exp(-38) of the largest do not change a float's last bit."""
_LEAST = math.exp(-_FAR)
_LARGE = 600.0  # the logarithm of what a product may reach
_FEW = 8  # products that are cheaper than an exponential


@cache
def compiled() -> Callable[..., float]:
    """Return :func:`_log_density`, compiled.

    What was compiled is kept beside Python's own compiled files, or in the user's cache where
    nobody may write there, by kind of processor and state of this file (``NUMBA_CACHE_DIR`` says
    where else). It has the bits that would be compiled again. Where no folder can be written, this
    process compiles for itself.
    """
    try:
        return _built(cache=True)
    except RuntimeError:
        return _built(cache=False)


def _built(*, cache: bool) -> Callable[..., float]:
    import numba

    settings = {"nogil": True, "error_model": "numpy", "cache": cache}
    made = {f.__name__: numba.njit(**settings)(f) for f in (_factorise, _differentiate, _sets)}
    scope = {**_log_density.__globals__, **made}
    rebuilt = FunctionType(_log_density.__code__, scope, _log_density.__name__)
    return numba.njit(**settings)(rebuilt)


def _factorise(
    starts: np.ndarray,
    rows: np.ndarray,
    target: np.ndarray,
    below: np.ndarray,
    diagonal: np.ndarray,
) -> bool:
    """Turn a matrix into its Cholesky factor, in place; return whether it has one.

    Args:
        starts: where each column's entries begin in ``rows`` and ``below``.
        rows: of the entries below the diagonal, ascending within a column.
        target: for each column, each pair of its entries: the entry that their product enters.
        below: entries below the diagonal.
        diagonal: entries on it.
    """
    t = 0
    for j in range(len(diagonal)):
        if not diagonal[j] > 0:
            return False
        diagonal[j] = math.sqrt(diagonal[j])
        inverse = 1 / diagonal[j]
        first, end = starts[j], starts[j + 1]
        for p in range(first, end):
            below[p] *= inverse
        for p in range(first, end):
            entry = below[p]
            diagonal[rows[p]] -= entry * entry
            for q in range(p + 1, end):
                below[target[t]] -= entry * below[q]
                t += 1
    return True


def _differentiate(
    starts: np.ndarray, rows: np.ndarray, target: np.ndarray, below: np.ndarray,
    diagonal: np.ndarray, by_below: np.ndarray, by_diagonal: np.ndarray,
) -> None:  # fmt: skip
    """Turn derivatives by a Cholesky factor into those by its matrix, in place.

    The reverse of :func:`_factorise`, step by step (Smith 1995, Differentiation of the Cholesky
    algorithm, J. Computational and Graphical Statistics 4).
    """
    t = len(target)
    for j in range(len(diagonal) - 1, -1, -1):
        first, end = starts[j], starts[j + 1]
        for p in range(end - 1, first - 1, -1):
            entry, total = below[p], 0.0
            for q in range(end - 1, p, -1):
                t -= 1
                above = by_below[target[t]]
                total += above * below[q]
                by_below[q] -= above * entry
            by_below[p] -= total + 2 * by_diagonal[rows[p]] * entry
        inverse, total = 1 / diagonal[j], 0.0
        for p in range(first, end):
            total += by_below[p] * below[p]
            by_below[p] *= inverse
        by_diagonal[j] = 0.5 * inverse * (by_diagonal[j] - total * inverse)


def _sets(  # noqa: PLR0912, PLR0915 - one pass, in the order of the formulas
    eta: np.ndarray, sigma: float, nodes: np.ndarray, patterns: np.ndarray, members: np.ndarray,
    each: np.ndarray, totals: np.ndarray, times: np.ndarray, slope: np.ndarray,
) -> tuple[float, float]:  # fmt: skip
    """Return the log likelihood but for ``correct * eta``, and its derivative by log sigma.

    Its derivative by ``eta`` is added to ``slope``. See :mod:`poshgrid.statistics.fast.sets`.
    """
    value, by_sigma, count = 0.0, 0.0, len(nodes)
    log_share, share, product = np.empty(count), np.empty(count), np.empty(count)
    weight, weighted, part = np.empty(count), np.empty(count), np.empty(count)
    odds_of_node = np.exp(sigma * nodes)
    root_of_node = np.sqrt(odds_of_node)  # of a tie
    half_square = 0.5 * nodes * nodes
    step = math.log(nodes[1] - nodes[0]) - 0.5 * math.log(2 * math.pi)
    span = sigma * (nodes[-1] - nodes[0])
    widest = 0
    for p in range(len(patterns)):
        widest = max(widest, patterns[p, 1] - patterns[p, 0])
    shares = np.empty((widest, count))  # loops over nodes are the inner ones: they are vectorised
    for p in range(len(patterns)):
        first, end, left, right = patterns[p]
        # A(u): a product has one logarithm for many rows.
        log_share[:], share[:], product[:], bound = half_square, 0.0, 1.0, 0.0
        for r in range(end - first):
            odds, pairs = math.exp(eta[members[first + r]]), each[first + r]
            high = pairs * math.log1p(odds * odds_of_node[-1])
            bound += high
            if bound > _LARGE:
                for q in range(count):
                    log_share[q] += math.log(product[q])
                    product[q] = 1.0
                bound = high
            for q in range(count):
                factor = 1 + odds * odds_of_node[q]
                product[q] *= factor
                shares[r, q] = pairs * (1 - 1 / factor)
                share[q] += shares[r, q]
            for _ in range(pairs - 1):
                for q in range(count):
                    product[q] *= 1 + odds * odds_of_node[q]
        for q in range(count):
            log_share[q] += math.log(product[q])
        # Each total's parts of its integral: those of the total before, times what it has more.
        weight[:], weighted[:] = 0.0, 0.0
        anchor, before, logarithm = 0.0, 0.0, 0.0
        for y in range(left, right):
            more = totals[y] - before
            whole = int(more)
            if y == left or whole > _FEW or (totals[y] - anchor) * span > _LARGE - 2 * _FAR:
                anchor, logarithm = totals[y], -math.inf
                for q in range(count):
                    part[q] = anchor * sigma * nodes[q] - log_share[q]
                    logarithm = max(logarithm, part[q])
                for q in range(count):
                    # What is left out here stays negligible up to the next anchor.
                    far = part[q] - logarithm < -_LARGE
                    part[q] = 0.0 if far else math.exp(part[q] - logarithm)
            else:
                for _ in range(whole):
                    for q in range(count):
                        part[q] *= odds_of_node[q]
                if more > whole:
                    for q in range(count):
                        part[q] *= root_of_node[q]
            before = totals[y]
            one, two, three, four, q = 0.0, 0.0, 0.0, 0.0, 0
            while q + 3 < count:  # four sums: each addition need not wait for the one before
                one += part[q]
                two += part[q + 1]
                three += part[q + 2]
                four += part[q + 3]
                q += 4
            while q < count:
                one += part[q]
                q += 1
            total = one + two + three + four
            logarithm += math.log(total)
            value += times[y] * (logarithm + step)
            inverse, its = 1 / total, times[y]
            for q in range(count):
                part[q] *= inverse
                weight[q] += its * part[q]
                weighted[q] += its * totals[y] * part[q]
        low, high = 0, count
        while weight[low] < _LEAST:
            low += 1
        while weight[high - 1] < _LEAST:
            high -= 1
        for q in range(low, high):
            by_sigma += sigma * nodes[q] * (weighted[q] - weight[q] * share[q])
        for r in range(end - first):
            one, two, three, four, q = 0.0, 0.0, 0.0, 0.0, low
            while q + 3 < high:
                one += weight[q] * shares[r, q]
                two += weight[q + 1] * shares[r, q + 1]
                three += weight[q + 2] * shares[r, q + 2]
                four += weight[q + 3] * shares[r, q + 3]
                q += 4
            while q < high:
                one += weight[q] * shares[r, q]
                q += 1
            slope[members[first + r]] -= one + two + three + four
    return value, by_sigma


def _log_density(  # noqa: PLR0912 - one pass, in the order of the formulas
    point: np.ndarray, predictors: np.ndarray, columns: np.ndarray, levels: np.ndarray,
    correct: np.ndarray, trials: np.ndarray, precision: np.ndarray, group: np.ndarray,
    rates: np.ndarray, starts: np.ndarray, entries: np.ndarray, target: np.ndarray,
    information: np.ndarray, on_diagonal: np.ndarray, pull: np.ndarray, nodes: np.ndarray,
    patterns: np.ndarray, members: np.ndarray, each: np.ndarray, totals: np.ndarray,
    times: np.ndarray, gradient: np.ndarray, theta: np.ndarray,
) -> float:  # fmt: skip
    """Return the log density; put its gradient and the coefficients into arrays of zeros."""
    rows, width, effects = len(trials), len(theta), len(group)
    log_sds = point[width:]

    prior = np.empty(width)  # D
    for j in range(effects):
        prior[j] = math.exp(-2 * log_sds[group[j]])
    prior[effects:] = precision

    # L, the Cholesky factor of H + D; v = L^-1 h; theta = L^-T (z + v).
    below, diagonal = information.copy(), on_diagonal + prior
    if not _factorise(starts, entries, target, below, diagonal):
        return -math.inf
    value = 0.0
    centre = pull.copy()
    for j in range(width):
        value -= math.log(diagonal[j])  # |d theta / d z|
        centre[j] /= diagonal[j]
        for p in range(starts[j], starts[j + 1]):
            centre[entries[p]] -= below[p] * centre[j]
    for j in range(width - 1, -1, -1):
        total = point[j] + centre[j]
        for p in range(starts[j], starts[j + 1]):
            total -= below[p] * theta[entries[p]]
        theta[j] = total / diagonal[j]

    # Likelihood and normal priors, and their slope by theta.
    eta, slope, by_eta = np.zeros(rows), -prior * theta, np.zeros(rows)
    for j in range(width):
        value += 0.5 * slope[j] * theta[j]
    for j in range(width - effects):
        for i in range(rows):
            eta[i] += columns[j, i] * theta[effects + j]
    for i in range(rows):
        for level in levels[i]:
            eta[i] += theta[level]
        value += correct[i] * eta[i]
        by_eta[i] = correct[i]
    if len(patterns):
        found, by_sigma = _sets(
            eta, math.exp(log_sds[-1]), nodes, patterns, members, each, totals, times, by_eta
        )
        value += found
        gradient[-1] = by_sigma
    else:
        for i in range(rows):
            small = math.exp(-abs(eta[i]))
            share = (1 if eta[i] > 0 else small) / (1 + small)
            value -= trials[i] * (max(eta[i], 0.0) + math.log1p(small))
            by_eta[i] -= trials[i] * share
    for i in range(rows):
        for level in levels[i]:
            slope[level] += by_eta[i]
        for j in range(width - effects):
            slope[effects + j] += predictors[i, j] * by_eta[i]

    # By z: L^-1 times the slope. By L: through theta, v and the determinant.
    for j in range(width):
        slope[j] /= diagonal[j]
        gradient[j] = slope[j]
        for p in range(starts[j], starts[j + 1]):
            slope[entries[p]] -= below[p] * slope[j]
    by_centre = np.empty(width)
    for j in range(width - 1, -1, -1):
        total = gradient[j]
        for p in range(starts[j], starts[j + 1]):
            total -= below[p] * by_centre[entries[p]]
        by_centre[j] = total / diagonal[j]
    by_below, by_diagonal = np.empty(len(below)), np.empty(width)
    for j in range(width):
        by_diagonal[j] = -theta[j] * gradient[j] - by_centre[j] * centre[j] - 1 / diagonal[j]
        for p in range(starts[j], starts[j + 1]):
            i = entries[p]
            by_below[p] = -theta[i] * gradient[j] - by_centre[i] * centre[j]
    _differentiate(starts, entries, target, below, diagonal, by_below, by_diagonal)

    # By log sigma: its own prior, those of its group's coefficients, and through D.
    for g in range(len(rates)):
        rate_sd = rates[g] * math.exp(log_sds[g])
        value += log_sds[g] - rate_sd  # exponential prior; d sigma / d log sigma
        gradient[width + g] += 1 - rate_sd
    for j in range(effects):
        value -= log_sds[group[j]]  # of the normal prior of theta[j]
        gradient[width + group[j]] += prior[j] * (theta[j] * theta[j] - 2 * by_diagonal[j]) - 1
    return value
