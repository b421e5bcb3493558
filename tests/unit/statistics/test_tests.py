"""Chi-square, Fisher, Holm: hand-worked values, scipy, and the stars of the published tables."""

import itertools
import math

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from poshgrid.statistics import intervals, tests
from tests.shipped import posh_table

P_VALUES = st.lists(st.floats(1e-12, 1), min_size=1, max_size=8)


@given(st.lists(st.integers(250, 400), min_size=1, max_size=6))
def test_seeds_are_combined_by_fishers_method(correct):
    """-2 sum log p has a chi-square distribution of two degrees of freedom for each seed."""
    p_values = [tests.chi_square(c, 500) for c in correct]
    assert p_values == pytest.approx([stats.chisquare([c, 500 - c]).pvalue for c in correct])
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
    rows = posh_table(table).filter(pl.col(level) != mean)
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
