"""A model's choices as a mixture of heuristics, and tests of what the mixture does not explain.

Each choice follows heuristic k with probability ``weight[k]``. Other choices are guesses, which are
right half of the time; so are choices whose heuristic does not decide. This is a finite mixture
whose components are known (a latent class model with fixed classes; McLachlan and Peel 2000,
chapter 2): the likelihood is concave in the weights, and the EM algorithm (Dempster, Laird and
Rubin 1977) finds its maximum.

The items may not determine the weights: if two heuristics contradict each other on every pair, the
weights 60% and 0%, with 40% guessing, fit as well as 80% and 20%. Of the weights that fit equally
well, those with the largest share of guessing are taken: a weight is the part that guessing cannot
explain.

Every set of choices has weights, also if no heuristic is right. :func:`shared` measures the choices
that the mixture does not explain; :func:`agreement` and :func:`preference` test whether all choices
are coin tosses.
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
"""If the variances of choices sum to less than this, nearly all choices are determined."""
FEW = 10
"""A heuristic must decide on at least so many lexical sets (or half of all sets, if fewer)."""


class Mixture(NamedTuple):
    """Weights of heuristics for each seed; the last column is guessing."""

    weights: np.ndarray  # seeds x (heuristics + 1)
    replicates: np.ndarray  # replicates x seeds x (heuristics + 1)


def weights(chosen: np.ndarray, says: np.ndarray) -> np.ndarray:
    """Return maximum-likelihood weights of heuristics and of guessing.

    Args:
        chosen: ... x patterns x 2: numbers of choices of the bad and of the good member among pairs
            with this pattern of the heuristics' choices; a tie is half of each.
        says: heuristics x patterns: probability that a heuristic chooses the good member; .5 if it
            does not decide.

    Returns:
        ... x (heuristics + 1), with sum 1; the last is guessing.
    """
    heuristics, patterns = says.shape
    chances = np.vstack([says, np.full((1, patterns), 0.5)])
    both = np.stack([1 - chances, chances], axis=-1).reshape(heuristics + 1, -1)
    counts = chosen.reshape(-1, 2 * patterns).astype(float)
    shares = counts / counts.sum(axis=1, keepdims=True)
    estimates = np.full((len(shares), heuristics + 1), (1 - START) / max(heuristics, 1))
    estimates[:, -1] = START if heuristics else 1.0
    unfinished = np.arange(len(shares))  # rows that have not reached the maximum yet
    for _ in range(CYCLES):
        own, old = shares[unfinished], estimates[unfinished]
        once = _step(old, own, both)
        estimates[unfinished] = _accelerated(old, once, _step(once, own, both), own, both)
        gains = _gain(estimates[unfinished], own, both).max(axis=1)
        unfinished = unfinished[gains >= 1 + TOLERANCE]
        if not len(unfinished):
            break
    estimates = _most_guessing(estimates / estimates.sum(axis=1, keepdims=True), both)
    return estimates.reshape(*chosen.shape[:-2], heuristics + 1)


def _step(estimates: np.ndarray, shares: np.ndarray, both: np.ndarray) -> np.ndarray:
    """Return the weights after a step of EM: replicates x (heuristics + 1)."""
    return estimates * _gain(estimates, shares, both)


def _gain(estimates: np.ndarray, shares: np.ndarray, both: np.ndarray) -> np.ndarray:
    """Return the derivative of the mean log-likelihood by each weight.

    At the maximum no derivative is above 1. Elsewhere, the distance of the log-likelihood from its
    maximum is at most the largest derivative minus 1 (Lindsay 1983, Annals of Statistics 11), which
    tells when EM may stop.
    """
    return (shares / np.maximum(estimates @ both, _TINY)) @ both.T


def _accelerated(
    old: np.ndarray, once: np.ndarray, twice: np.ndarray, shares: np.ndarray, both: np.ndarray
) -> np.ndarray:
    """Return weights extrapolated from two steps of EM, or those after two steps if better.

    This is the third scheme of SQUAREM (Varadhan and Roland 2008, "Simple and globally convergent
    methods for accelerating the convergence of any EM algorithm", Scandinavian Journal of
    Statistics 35).
    """
    first = once - old
    bend = twice - once - first
    length = np.sqrt((first**2).sum(axis=1) / np.maximum((bend**2).sum(axis=1), _TINY))
    length = np.maximum(length, 1)[:, None]
    far = np.maximum(old + 2 * length * first + length**2 * bend, 1e-6)
    far = _step(far / far.sum(axis=1, keepdims=True), shares, both)
    better = _likelihood(far, shares, both) >= _likelihood(twice, shares, both)
    return np.where(better[:, None], far, twice)


def _most_guessing(estimates: np.ndarray, both: np.ndarray) -> np.ndarray:
    """Return weights that fit equally well and have the largest share of guessing.

    Weights are moved along directions that change no probability of a choice, each time until the
    weight of a heuristic is 0.
    """
    basis = _null_space(both.T)
    estimates = estimates.copy()
    for row in estimates:
        empty: list[int] = []
        for _ in range(basis.shape[1]):
            free = basis @ _null_space(basis[empty]) if empty else basis
            towards = free @ free[-1]  # guessing, projected
            falls = np.flatnonzero(towards < -1e-9)
            if not len(falls) or towards[-1] < 1e-9:
                break
            lengths = row[falls] / -towards[falls]
            np.add(row, lengths.min() * towards, out=row)
            empty.append(int(falls[lengths.argmin()]))
    return np.clip(estimates, 0, 1)


def _null_space(matrix: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of a matrix's null space, in columns."""
    _, sizes, rows = np.linalg.svd(matrix)
    return rows[int((sizes > 1e-9).sum()) :].T


def _likelihood(estimates: np.ndarray, shares: np.ndarray, both: np.ndarray) -> np.ndarray:
    return (shares * np.log(np.maximum(estimates @ both, _TINY))).sum(axis=1)


def fit(chosen: np.ndarray, says: np.ndarray, times: np.ndarray | None) -> Mixture:
    """Return the weights of each seed and their bootstrap replicates.

    Args:
        chosen: lexical sets x seeds x patterns x 2: choices of the bad and of the good member.
        says: as in :func:`weights`.
        times: replicates x sets: how often each set is drawn; None: no replicates.
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
    """Return 95% bounds of shares: symmetric, with the longer distance of the percentiles.

    Weights are never below 0, so that chance makes the weights of heuristics too large and that of
    guessing too small. A replicate has chance twice: near 0 or 1, percentiles of the bootstrap miss
    the truth and even the estimate (Andrews 2000, Econometrica 68). Therefore both ends have the
    larger of the two distances from the estimate.

    Args:
        estimates: shares, from 0 to 1, of any shape.
        replicates: replicates x the same.
    """
    ends = np.quantile(replicates, [0.025, 0.975], axis=0)
    reach = np.abs(ends - estimates).max(axis=0)
    return np.maximum(estimates - reach, 0), np.minimum(estimates + reach, 1)


def shared(chose: np.ndarray, chances: np.ndarray, sets: np.ndarray) -> tuple[float, float, float]:
    """Return the share of choices that seeds make alike for a reason outside the mixture.

    Suppose that each seed follows the same unknown preference in a share *w* of its choices,
    independently of the heuristics, and the mixture in the others. Then the product of the
    residuals of two seeds is on average *w*²/4. The mean product over pairs and pairs of seeds
    gives *w*; its variance is clustered by lexical set (linearised).

    Args:
        chose: pairs x seeds (two or more): 1 the good member, 0 the bad one, .5 a tie.
        chances: the same shape: probability of the good member.
        sets: number of the lexical set of each pair.

    Returns:
        The share, and the ends of its 95% interval; 0 if seeds agree no more than expected.
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
    """Return the p value of a test of agreement: do seeds agree more often than expected by chance?

    The statistic is the product of two seeds' residuals, summed over pairs and pairs of seeds. If
    choices are independent, its mean, variance and third moment are known; its distribution is
    approximated by a gamma distribution with these moments (Pearson's type III).

    Args:
        chose: pairs x seeds: 1 the good member, 0 the bad one, .5 a tie.
        chances: the same shape: probability of the good member.

    Returns:
        One-sided p; 1 with one seed, or if nearly all choices are determined.
    """
    rest, spread = chose - chances, chances * (1 - chances)
    product, variance, skews = map(_sum_over_pairs, (rest, spread, spread * (1 - 2 * chances)))
    if chose.shape[1] < 2 or spread.sum() < _CHANCE:
        return 1.0
    total, squares, cubes = ((spread**power).sum(axis=1) for power in (1, 2, 3))
    triples = (total**3 - 3 * total * squares + 2 * cubes).sum()  # six times each three seeds
    skewness = float(skews + triples) / variance**1.5
    return float(stats.pearson3.sf(product / np.sqrt(variance), skewness))


def _sum_over_pairs(values: np.ndarray) -> float:
    """Return the sum over rows of the products of every two columns."""
    return float((values.sum(axis=1) ** 2 - (values**2).sum(axis=1)).sum() / 2)


def preference(chose: np.ndarray, chances: np.ndarray, words: np.ndarray) -> float:
    """Return the p value of a test of words: are members with some words chosen too often?

    For each word, residuals (choices minus expected choices) are summed over the members that have
    this word where the members first differ. The sum of squares of these sums is a quadratic form;
    its distribution is approximated by a multiple of a chi-square with the same mean and variance
    (Box 1954, Annals of Mathematical Statistics 25).

    Args:
        chose: pairs x seeds: 1 the good member, 0 the bad one, .5 a tie.
        chances: the same shape: probability of the good member.
        words: pairs x 2: the first words in which the good and the bad member differ.
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
