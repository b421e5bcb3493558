"""A learner's choices as a mixture of rules.

Each choice follows rule k with probability ``weight[k]``; what follows none is a guess, right half
of the time. So is a choice where the rule that it follows has no say. This is a finite mixture
whose components are known (a latent class model with fixed classes; McLachlan and Peel 2000,
chapter 2): the likelihood is concave in the weights, and the EM algorithm (Dempster, Laird and
Rubin 1977) climbs to its maximum.

Items may leave the weights open: where two rules contradict each other on every pair, following
one 60% and guessing 40% of the time looks the same as 80% and 20% of both. Of the weights that fit
the same, those are taken that leave most to guessing: a rule's weight is what it cannot explain.

How sure a weight is comes from a bootstrap over lexical sets, each with all its pairs and seeds:
choices on the same words are not independent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

GUESSING = "guessing"
START = 0.98
"""Weight of guessing at which EM starts."""
CYCLES = 1_000
TOLERANCE = 1e-6
_TINY = 1e-300
LEAST = 0.1
"""A replicate whose largest weight is not above it has no rule that explains it."""
SURE = 0.95
FEW = 10
"""Lexical sets that a rule must have a say on (half of the sets, where there are few)."""


class Mixture(NamedTuple):
    """Weights of rules; the last column is guessing."""

    weights: np.ndarray  # rules + 1
    replicates: np.ndarray  # replicates x (rules + 1)


def weights(chosen: np.ndarray, says: np.ndarray) -> np.ndarray:
    """Return maximum-likelihood weights of rules and of guessing.

    Args:
        chosen: ... x patterns x 2: choices of the bad and of the good member, where rules say what
            the pattern is; ties are half of each.
        says: rules x patterns: probability that a rule chooses the good member; .5 without a say.

    Returns:
        ... x (rules + 1), summing to 1; guessing is the last.
    """
    rules, patterns = says.shape
    chances = np.vstack([says, np.full((1, patterns), 0.5)])
    both = np.stack([1 - chances, chances], axis=-1).reshape(rules + 1, -1)
    counts = chosen.reshape(-1, 2 * patterns).astype(float)
    shares = counts / counts.sum(axis=1, keepdims=True)
    found = np.full((len(shares), rules + 1), (1 - START) / max(rules, 1))
    found[:, -1] = START if rules else 1.0
    open_ = np.arange(len(shares))  # rows whose maximum is not reached yet
    for _ in range(CYCLES):
        ours, old = shares[open_], found[open_]
        once = _step(old, ours, both)
        found[open_] = _further(old, once, _step(once, ours, both), ours, both)
        open_ = open_[np.abs(once - old).max(axis=1) >= TOLERANCE]
        if not len(open_):
            break
    found = _guessed(found / found.sum(axis=1, keepdims=True), both)
    return found.reshape(*chosen.shape[:-2], rules + 1)


def _step(found: np.ndarray, shares: np.ndarray, both: np.ndarray) -> np.ndarray:
    """Return weights after a step of EM: replicates x (rules + 1)."""
    return found * ((shares / np.maximum(found @ both, _TINY)) @ both.T)


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
    far = np.maximum(old + 2 * length * first + length**2 * bend, 1e-12)
    far = _step(far / far.sum(axis=1, keepdims=True), shares, both)
    better = _likelihood(far, shares, both) >= _likelihood(twice, shares, both)
    return np.where(better[:, None], far, twice)


def _guessed(found: np.ndarray, both: np.ndarray) -> np.ndarray:
    """Return weights that fit the same and leave more to guessing, as far as it goes.

    They are moved along the directions that change no probability of a choice, each until a rule
    has no weight left.
    """
    basis = _null(both.T)
    found = found.copy()
    for row in found:
        empty: list[int] = []
        for _ in range(basis.shape[1]):
            free = basis @ _null(basis[empty]) if empty else basis
            towards = free @ free[-1]  # guessing, projected
            falls = np.flatnonzero(towards < -1e-9)
            if not len(falls) or towards[-1] < 1e-9:
                break
            lengths = row[falls] / -towards[falls]
            np.add(row, lengths.min() * towards, out=row)
            empty.append(int(falls[lengths.argmin()]))
    return np.clip(found, 0, 1)


def _null(matrix: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of what a matrix maps to 0, in columns."""
    _, sizes, rows = np.linalg.svd(matrix)
    return rows[int((sizes > 1e-9).sum()) :].T


def _likelihood(found: np.ndarray, shares: np.ndarray, both: np.ndarray) -> np.ndarray:
    return (shares * np.log(np.maximum(found @ both, _TINY))).sum(axis=1)


def fit(chosen: np.ndarray, says: np.ndarray, times: np.ndarray | None) -> Mixture:
    """Return weights and their bootstrap replicates.

    Args:
        chosen: lexical sets x patterns x 2: choices of the bad and of the good member.
        says: as in :func:`weights`.
        times: replicates x sets: how often each set was drawn; ``None``: no replicates.
    """
    sets = len(chosen)
    drawn = np.empty((0, sets)) if times is None else times
    counts = (drawn @ chosen.reshape(sets, -1)).reshape(-1, *chosen.shape[1:])
    everything = np.concatenate([chosen.sum(axis=0, keepdims=True), counts])
    found = weights(everything, says)
    return Mixture(found[0], found[1:])


def intervals(found: Mixture) -> tuple[np.ndarray, np.ndarray]:
    """Return 95% bounds of each weight: as far to either side as replicates go on one of them.

    No weight is below 0, so that chance gives rules too much and guessing too little, and a
    replicate, which has chance twice, more so: at an edge a bootstrap's percentiles miss the truth
    and even the weight itself (Andrews 2000, Econometrica 68). The longer side counts for both.

    Returns:
        Low and high, from 0 to 1, of rules and of guessing.
    """
    ends = np.quantile(found.replicates, [0.025, 0.975], axis=0)
    reach = np.abs(ends - found.weights).max(axis=0)
    return np.maximum(found.weights - reach, 0), np.minimum(found.weights + reach, 1)


def largest(replicates: np.ndarray) -> np.ndarray:
    """Return how often each rule has the largest weight; the last: none has more than ``LEAST``.

    Args:
        replicates: of a :class:`Mixture`.

    Returns:
        Shares, one for each rule and for guessing; NaN without replicates. Weights that are the
        same are shared out evenly.
    """
    rules = replicates[:, :-1]
    if not len(replicates):
        return np.full(replicates.shape[1], np.nan)
    top = rules.max(axis=1, initial=0)
    wins = (rules >= top[:, None] - 1e-9) & (top[:, None] > LEAST)
    shared = wins / np.maximum(wins.sum(axis=1, keepdims=True), 1)
    none = (top <= LEAST).astype(float)
    return np.concatenate([shared.mean(axis=0), [none.mean()]])


def named(shares: np.ndarray) -> np.ndarray:
    """Say which are the fewest rules whose shares of :func:`largest` sum to ``SURE``.

    One rule: the learner follows it; several: it follows one of them, and the choices do not tell
    which. Guessing is among them as ``none of the rules``.
    """
    if np.isnan(shares).any():
        return np.zeros(len(shares), bool)
    order = np.argsort(-shares, kind="stable")
    enough = int(np.searchsorted(np.cumsum(shares[order]), SURE - 1e-9)) + 1
    found = np.zeros(len(shares), bool)
    found[order[:enough]] = True
    return found
