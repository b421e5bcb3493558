"""A learner's choices as a mixture of rules.

Each choice follows rule k with probability ``weight[k]``; what follows none is a guess, right half
of the time. So is a choice where the rule that it follows has no say. This is a finite mixture
whose components are known (a latent class model with fixed classes; McLachlan and Peel 2000,
chapter 2): the likelihood is concave in the weights, and the EM algorithm (Dempster, Laird and
Rubin 1977) climbs to its maximum.

Items may leave the weights open: where two rules contradict each other on every pair, following
one 60% and guessing 40% of the time looks the same as 80% and 20% of both. EM starts at guessing
and stays close to it (in the sense of Kullback and Leibler), so that a rule's weight is what
guessing cannot explain.

How sure a weight is comes from a bootstrap over lexical sets, each with all its pairs and seeds:
choices on the same words are not independent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

GUESSING = "guessing"
START = 0.98
"""Weight of guessing at which EM starts."""
STEPS = 5_000
TOLERANCE = 1e-6
LEAST = 0.1
"""A replicate whose largest weight is not above it has no rule that explains it."""
SURE = 0.95


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
    for _ in range(STEPS):
        likely = np.maximum(found @ both, 1e-300)
        after = found * ((shares / likely) @ both.T)
        change = np.abs(after - found).max()
        found = after
        if change < TOLERANCE:
            break
    return (found / found.sum(axis=1, keepdims=True)).reshape(*chosen.shape[:-2], rules + 1)


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
