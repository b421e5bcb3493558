"""Chi-square, Fisher, Holm: hand-worked values, scipy, and the stars of the published tables."""

import itertools
import math

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from poshgrid.statistics import intervals, published, tests

P_VALUES = st.lists(st.floats(1e-12, 1), min_size=1, max_size=8)


def test_chi_square_by_hand():
    # 60 of 100: (60-50)^2/50 + (40-50)^2/50 = 4; P(chi2_1 > 4) = 2 P(Z > 2) = .0455
    assert tests.chi_square(60, 100) == pytest.approx(0.0455003, abs=1e-7)
    assert tests.chi_square(50, 100) == 1
    assert tests.chi_square(50.5, 101) == 1  # ties count half


@given(st.lists(st.integers(250, 400), min_size=1, max_size=6))
def test_seeds_are_combined_by_fishers_method(correct):
    """-2 sum log p has a chi-square distribution of two degrees of freedom for each seed."""
    p_values = [tests.chi_square(c, 500) for c in correct]
    expected = stats.chi2.sf(-2 * sum(map(math.log, p_values)), 2 * len(correct))
    assert tests.combine_seeds(correct, [500] * len(correct)) == pytest.approx(expected)


def test_a_p_value_that_underflowed_is_combined():
    assert tests.chi_square(5_000, 5_000) == 0
    assert 0 <= tests.combine_seeds([5_000, 255], [5_000, 500]) < 1e-100


def test_seeds_that_disagree_in_direction_prove_nothing():
    assert tests.combine_seeds([400, 400, 100], [500] * 3) == 1
    # A seed at exactly 50% takes no side.
    assert tests.combine_seeds([400, 400, 250], [500] * 3) < 1e-50
    assert tests.combine_seeds([100, 150, 200], [500] * 3) < 0.001


def test_holm_by_hand():
    # sorted .01 .02 .04 -> x3 x2 x1 = .03 .04 .04
    assert tests.holm([0.04, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])
    # steps never go down, and never above 1
    assert tests.holm([0.03, 0.02, 0.9]) == pytest.approx([0.06, 0.06, 0.9])
    assert tests.holm([0.9, 0.8]) == [1.0, 1.0]
    assert tests.holm([]) == []


@given(P_VALUES)
def test_holm_is_closed_testing_with_bonferroni(p_values):
    # Holm is the closure of Bonferroni: p_i is the largest Bonferroni p of any subset with i.
    for i, corrected in enumerate(tests.holm(p_values)):
        others = [p for j, p in enumerate(p_values) if j != i]
        closed = max(
            min(1.0, (k + 1) * min([p_values[i], *subset]))
            for k in range(len(others) + 1)
            for subset in itertools.combinations(others, k)
        )
        assert corrected == pytest.approx(closed)


@pytest.mark.parametrize(("level", "cells"), [("phenomenon", 99), ("category", 44)])
def test_published_stars_follow_from_published_means(level, cells):
    """Tables 8 and 3: pooled over 3 seeds x 500 pairs a phenomenon, uncorrected."""
    phenomena = {"island": 3, "question-formation": 3, "binding": 2, "wanna": 1}
    table, mean = ("table8", "average") if level == "phenomenon" else ("table3", "overall")
    rows = published.load(*published.POSH, table).filter(pl.col(level) != mean)
    assert rows.height == cells
    for row in rows.iter_rows(named=True):
        n = 1500 * (phenomena[row["category"]] if level == "category" else 1)
        assert tests.stars(tests.chi_square(row["accuracy"] / 100 * n, n)) == row["stars"], row


# ---- intervals and names -----------------------------------------------------------------------


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
@example((452, 8064))
def test_wilson_agrees_with_scipy(counts):
    expected = stats.binomtest(*counts).proportion_ci(0.95, method="wilson")
    assert intervals.wilson(*counts) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_wilson_takes_ties():
    low, high = intervals.wilson(2.5, 4)
    assert intervals.wilson(2, 4)[0] < low < high < intervals.wilson(3, 4)[1]
