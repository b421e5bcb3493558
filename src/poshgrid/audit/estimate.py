"""How much a sample says of all the sentences that it was drawn from: a share, with its interval.

The sample is stratified: of the ``N`` sentences of a stratum ``n`` have a label, ``y`` of them yes.

*Estimate.* The sum of ``N y / n`` over strata, by the number of sentences: what Horvitz and
Thompson (1952) give for a stratified sample (Cochran 1977, section 5.3). It is unbiased whatever
made the strata: a score that knows nothing of leaks costs precision, not truth.

*Interval.* Most strata of few leaks hold no yes, and there the usual intervals fail: a normal one
has no width, and a Beta posterior begins above zero. Clopper and Pearson's (1934) bounds are
quantiles of ``Beta(y, n-y+1)`` and ``Beta(y+1, n-y)``. Fay, Proschan and Brittain (2015) join such
bounds of two samples by drawing from these distributions; so do we for the sum over strata: the
lower bound is a quantile of the sum of lower draws, the upper one of the sum of upper draws. Of one
stratum that is Clopper and Pearson's interval. It errs on the wide side: of the nominal 95%, it
covered 95% or more in every simulation of ``tests/unit/audit/test_estimate.py``.

A stratum without a label is all leaks in the upper bound, and none in the lower.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

DRAWS = 100_000


@dataclass(frozen=True)
class Stratum:
    """Sentences of which the same share is on the sheet."""

    sentences: int | None  # that the sample was drawn from; None: unknown, and there is one stratum
    labelled: int
    yes: int

    @property
    def no(self) -> int:
        """Labelled sentences that are not yes."""
        return self.labelled - self.yes

    @property
    def complete(self) -> bool:
        """Whether every sentence has a label."""
        return self.labelled == self.sentences


@dataclass(frozen=True)
class Share:
    """A share of yes, and the number of sentences that it stands for."""

    share: float
    interval: tuple[float, float]
    expected: float | None = None  # sentences; None: how many there are is unknown
    expected_interval: tuple[float, float] | None = None


def estimate(strata: Sequence[Stratum], confidence: float, draws: int = DRAWS) -> Share:
    """Return the share of yes among all sentences of the strata.

    What a stratum without a label holds is taken to be as in the others, in the estimate alone.

    Args:
        strata: what is known of each; at least one sentence has a label.
        confidence: of the interval.
        draws: from each stratum's distributions; they are the same for the same strata.
    """
    return _estimate(tuple(strata), confidence, draws)


@lru_cache(maxsize=4096)
def _estimate(strata: tuple[Stratum, ...], confidence: float, draws: int) -> Share:
    tail = (1 - confidence) / 2
    if any(each.sentences is None for each in strata):
        (only,) = strata
        low, high = _lower(only, tail), _upper(only, 1 - tail)
        return Share(only.yes / only.labelled, (low, high))
    sizes = [each.sentences or 0 for each in strata]
    seen = sum(size for each, size in zip(strata, sizes, strict=True) if each.labelled)
    share = sum(
        size * each.yes / each.labelled
        for each, size in zip(strata, sizes, strict=True)
        if each.labelled
    ) / seen  # fmt: skip
    low, high = _sum(strata, tail, draws, upper=False), _sum(strata, 1 - tail, draws, upper=True)
    total = sum(sizes)
    return Share(share, (low / total, high / total), share * total, (low, high))


def _sum(strata: tuple[Stratum, ...], quantile: float, draws: int, *, upper: bool) -> float:
    """Return a bound of the number of yes in all strata."""
    known = 0.0
    open_: list[Stratum] = []
    for each in strata:
        least, most = each.yes, (each.sentences or 0) - each.no
        end = most if upper else least
        if each.complete or not each.labelled or (each.no if upper else each.yes) == 0:
            known += end
        else:
            open_.append(each)
    if len(open_) == 1:
        (each,) = open_
        bound = _upper(each, quantile) if upper else _lower(each, quantile)
        return known + float(_possible(each, np.asarray(bound)))
    generator = np.random.default_rng(0)
    total = np.full(draws, known)
    for each in open_:
        a, b = (each.yes + 1, each.no) if upper else (each.yes, each.no + 1)
        total += _possible(each, generator.beta(a, b, draws))
    return float(np.quantile(total, quantile))


def _possible(stratum: Stratum, shares: np.ndarray) -> np.ndarray:
    """Return numbers of yes: no fewer than were found, no more than were not ruled out."""
    sentences = stratum.sentences or 0
    return np.clip(shares * sentences, stratum.yes, sentences - stratum.no)


def _lower(stratum: Stratum, quantile: float) -> float:
    from scipy.stats import beta

    return float(beta.ppf(quantile, stratum.yes, stratum.no + 1)) if stratum.yes else 0.0


def _upper(stratum: Stratum, quantile: float) -> float:
    from scipy.stats import beta

    return float(beta.ppf(quantile, stratum.yes + 1, stratum.no)) if stratum.no else 1.0
