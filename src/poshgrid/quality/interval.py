"""An interval of a null's accuracy that knows how many pairs there are, and how they hang together.

Pairs of a lexical set share their words, so a model that counts words solves them alike; untrained
models with other seeds prefer other words. The exact interval of Clopper and Pearson (1934) is
taken at the *effective* number of pairs (Korn and Graubard 1998, "Confidence intervals for
proportions with small expected number of positive counts estimated from survey data", Survey
Methodology 24): as many independent pairs as would vary as much. It is exact for independent
pairs, holds for few of them, and is never narrower than for independent ones.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

LEVEL = 0.05  # of the interval: 95%


def interval(
    right: Sequence[float], pairs: Sequence[float], runs: Sequence[float] = ()
) -> tuple[float, float] | None:
    """Return the 95% interval of a share of pairs.

    Args:
        right: pairs of each lexical set that were judged right, the mean over runs; a tie is half.
        pairs: pairs of each set.
        runs: accuracies of the runs, if they are a sample of what could have been run (seeds): then
            they vary, too. None of one run: how such runs vary is unknown, and left out.

    Returns:
        None with fewer than two sets: nothing tells how sets vary.
    """
    sets = len(pairs)
    if sets < 2:
        return None
    correct, n = np.asarray(right, float), np.asarray(pairs, float)
    total = float(n.sum())
    share = float(correct.sum()) / total
    residuals = (correct - share * n) / total
    parts = [(sets / (sets - 1) * float(residuals @ residuals), sets - 1)]
    if len(runs) > 1:
        parts.append((float(np.var(runs, ddof=1)) / len(runs), len(runs) - 1))
    return _clopper_pearson(share, _effective(share, total, sets, parts))


def _effective(share: float, total: float, sets: int, parts: list[tuple[float, int]]) -> float:
    """Return how many independent pairs would vary as much.

    Args:
        share: of the pairs that are right.
        total: pairs.
        sets: lexical sets.
        parts: (variance of the share, degrees of freedom) of what varies independently.
    """
    from scipy.stats import t

    variance = sum(part for part, _ in parts)
    if variance <= 0 or not 0 < share < 1:
        # All sets agree. All right, or all wrong: as sure as so many sets can be. Else ties.
        return float(sets) if share in (0, 1) else total
    # Satterthwaite (1946), and Korn and Graubard's correction for a variance that is estimated
    freedom = variance**2 / sum(part**2 / df for part, df in parts)
    known, estimated = (float(t.ppf(1 - LEVEL / 2, df)) for df in (max(total - 1, 1), freedom))
    return min(total, share * (1 - share) / variance * (known / estimated) ** 2)


def _clopper_pearson(share: float, n: float) -> tuple[float, float]:
    from scipy.stats import beta

    right, wrong = share * n, (1 - share) * n
    low = float(beta.ppf(LEVEL / 2, right, wrong + 1)) if right > 0 else 0.0
    high = float(beta.ppf(1 - LEVEL / 2, right + 1, wrong)) if wrong > 0 else 1.0
    return low, high


def beyond(bounds: tuple[float, float] | None, tolerance: float) -> bool:
    """Say whether an interval lies wholly further than ``tolerance`` from one half."""
    return bounds is not None and (bounds[0] > 0.5 + tolerance or bounds[1] < 0.5 - tolerance)
