"""Verdicts: oracles, coins, and what is worked out by hand."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from poshgrid.statistics import verdicts
from poshgrid.statistics.intervals import SetSums
from poshgrid.statistics.verdicts import Comparison, Variance

SETS, PAIRS = 100, 2


def suite(right, recipes=("packed",)):
    """Return sums and counts of pairs right: points x seeds x phenomena x sets."""
    points, seeds, phenomena, sets = right.shape
    axes = {"condition": "baby", "size": "10M", "model": "mini", "bias": "none"}
    rows = [
        {"level": "phenomenon", "category": "c", "phenomenon": f"p{p}", "part": "",
         "lexical_set": f"{s:03}", "n": PAIRS}
        for p in range(phenomena) for s in range(sets)
    ]  # fmt: skip
    counts = [
        {**axes, "recipe": recipes[i], "seed": k, "suite": "posh", "category": "c",
         "phenomenon": f"p{p}", "correct": float(right[i, k, p].sum()), "n": PAIRS * sets}
        for i in range(points) for k in range(seeds) for p in range(phenomena)
    ]  # fmt: skip
    of_points = pl.DataFrame([{**axes, "recipe": r, "seeds": seeds} for r in recipes])
    sums = right.sum(axis=1).reshape(points, -1).T.astype(float)
    return SetSums("posh", pl.DataFrame(rows), of_points, sums), pl.DataFrame(counts)


def decided(right, recipes=("packed",), heuristics=None):
    sums, counts = suite(right, recipes)
    return verdicts.verdicts(sums, heuristics or {}, counts)


@pytest.mark.parametrize("seeds", [2, 3])
def test_an_oracle_has_learned_everything_that_can_be_tested(seeds):
    right = np.full((1, seeds, 9, SETS), PAIRS)
    solved = np.tile(np.r_[np.full(96, PAIRS), np.zeros(4)], 9)
    solved[SETS:] = PAIRS / 2  # the heuristic has no say but in the first phenomenon
    learned = decided(right, heuristics={"first-gap": solved})["learned"].to_list()
    assert learned == ["not testable"] + ["yes"] * 8


def test_two_sets_prove_nothing():
    assert decided(np.full((1, 2, 1, 2), PAIRS))["learned"].to_list() == ["cannot tell"]


def test_an_untrained_rival_varies_too():
    """The same means: what seeds of the rival add to the variance widens the interval."""
    rng = np.random.default_rng(3)
    right = rng.binomial(PAIRS, 0.7, (2, 3, 1, SETS))
    far = right.copy()
    right[1] = rng.binomial(PAIRS, 0.55, (1, SETS))
    far[1] = right[1]
    far[1, 0] = np.minimum(far[1, 0] + (np.arange(SETS) < 40), PAIRS)
    far[1, 1] = np.maximum(far[1, 1] - (np.arange(SETS) < 40), 0)
    near, wide = (
        decided(scores, ("packed", "untrained")).row(0, named=True) for scores in (right, far)
    )
    assert near["rival"] == wide["rival"] == "untrained"
    widths = [row["above_rival_high"] - row["above_rival_low"] for row in (near, wide)]
    assert widths[1] > 1.5 * widths[0]


def test_moderated_variances_by_hand():
    """Cells are pooled; the prior follows from digamma(1) = -.5772 and digamma(1.2) = -.2890."""
    cells = {("c", "a"): [np.array([0.0, 0.4]), np.array([1.0, 1.2])]}
    pooled = (0.08 + 0.02) / 2
    prior = pooled * np.exp(0.57722 - 0.28904 - np.log(1.2))
    (alone,) = verdicts.moderated(cells).values()
    assert alone == (pytest.approx((2.4 * prior + 2 * pooled) / 4.4, rel=1e-4), 2)
    # Of two phenomena each moves towards the other; degrees of freedom are at most those of all
    one, two = verdicts.moderated(cells | {("c", "b"): [np.array([0.0, 2.0])]}).values()
    assert pooled < one.value < two.value < 2.0
    assert (one.freedom, two.freedom) == (3, 3)
    assert verdicts.moderated({("c", "a"): [np.array([0.3])]}) == {}


def test_p_of_a_comparison_is_students():
    """With seeds alone: the difference over their error at the accuracy that is tested."""
    comparison = Comparison(0.6, 0.1, Variance(1e-12, 99), [Variance(0.03, 4)])
    for above, accuracy in ((0.0, 0.6), (0.05, 0.65)):
        error = np.sqrt(0.03) * accuracy * (1 - accuracy)
        assert comparison.p(above) == pytest.approx(stats.t.sf((0.1 - above) / error, 4), rel=1e-6)
    low, high = comparison.interval()
    assert comparison.p(low) == pytest.approx(0.025, abs=1e-4)
    assert comparison.p(high) == pytest.approx(0.975, abs=1e-4)
    assert low < 0.1 < high


@pytest.mark.parametrize("of", ["model", "rival"])
def test_what_is_no_number_cannot_be_told(of):
    """One phenomenon of three; the others are what they would be without it."""
    right = np.full((1, 2, 3, SETS), float(PAIRS))
    heuristic = np.full(3 * SETS, PAIRS / 2)
    heuristic[::2] = PAIRS * 0.6
    if of == "model":
        right[0, :, 1, 5] = np.nan
    else:
        heuristic[SETS + 4] = np.nan
    rows = decided(right, heuristics={"shorter": heuristic})
    assert rows["learned"].to_list() == ["yes", "cannot tell", "yes"]
    assert (rows["above_rival_low"][1] is None) == (of == "model")


def test_intervals_stay_inside_what_is_possible():
    sure = Comparison(0.2, 0.8, Variance(1e-4, 99), [Variance(0.1, 4)])
    assert sure.interval()[1] <= 0.8
    worst = Comparison(0.2, -0.2, Variance(1e-4, 99), [Variance(0.1, 4)])
    assert worst.interval()[0] >= -0.2
