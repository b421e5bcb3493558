"""Models compared with their nulls: worked by hand, and by scipy."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from scipy import stats

from poshgrid.config.specs import Cell
from poshgrid.statistics import rivals
from poshgrid.statistics.intervals import SetSums
from poshgrid.statistics.schema import BESIDE_NULLS
from tests.unit.statistics.scored import only

SETS = 40
POINTS = [  # condition, size, learner, regimen, bias, seeds
    ("baby", "10M", "mini", "packed", "none", 2),
    ("baby-f", "10M", "mini", "packed", "none", 2),
    ("wiki", "10M", "mini", "packed", "none", 2),
    ("wiki", "30M", "mini", "packed", "none", 1),
    ("baby", "10M", "unigram", "counted", "none", 1),
    ("baby-f", "10M", "unigram", "counted", "none", 1),
    ("wiki", "10M", "unigram", "counted", "none", 1),
    ("wiki", "10M", "mini", "untrained", "none", 2),
    ("wiki", "10M", "other", "untrained", "none", 2),
    ("aaa", "10M", "mini", "packed", "none", 2),  # a base without counted nulls
    ("aaa", "10M", "mini", "untrained", "none", 2),
    ("wiki", "10M", "gpt2", "untrained", "none", 2),
    ("wiki", "10M", "mini", "untrained", "dyck", 2),
    ("wiki", "10M", "mini", "untrained", "recency", 2),
]
CELLS = {
    "aaa/10M": Cell(words=1, source="aaa", filtered=False),
    "baby/10M": Cell(words=1, source="baby", filtered=False),
    "baby-f/10M": Cell(words=1, source="baby", filtered=True),
    "wiki/10M": Cell(words=1, source="wiki", filtered=False),
    "wiki/30M": Cell(words=1, source="wiki", filtered=False),
}
AXES = ["condition", "size", "learner", "regimen", "bias"]


def judged(rng, sets=SETS, pairs=1):
    """Return a tally and accuracies: two phenomena of so many sets and pairs, judged at random."""
    names = [("island", "island-wh"), ("wanna", "wanna")]
    units = pl.DataFrame(
        [(c, p, f"s{i:02}") for c, p in names for i in range(sets) for _ in range(pairs)],
        ["category", "phenomenon", "lexical_set"], orient="row",
    )  # fmt: skip
    points = pl.DataFrame(POINTS, [*AXES, "seeds"], orient="row")
    seeds = points["seeds"].to_numpy()
    correct = rng.binomial(seeds, 0.5, (2 * sets, len(POINTS))).astype(float)
    per_set = units.unique(maintain_order=True).with_columns(
        n=pl.lit(pairs), level=pl.lit("phenomenon"), part=pl.lit("")
    )
    tally = SimpleNamespace(
        points=points, units=units, sums=SetSums("posh", per_set, points, correct),
        margins=rng.normal(size=(len(units), len(POINTS))),
    )  # fmt: skip
    places = pl.DataFrame(names, ["category", "phenomenon"], orient="row")
    accuracies = points.join(places, how="cross")
    several = pl.col("seeds") > 1
    return tally, accuracies.with_columns(n_seeds="seeds", sd=pl.when(several).then(0.03))


def test_differences_and_correlations_are_those_worked_by_hand():
    tally, accuracies = judged(np.random.default_rng(1))
    sums, margins = tally.sums, tally.margins
    found = rivals.beside(tally, accuracies, CELLS)
    assert dict(found.schema) == BESIDE_NULLS
    row = only(found, condition="wiki", size="10M", phenomenon="wanna", null="unigram")
    assert row["less"] == "baby"  # baby-f is filtered, and no other base
    mine = sums.correct[SETS:, 2] / 2 - sums.correct[SETS:, 0] / 2
    its = sums.correct[SETS:, 6] - sums.correct[SETS:, 4]
    assert row["difference"] == pytest.approx(mine.mean())
    assert row["null_difference"] == pytest.approx(its.mean())
    # Of the null: a t interval over sets. Of the model: two seeds of each side as well.
    # On the scale of its inverse hyperbolic tangent, which no difference of shares can leave.
    error = stats.sem(its) / (1 - its.mean() ** 2)
    low, high = stats.t.interval(0.95, SETS - 1, np.arctanh(its.mean()), error)
    bounds = row["null_difference_low"], row["null_difference_high"]
    assert bounds == pytest.approx((np.tanh(low), np.tanh(high)))
    by_sets, by_seed = stats.sem(mine) ** 2, 0.03**2 / 2
    variance = by_sets + 2 * by_seed
    freedom = variance**2 / (by_sets**2 / (SETS - 1) + 2 * by_seed**2)
    half = stats.t.ppf(0.975, freedom) * variance**0.5 / (1 - mine.mean() ** 2)
    assert row["difference_high"] == pytest.approx(np.tanh(np.arctanh(mine.mean()) + half))
    known = stats.pearsonr(margins[SETS:, 2], margins[SETS:, 6])
    low, high = known.confidence_interval(0.95)
    assert (row["r"], row["r_low"], row["r_high"]) == pytest.approx((known.statistic, low, high))
    # The untrained null is the learner's own, without a bias
    row = only(found, condition="wiki", size="10M", phenomenon="island-wh", null="untrained")
    assert row["r"] == pytest.approx(np.corrcoef(margins[:SETS, 2], margins[:SETS, 7])[0, 1])
    its = (sums.correct[:SETS, 7] - sums.correct[:SETS, 10]) / 2
    assert row["null_difference"] == pytest.approx(its.mean())


@pytest.mark.parametrize(
    ("sets", "pairs", "known", "bounded"),
    [(1, 1, False, False), (2, 1, True, False), (3, 3, True, False), (4, 3, True, True)],
)
def test_a_correlation_takes_two_pairs_and_its_interval_four_sets(sets, pairs, known, bounded):
    found = rivals.beside(*judged(np.random.default_rng(5), sets, pairs), CELLS)
    row = found.row(0, named=True)
    r, low, high = (row[name] for name in ("r", "r_low", "r_high"))
    assert (r is not None, low is not None, high is not None) == (known, bounded, bounded)
    if bounded:
        half = stats.norm.ppf(0.975)  # of one degree of freedom
        assert (low, high) == pytest.approx(
            (np.tanh(np.arctanh(r) - half), np.tanh(np.arctanh(r) + half))
        )


def test_only_nulls_of_the_same_text_and_learner_stand_beside():
    found = rivals.beside(*judged(np.random.default_rng(2)), CELLS)
    kept = found.filter(phenomenon="wanna").select("condition", "size", "null", "less").rows()
    assert kept == [
        ("baby", "10M", "unigram", ""),  # the first base of a pair has no row of its own
        ("baby-f", "10M", "unigram", ""),
        ("wiki", "10M", "untrained", "aaa"),  # no untrained model of baby's
        ("wiki", "10M", "unigram", "baby"),
        ("aaa", "10M", "untrained", ""),
    ]
    assert found.filter(less="")["difference"].null_count() == found.filter(less="").height
