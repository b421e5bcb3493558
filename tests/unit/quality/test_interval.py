"""The interval of a baseline: exact for independent pairs, wider for sets, rarely wrong."""

import numpy as np
import pytest
from scipy import stats

from poshgrid.quality.baselines import beyond, interval

TOLERANCE = 0.05


@pytest.mark.parametrize(("right", "n"), [(6, 12), (10, 12), (300, 500), (0, 7), (7, 7)])
def test_independent_pairs_have_the_exact_interval(right, n):
    low, high = interval([1] * right + [0] * (n - right), [1] * n)
    exact = stats.binomtest(right, n).proportion_ci(method="exact")
    # Korn and Graubard's variance divides by n-1, so that one pair in n is lost: never narrower
    assert low <= exact.low + 1e-12
    assert high >= exact.high - 1e-12
    assert (low, high) == pytest.approx((exact.low, exact.high), abs=0.3 / n)


def test_a_set_counts_once_if_its_pairs_are_solved_alike():
    sets = [1, 0, 1, 1, 0, 1, 1, 0, 1, 1]
    alone = interval(sets, [1] * 10)
    fifty = interval([50 * right for right in sets], [50] * 10)
    assert fifty == pytest.approx(alone, abs=0.06)  # 500 pairs of 10 sets are 10, or fewer
    assert fifty[0] <= alone[0] < alone[1] <= fifty[1]
    assert interval([1] * 10, [1] * 10)[0] == pytest.approx(0.025 ** (1 / 10))
    assert interval([50] * 10, [50] * 10)[0] == pytest.approx(0.025 ** (1 / 10))


def test_ties_everywhere_are_as_many_as_they_are():
    low, high = interval([0.5] * 100, [1] * 100)
    exact = stats.binomtest(50, 100).proportion_ci(method="exact")
    assert (low, high) == pytest.approx((exact.low, exact.high))


def test_seeds_that_differ_widen_the_interval():
    # Every pair is solved by two of three models: sets do not vary, models do.
    one = interval([2 / 3] * 500, [1] * 500)
    three = interval([2 / 3] * 500, [1] * 500, [1.0, 1.0, 0.0])
    assert beyond(one, TOLERANCE)
    assert not beyond(three, TOLERANCE)
    assert beyond(interval([0.9] * 500, [1] * 500, [0.89, 0.9, 0.91]), TOLERANCE)
    # nothing tells how one set varies
    assert interval([12], [12]) is None
    assert not beyond(None, TOLERANCE)


def test_the_interval_covers_at_the_edge_of_the_tolerance():
    """At a true 55% a flag is an error: at most 2.5 in 100."""
    generator = np.random.default_rng(3)
    for n in (12, 50, 500):
        right = (generator.random((2_000, n)) < 0.55).astype(float)
        flags = [beyond(interval(row, [1] * n), TOLERANCE) for row in right.tolist()]
        assert np.mean(flags) <= 0.025 + 3 * np.sqrt(0.025 * 0.975 / 2_000), n
