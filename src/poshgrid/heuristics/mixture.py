"""A model's choices as a mixture of heuristics, and whether the mixture is all there is.

Each choice follows heuristic k with probability ``weight[k]``; what follows none is a guess, right
half of the time. So is a choice where the heuristic that it follows has no say. This is a finite
mixture whose components are known (a latent class model with fixed classes; McLachlan and Peel
2000, chapter 2): the likelihood is concave in the weights, and the EM algorithm (Dempster, Laird
and Rubin 1977) climbs to its maximum.

Items may leave the weights open: where two heuristics contradict each other on every pair,
following one 60% and guessing 40% of the time looks the same as 80% and 20% of both. Of the weights
that fit the same, those are taken that leave most to guessing: a weight is what that cannot
explain.

A mixture always has weights. What they leave out is measured by :func:`shared`; whether all choices
are coin tosses is tested by :func:`agreement` and :func:`preference`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse, stats

GUESSING = "guessing"
START = 0.98
"""Weight of guessing at which EM starts."""
CYCLES = 1_000
TOLERANCE = 1e-5
_TINY = 1e-300
_CHANCE = 1.0
"""Sum of the variances of choices below which next to nothing is left to chance."""
FEW = 10
"""Lexical sets that a heuristic must have a say on (half of the sets, where there are few)."""


class Mixture(NamedTuple):
    """Weights of heuristics for each seed; the last column is guessing."""

    weights: np.ndarray  # seeds x (heuristics + 1)
    replicates: np.ndarray  # replicates x seeds x (heuristics + 1)


def weights(chosen: np.ndarray, says: np.ndarray) -> np.ndarray:
    """Return maximum-likelihood weights of heuristics and of guessing.

    Args:
        chosen: ... x patterns x 2: choices of the bad and of the good member, where heuristics say
            what the pattern is; ties are half of each.
        says: heuristics x patterns: probability that a heuristic chooses the good member; .5
            without a say.

    Returns:
        ... x (heuristics + 1), summing to 1; guessing is the last.
    """
    heuristics, patterns = says.shape
    chances = np.vstack([says, np.full((1, patterns), 0.5)])
    both = np.stack([1 - chances, chances], axis=-1).reshape(heuristics + 1, -1)
    counts = chosen.reshape(-1, 2 * patterns).astype(float)
    shares = counts / counts.sum(axis=1, keepdims=True)
    estimates = np.full((len(shares), heuristics + 1), (1 - START) / max(heuristics, 1))
    estimates[:, -1] = START if heuristics else 1.0
    open_ = np.arange(len(shares))  # rows whose maximum is not reached yet
    for _ in range(CYCLES):
        ours, old = shares[open_], estimates[open_]
        once = _step(old, ours, both)
        estimates[open_] = _further(old, once, _step(once, ours, both), ours, both)
        open_ = open_[_gain(estimates[open_], ours, both).max(axis=1) >= 1 + TOLERANCE]
        if not len(open_):
            break
    estimates = _guessed(estimates / estimates.sum(axis=1, keepdims=True), both)
    return estimates.reshape(*chosen.shape[:-2], heuristics + 1)


def _step(estimates: np.ndarray, shares: np.ndarray, both: np.ndarray) -> np.ndarray:
    """Return weights after a step of EM: replicates x (heuristics + 1)."""
    return estimates * _gain(estimates, shares, both)


def _gain(estimates: np.ndarray, shares: np.ndarray, both: np.ndarray) -> np.ndarray:
    """Return the derivative of the mean log-likelihood by each weight.

    At the maximum none is above 1. Elsewhere the log-likelihood is below it by at most what the
    largest is above 1 (Lindsay 1983, Annals of Statistics 11): EM may stop.
    """
    return (shares / np.maximum(estimates @ both, _TINY)) @ both.T


def _further(
    old: np.ndarray, once: np.ndarray, twice: np.ndarray, shares: np.ndarray, both: np.ndarray
) -> np.ndarray:
    """Return weights further along two steps of EM, where they are better (Varadhan and Roland).

    That is SQUAREM's third scheme, "Simple and globally convergent methods for accelerating the
    convergence of any EM algorithm", Scandinavian Journal of Statistics 35 (2008).
    """
    first = once - old
    bend = twice - once - first
    length = np.sqrt((first**2).sum(axis=1) / np.maximum((bend**2).sum(axis=1), _TINY))
    length = np.maximum(length, 1)[:, None]
    far = np.maximum(old + 2 * length * first + length**2 * bend, 1e-6)
    far = _step(far / far.sum(axis=1, keepdims=True), shares, both)
    better = _likelihood(far, shares, both) >= _likelihood(twice, shares, both)
    return np.where(better[:, None], far, twice)


def _guessed(estimates: np.ndarray, both: np.ndarray) -> np.ndarray:
    """Return weights that fit the same and leave more to guessing, as far as it goes.

    They are moved along the directions that change no probability of a choice, each until a
    heuristic has no weight left.
    """
    basis = _baseline(both.T)
    estimates = estimates.copy()
    for row in estimates:
        empty: list[int] = []
        for _ in range(basis.shape[1]):
            free = basis @ _baseline(basis[empty]) if empty else basis
            towards = free @ free[-1]  # guessing, projected
            falls = np.flatnonzero(towards < -1e-9)
            if not len(falls) or towards[-1] < 1e-9:
                break
            lengths = row[falls] / -towards[falls]
            np.add(row, lengths.min() * towards, out=row)
            empty.append(int(falls[lengths.argmin()]))
    return np.clip(estimates, 0, 1)


def _baseline(matrix: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of what a matrix maps to 0, in columns."""
    _, sizes, rows = np.linalg.svd(matrix)
    return rows[int((sizes > 1e-9).sum()) :].T


def _likelihood(estimates: np.ndarray, shares: np.ndarray, both: np.ndarray) -> np.ndarray:
    return (shares * np.log(np.maximum(estimates @ both, _TINY))).sum(axis=1)


def fit(chosen: np.ndarray, says: np.ndarray, times: np.ndarray | None) -> Mixture:
    """Return the weights of each seed and their bootstrap replicates.

    Args:
        chosen: lexical sets x seeds x patterns x 2: choices of the bad and of the good member.
        says: as in :func:`weights`.
        times: replicates x sets: how often each set was drawn; ``None``: no replicates.
    """
    sets = len(chosen)
    drawn = np.empty((0, sets)) if times is None else times
    counts = (drawn @ chosen.reshape(sets, -1)).reshape(-1, *chosen.shape[1:])
    everything = np.concatenate([chosen.sum(axis=0, keepdims=True), counts])
    fitted = weights(everything, says)
    return Mixture(fitted[0], fitted[1:])


def deviance(chosen: np.ndarray, says: np.ndarray, fitted: np.ndarray) -> float:
    """Return minus twice the log-likelihood of weights, summed over seeds.

    Args:
        chosen: seeds x patterns x 2: choices of the bad and of the good member.
        says: as in :func:`weights`.
        fitted: seeds x (heuristics + 1).
    """
    chances = np.clip(expected(fitted, says), _TINY, 1)
    others = np.clip(1 - expected(fitted, says), _TINY, 1)
    return -2 * float((chosen[..., 1] * np.log(chances) + chosen[..., 0] * np.log(others)).sum())


def expected(fitted: np.ndarray, says: np.ndarray) -> np.ndarray:
    """Return the probability that the good member is chosen (... x patterns).

    Args:
        fitted: ... x (heuristics + 1): weights.
        says: as in :func:`weights`.
    """
    return fitted @ np.vstack([says, np.full((1, says.shape[1]), 0.5)])


def intervals(estimates: np.ndarray, replicates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return 95% bounds of shares: as far to either side as replicates go on one of them.

    No weight is below 0, so that chance gives heuristics too much and guessing too little, and a
    replicate, which has chance twice, more so: at an edge a bootstrap's percentiles miss the truth
    and even the weight itself (Andrews 2000, Econometrica 68). The longer side counts for both.

    Args:
        estimates: shares, from 0 to 1, of any shape.
        replicates: replicates x the same.
    """
    ends = np.quantile(replicates, [0.025, 0.975], axis=0)
    reach = np.abs(ends - estimates).max(axis=0)
    return np.maximum(estimates - reach, 0), np.minimum(estimates + reach, 1)


def shared(chose: np.ndarray, chances: np.ndarray, sets: np.ndarray) -> tuple[float, float, float]:
    """Return the share of choices that seeds make alike for a reason that is not in the mixture.

    If each seed follows the same unknown preference in a share *w* of its choices, independently of
    the heuristics, and the mixture's chances in the others, the product of the residuals of two
    seeds is on average *w*²/4. The mean product over pairs and pairs of seeds is turned into this
    *w*; its variance is clustered by lexical set (linearised).

    Args:
        chose: pairs x seeds (two or more): 1 the good member, 0 the bad one, .5 a tie.
        chances: the same shape: probability of the good member.
        sets: of each pair, the number of its lexical set.

    Returns:
        The share, and the ends of its 95% interval; 0 where seeds agree no more than expected.
    """
    rest, seeds = chose - chances, chose.shape[1]
    products = (rest.sum(axis=1) ** 2 - (rest**2).sum(axis=1)) / (seeds * (seeds - 1))
    pairs = np.bincount(sets)
    mean, number = products.mean(), np.count_nonzero(pairs)
    residual = np.bincount(sets, products) - pairs * mean
    spread = np.sqrt((residual**2).sum() * number / max(number - 1, 1)) / len(products)
    reach = stats.norm.ppf(0.975) * spread
    share, low, high = 2 * np.sqrt(np.clip([mean, mean - reach, mean + reach], 0, 0.25))
    return float(share), float(low), float(high)


def agreement(chose: np.ndarray, chances: np.ndarray) -> float:
    """Return the p value of seeds' agreement: do they agree more often than the chances say?

    The statistic is the product of two seeds' residuals, summed over pairs and pairs of seeds. Its
    mean, variance and third moment if choices are independent and have these chances are known; a
    gamma distribution with these three moments stands in for its own (Pearson's type III).

    Args:
        chose: pairs x seeds: 1 the good member, 0 the bad one, .5 a tie.
        chances: the same shape: probability of the good member.

    Returns:
        One-sided; 1 with one seed, or where nothing is left to chance.
    """
    rest, spread = chose - chances, chances * (1 - chances)
    product, variance, skews = map(_of_two, (rest, spread, spread * (1 - 2 * chances)))
    if chose.shape[1] < 2 or spread.sum() < _CHANCE:
        return 1.0
    total, squares, cubes = ((spread**power).sum(axis=1) for power in (1, 2, 3))
    triples = (total**3 - 3 * total * squares + 2 * cubes).sum()  # six times each three seeds
    skewness = float(skews + triples) / variance**1.5
    return float(stats.pearson3.sf(product / np.sqrt(variance), skewness))


def _of_two(values: np.ndarray) -> float:
    """Return the sum over rows of the products of every two columns."""
    return float((values.sum(axis=1) ** 2 - (values**2).sum(axis=1)).sum() / 2)


def preference(chose: np.ndarray, chances: np.ndarray, words: np.ndarray) -> float:
    """Return the p value of preferences for words: are some chosen more often than expected?

    For each word it is counted how often the member that has it at the edit site is chosen less
    how often it is expected to be, and how often the other one. The sum of squares of the
    differences is a quadratic form; a multiple of a chi-square with the same mean and variance
    stands in for it (Box 1954, Annals of Mathematical Statistics 25).

    Args:
        chose: pairs x seeds: 1 the good member, 0 the bad one, .5 a tie.
        chances: the same shape: probability of the good member.
        words: pairs x 2: where the members begin to differ, the good one's word and the bad one's.
    """
    _, number = np.unique(words, return_inverse=True)
    kinds, kind = np.unique(number.reshape(-1, 2), axis=0, return_inverse=True)
    kind, spread = kind.reshape(-1), chances * (1 - chances)
    rest, variances, fourth = (
        np.bincount(kind, values.sum(axis=1))
        for values in (chose - chances, spread, spread * (1 - 6 * spread))
    )
    rows = np.repeat(np.arange(len(kinds)), 2)
    signs = sparse.csr_array((np.tile([1.0, -1.0], len(kinds)), (rows, kinds.reshape(-1))))
    shared = signs @ signs.T
    mean = float(shared.diagonal() @ variances)
    variance = float(
        2 * variances @ (shared.power(2) @ variances) + shared.diagonal() ** 2 @ fourth
    )
    if spread.sum() < _CHANCE or variance < 1e-9:
        return 1.0
    form = float(((signs.T @ rest) ** 2).sum())
    return float(stats.chi2.sf(2 * form * mean / variance, 2 * mean**2 / variance))
