"""Leaks that are known: does the sheet's estimate tell how many there are, whatever drew it?"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from poshgrid.audit.estimate import Stratum, estimate
from poshgrid.audit.rows import Sample
from poshgrid.errors import PoshgridError
from poshgrid.evidence.screening import strata

# --- strata ----------------------------------------------------------------------------------


def test_levels_keep_the_order_of_scores():
    scores = np.array([0.0, 1e-9, 1e-7, 1e-5, 0.001, 0.01, 0.1, 0.5, 0.9, 0.999, 1 - 1e-7, 1.0])
    found = strata.levels(scores).astype(int)
    assert (np.diff(found) >= 0).all() and len(set(found.tolist())) == 9
    assert found[0] == 1 and found[-1] == 255  # 0 is for what is not of the condition
    assert found[scores == 0.5] == 128
    for level in (2, 100, 128, 254):
        assert strata.levels(np.array([1 / (1 + np.exp((128 - level) / 8))])) == level
    # Log odds of 1 and of 1.0625: half a step apart
    assert strata.levels(1 / (1 + np.exp([-1.0, -1.124]))).tolist() == [136, 137]


@pytest.mark.parametrize("value", [np.nan, -0.1, 1.1, np.inf])
def test_what_is_no_score_is_refused(value):
    with pytest.raises(PoshgridError, match=r"detector: a score is not from 0 to 1; delete"):
        strata.levels(np.array([0.5, value]))


def test_strata_are_shares_of_the_condition_by_hand():
    """Of 10,000: 5 and 4 at the top are a thousandth, 91 more a hundredth, 900 more a tenth."""
    counts = {250: 5, 249: 4, 200: 91, 150: 900, 149: 1, 10: 8_999}
    levels = np.repeat(list(counts), list(counts.values())).astype(np.uint8)
    levels = np.concatenate([levels, np.zeros(777, np.uint8)])  # not of the condition
    number_of = strata.strata(levels)
    assert [number_of[level] for level in counts] == [4, 4, 3, 2, 1, 1]
    assert number_of[0] == 0 and set(number_of.tolist()) == {0, 1, 2, 3, 4}
    # Scores that tell nothing make one stratum: nothing is drawn more often
    assert set(strata.strata(np.full(50, 9, np.uint8))) == {0, 1}
    # Ten sentences have no highest hundredth, and one of them is the highest tenth
    assert strata.strata(np.arange(1, 11, dtype=np.uint8))[1:11].tolist() == [1] * 9 + [2]
    assert not strata.strata(np.zeros(0, np.uint8)).any()


@given(
    st.dictionaries(st.integers(1, 4), st.integers(0, 40)),
    st.integers(0, 60),
    st.integers(0, 60),
    st.integers(0, 5),
)
def test_a_larger_sheet_begins_with_the_smaller_one(sizes, number, more, seed):
    small = strata.order(sizes, number, seed, "x")
    large = strata.order(sizes, number + more, seed, "x")
    assert small == large[: len(small)]
    assert len(small) == min(number, sum(sizes.values()))
    assert all(small.count(each) <= size for each, size in sizes.items())


def test_a_sheet_has_blocks_of_ten_each_in_an_order_of_its_own():
    sizes = {1: 10_000, 2: 10_000, 3: 10_000, 4: 10_000}
    lines = strata.order(sizes, 1_000, 42, "binding.leakage")
    blocks = [tuple(lines[i : i + 10]) for i in range(0, 1_000, 10)]
    assert {tuple(sorted(block)) for block in blocks} == {strata.BLOCK}
    assert len(set(blocks)) > 90
    assert lines != strata.order(sizes, 1_000, 43, "binding.leakage")
    assert lines != strata.order(sizes, 1_000, 42, "passive.leakage")
    # A stratum that is used up leaves its lines to the others
    few = strata.order({**sizes, 4: 3}, 1_000, 42, "binding.leakage")
    assert few.count(4) == 3 and few.count(1) == pytest.approx(5 / 9 * 997, abs=3)


# --- one estimate ----------------------------------------------------------------------------


def test_the_estimate_by_hand():
    """900 of 10 labelled, 1 yes: 90. 90 of 5, 2 yes: 36. 10 of 10, 4 yes: 4."""
    found = estimate([Stratum(900, 10, 1), Stratum(90, 5, 2), Stratum(10, 10, 4)], 0.95)
    assert found.expected == pytest.approx(130)
    assert found.share == pytest.approx(0.130)
    low, high = found.expected_interval
    assert found.interval == pytest.approx((low / 1_000, high / 1_000))
    assert 7 < low < 130 < high < 990  # seen: 7 yes, and 18 no


def test_one_stratum_is_clopper_and_pearson():
    for yes, n in [(0, 20), (3, 50), (50, 50)]:
        low, high = stats.binomtest(yes, n).proportion_ci(0.9, method="exact")
        found = estimate([Stratum(10**6, n, yes)], 0.9)
        assert found.interval == pytest.approx((max(low, yes / 10**6), high), abs=1e-4)
        # What is known of another stratum moves it and no more
        both = estimate([Stratum(10**6, n, yes), Stratum(7, 7, 2)], 0.9)
        assert both.expected_interval == pytest.approx(
            tuple(2 + bound for bound in found.expected_interval)
        )


def test_many_strata_that_are_alike_are_one():
    """Ten strata of the same share say what one of their size does, somewhat more cautiously."""
    many = estimate([Stratum(10**5, 100, 10)] * 10, 0.95)
    one = estimate([Stratum(10**6, 1_000, 100)], 0.95)
    assert many.share == pytest.approx(one.share)
    assert many.interval == pytest.approx(one.interval, rel=0.1)
    assert many.interval[0] < one.interval[0] < one.interval[1] < many.interval[1]


def test_the_draws_are_the_same_each_time_and_enough():
    given = [Stratum(90_000, 50, 0), Stratum(9_000, 20, 2), Stratum(1_000, 30, 11)]
    first = estimate(given, 0.95)
    estimate([Stratum(5_000, 20, 2), Stratum(50, 20, 9)], 0.95)
    assert estimate(list(given), 0.95) == first
    more = estimate(given, 0.95, draws=2_000_000)
    assert first.expected_interval == pytest.approx(more.expected_interval, rel=0.01)


def test_a_stratum_without_yes_or_no_or_label():
    nothing = estimate([Stratum(9_000, 100, 0), Stratum(1_000, 100, 0)], 0.95)
    assert nothing.expected == 0 and nothing.interval[0] == 0
    # The rule of three for the larger one alone, and somewhat more for both
    assert 0.9 * (1 - 0.025**0.01) < nothing.interval[1] < 1 - 0.025**0.01 + 0.01
    everything = estimate([Stratum(9_000, 100, 100), Stratum(1_000, 100, 100)], 0.95)
    assert everything.share == 1 and everything.interval[1] == 1
    unseen = estimate([Stratum(9_000, 0, 0), Stratum(1_000, 1_000, 20)], 0.95)
    assert unseen.share == 0.02  # that of the others
    assert unseen.expected_interval == (20, 9_020)  # none, or all


# --- leaks that are known --------------------------------------------------------------------

N, LABELLED = 20_000, 300
SEEDS = 400
DRAWS = 4_000


def condition(leaks, knows, seed=0):
    """Return scores of N sentences, of which some are leaks, and which of them are.

    Leaks lie ``knows`` standard deviations above the others; 0: the score is noise.
    """
    generator = np.random.default_rng(seed)
    leak = np.zeros(N, bool)
    leak[generator.choice(N, leaks, replace=False)] = True
    odds = 2 * (generator.normal(size=N) + knows * leak) - 6
    return 1 / (1 + np.exp(-odds)), leak


class Sheets:
    """Draws sheets of a condition as the audit does, and lets somebody who knows label them."""

    def __init__(self, scores, leak, labelled=LABELLED):
        levels = strata.levels(scores)
        self.mine = strata.strata(levels)[levels]
        self.sizes = {n: int((self.mine == n).sum()) for n in np.unique(self.mine).tolist()}
        self.leak, self.labelled = leak, labelled

    def estimate(self, seed):
        lines = strata.order(self.sizes, self.labelled, seed, "x")
        found = []
        for n, size in self.sizes.items():
            drawn = self.draw(n, lines.count(n), seed)
            found.append(Stratum(size, len(drawn), int(self.leak[drawn].sum())))
        return estimate(found, 0.95, draws=DRAWS)

    def draw(self, stratum, number, seed):
        ids = np.flatnonzero(self.mine == stratum)
        return np.random.default_rng([seed, stratum]).choice(ids, number, replace=False)


@pytest.mark.parametrize("knows", [0, 1.5, 3], ids=["noise", "something", "much"])
@pytest.mark.parametrize("leaks", [10, 100, 1_000])
def test_the_rate_is_unbiased_and_the_interval_holds_it(knows, leaks):
    """400 sheets of 300 of 20,000 sentences: the mean is the truth, nine in ten hold it and more.

    The mean may be off by chance: four of its standard errors. An estimate without weights is
    off by far more where the score knows something.
    """
    sheets = Sheets(*condition(leaks, knows))
    found = [sheets.estimate(seed) for seed in range(SEEDS)]
    means = np.array([each.expected for each in found])
    error = means.std(ddof=1) / SEEDS**0.5
    assert abs(means.mean() - leaks) < 4 * error
    holds = np.mean([low <= leaks <= high for low, high in
                     (each.expected_interval for each in found)])  # fmt: skip
    assert holds >= 0.93


def test_a_score_that_knows_finds_more_and_errs_less():
    """Against a sample of the same number that looks at no score."""
    truth, errors, yes = 100, {}, {}
    for knows in (0, 3):
        scores, leak = condition(truth, knows)
        for name, used in (("score", scores), ("none", np.full(N, 0.5))):
            sheets = Sheets(used, leak)
            found = np.array([sheets.estimate(seed).expected for seed in range(SEEDS)])
            errors[name, knows] = ((found - truth) ** 2).mean() ** 0.5
            yes[name, knows] = sum(
                leak[sheets.draw(n, strata.order(sheets.sizes, LABELLED, 0, "x").count(n), 0)].sum()
                for n in sheets.sizes
            )
    assert errors["score", 3] < errors["none", 3] / 2
    assert yes["score", 3] > 10 * max(1, yes["none", 3])
    # What noise costs is told, too: some of the precision
    assert errors["none", 0] < errors["score", 0] < 3 * errors["none", 0]


def test_without_weights_the_rate_would_be_wrong():
    """The planted fault: strata taken for one."""
    sheets = Sheets(*condition(100, 3))
    lines = strata.order(sheets.sizes, LABELLED, 0, "x")
    drawn = np.concatenate([sheets.draw(n, lines.count(n), 0) for n in sheets.sizes])
    unweighted = estimate([Stratum(N, len(drawn), int(sheets.leak[drawn].sum()))], 0.95)
    assert unweighted.expected_interval[0] > 5 * 100


def test_the_usual_intervals_would_not_hold():
    """Why not a normal interval, nor quantiles of Beta posteriors: strata without a yes."""
    sheets = Sheets(*condition(10, 3))
    normal = beta = 0
    generator = np.random.default_rng(0)
    for seed in range(SEEDS):
        lines = strata.order(sheets.sizes, LABELLED, seed, "x")
        mean = variance = 0.0
        total = np.zeros(DRAWS)
        for h, size in sheets.sizes.items():
            drawn = sheets.draw(h, lines.count(h), seed)
            n, y = len(drawn), int(sheets.leak[drawn].sum())
            mean += size * y / n
            variance += size**2 * (1 - n / size) * (y / n) * (1 - y / n) / max(1, n - 1)
            total += size * generator.beta(y + 0.5, n - y + 0.5, DRAWS)
        normal += abs(mean - 10) <= 1.96 * variance**0.5
        low, high = np.quantile(total, [0.025, 0.975])
        beta += low <= 10 <= high
    assert normal / SEEDS < 0.9 and beta / SEEDS < 0.9


def test_the_sampler_of_sheets_takes_every_sentence_of_a_stratum_alike():
    """The simulation draws with numpy; the audit by ranks: of 30 sentences, 6 in 2,000 seeds."""
    counts = np.zeros(30)
    for seed in range(2_000):
        sample = Sample(6, seed, "x")
        for sent_id in range(30):
            sample.offer(sent_id, lambda sent_id=sent_id: sent_id)
        counts[sample.result()] += 1
    # Without replacement: the variance of a count is 1 - 6/30 of the test's, times 30/29
    spread = ((counts - 400) ** 2 / 400).sum() / (0.8 * 30 / 29)
    assert 0.001 < stats.chi2.sf(spread, 29) < 0.999
