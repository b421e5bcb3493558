"""The log density and its gradient as loops that numba compiles.

The symbols are those of the package's docstring. BLAS is not used, because its results depend on
the number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from types import FunctionType

import numpy as np


@cache
def compiled() -> Callable[..., float]:
    """Return :func:`_log_density`, compiled.

    numba caches the machine code next to Python's own compiled files, or in the user's cache if
    that folder is read-only (``NUMBA_CACHE_DIR`` names another folder). The cache depends on the
    kind of processor and the content of this file; cached code gives the same bits as newly
    compiled code. If no folder is writable, each process compiles for itself.
    """
    try:
        return _compile(cache=True)
    except RuntimeError:
        return _compile(cache=False)


def _compile(*, cache: bool) -> Callable[..., float]:
    """Compile :func:`_log_density` and the two functions that it calls."""
    import numba

    settings = {"nogil": True, "error_model": "numpy", "cache": cache}
    made = {f.__name__: numba.njit(**settings)(f) for f in (_factorise, _differentiate)}
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
    """Replace a matrix by its Cholesky factor, in place; return whether it has one.

    Args:
        starts: index of each column's first entry in ``rows`` and ``below``.
        rows: row of each entry below the diagonal, ascending within a column.
        target: for each pair of entries of each column, the index of the entry from which their
            product is subtracted.
        below: entries below the diagonal.
        diagonal: entries on the diagonal.
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
    """Replace derivatives by a Cholesky factor by derivatives by its matrix, in place.

    It does the steps of :func:`_factorise` in reverse (Smith 1995, Differentiation of the Cholesky
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


def _log_density(  # noqa: PLR0912 - one pass, in the order of the formulas
    point: np.ndarray, predictors: np.ndarray, columns: np.ndarray, levels: np.ndarray,
    correct: np.ndarray, trials: np.ndarray, precision: np.ndarray, group: np.ndarray,
    rates: np.ndarray, starts: np.ndarray, entries: np.ndarray, target: np.ndarray,
    information: np.ndarray, on_diagonal: np.ndarray, pull: np.ndarray, gradient: np.ndarray,
    theta: np.ndarray,
) -> float:  # fmt: skip
    """Return the log density; write its gradient and the coefficients into ``gradient``, ``theta``.

    Both arrays must be 0 before.
    """
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
    for i in range(rows):
        small = math.exp(-abs(eta[i]))
        share = (1 if eta[i] > 0 else small) / (1 + small)
        value -= trials[i] * (max(eta[i], 0.0) + math.log1p(small))
        by_eta[i] = correct[i] - trials[i] * share
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
