"""Tests of accuracy against 50%: chi-square, Fisher, Holm."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

CHANCE = 0.5


def chi_square(correct: float, n: float) -> float:
    """Return the two-sided p of a chi-square goodness-of-fit test against 50% (paper, Table 3).

    Args:
        correct: pairs judged right; may be fractional (a tie is half).
        n: pairs, at least 1.
    """
    expected = n * CHANCE
    return float(stats.chisquare([correct, n - correct], [expected, expected]).pvalue)


def combine_seeds(correct: Sequence[float], n: Sequence[float]) -> float:
    """Return the Fisher-combined p of one chi-square test per seed.

    Fisher's method would add up the evidence of two seeds on opposite sides of 50%, though it is
    evidence for different conclusions: such a cell gets p = 1.

    Args:
        correct: pairs judged right by each seed.
        n: pairs judged by each seed.
    """
    above = any(c > CHANCE * m for c, m in zip(correct, n, strict=True))
    below = any(c < CHANCE * m for c, m in zip(correct, n, strict=True))
    if above and below:
        return 1.0
    p_values = [chi_square(c, m) for c, m in zip(correct, n, strict=True)]
    # A p value that underflows to 0 would make the logarithm infinite.
    return float(stats.combine_pvalues(np.maximum(p_values, np.finfo(float).tiny)).pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values corrected by Holm's step-down method, in the same order."""
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(stepped, 1.0)
    return corrected.tolist()


def stars(p: float | None) -> str:
    """Return the paper's marks: ``*`` p < .05, ``**`` p < .01, ``***`` p < .001."""
    if p is None:
        return ""
    return "*" * sum(p < bound for bound in (0.05, 0.01, 0.001))
