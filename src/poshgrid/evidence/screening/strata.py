"""Strata of a detector's score: which sentences are alike, and in what order they are drawn.

A leak is rare: if one sentence in three thousand is, a thousand that are drawn alike mostly hold
none. So the sentences that look most like evidence to a detector are drawn more often, and weigh
less (:mod:`poshgrid.audit.estimate`). The strata are shares of the condition by the order of
scores, and so do not depend on how well the scores are calibrated: the highest thousandth, the rest
of the highest hundredth, the rest of the highest tenth, and the other nine tenths. Of ten sentences
on the sheet five are of the last, for the width of the interval is its: none of ``n`` sentences is
yes up to a share of about ``3.7 / n``, of however many.

The order of a sheet is made of blocks of ten, each shuffled (permuted blocks), so that any first
lines are themselves a stratified sample, and a larger sheet begins with the smaller one.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from poshgrid.errors import PoshgridError

CUTS = (0.1, 0.01, 0.001)
"""Shares of the condition, from the highest score down: strata 2, 3 and 4; all others are 1."""
BLOCK = (1, 1, 1, 1, 1, 2, 2, 3, 3, 4)
"""Strata of ten sentences on a sheet."""
_STEP = 8  # levels in one unit of log odds
_MIDDLE, _LEVELS = 128, 256


def levels(scores: np.ndarray) -> np.ndarray:
    """Return scores as whole numbers from 1 to 255, in steps of 1/8 of log odds.

    A byte for each sentence of a condition: 15 MB for the largest.

    Args:
        scores: from 0 to 1.

    Raises:
        PoshgridError: one is not.
    """
    found = np.asarray(scores, dtype=np.float64)
    if not ((found >= 0) & (found <= 1)).all():  # NaN is neither
        raise PoshgridError(
            "detector: a score is not from 0 to 1; delete the detector's folder and run "
            "poshgrid detector again"
        )
    with np.errstate(divide="ignore"):
        odds = np.log(found) - np.log1p(-found)
    return np.clip(np.round(odds * _STEP) + _MIDDLE, 1, _LEVELS - 1).astype(np.uint8)


def strata(found: np.ndarray) -> np.ndarray:
    """Return the stratum of each level; 0 where there is no sentence.

    Sentences of one level are in one stratum: the highest that then is no larger than its share.

    Args:
        found: levels of the sentences, in any order; 0: not of the condition.
    """
    counts = np.bincount(found, minlength=_LEVELS)
    counts[0] = 0
    above = counts[::-1].cumsum()[::-1] / max(1, counts.sum())
    numbers = 1 + sum((above <= cut).astype(int) for cut in CUTS)
    return np.where(counts, numbers, 0)


def order(sizes: Mapping[int, int], number: int, seed: int, name: str) -> list[int]:
    """Return the stratum of each line of a sheet.

    A larger number gives a list that begins with the smaller one's.

    Args:
        sizes: stratum -> its sentences: no more of its lines.
        number: lines, if there are as many sentences.
        seed: another seed shuffles the blocks otherwise.
        name: of the sheet.
    """
    block = [stratum for stratum in BLOCK if sizes.get(stratum)]
    left = dict(sizes)
    lines: list[int] = []
    shuffled = _shuffled(block, seed, name)
    while len(lines) < min(number, sum(sizes.values())):
        stratum = next(shuffled)
        if left[stratum]:
            left[stratum] -= 1
            lines.append(stratum)
    return lines


def _shuffled(block: Sequence[int], seed: int, name: str) -> Iterator[int]:
    """Yield a block over and over, each time in another order."""
    generator = np.random.default_rng([seed, zlib.crc32(name.encode())])
    while True:
        yield from generator.permutation(block).tolist()
