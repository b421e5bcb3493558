"""Posterior predictive check: hand-worked cells, data of the model, data that it cannot make."""

import numpy as np
import pytest
from scipy import stats

from poshgrid.statistics import design, predictor
from tests.unit.statistics.test_contrasts import make_posterior
from tests.unit.statistics.test_design import make_counts

FORMULA = "p(correct, n) ~ size_z + S(condition) + (1|phenomenon)"
SIZES, SEEDS = ("10M", "30M", "50M", "100M"), (1, 2, 3)


def test_seeds_that_differ_are_seen_where_their_sum_is_right():
    """Counts from known coefficients; then two seeds 20 points apart, their mean as predicted."""
    counts = make_counts(sizes=SIZES, seeds=SEEDS, n=500, correct=0.0)
    made = design.design(counts, FORMULA)
    posterior = make_posterior(
        made, chains=2, draws=500, spread=1e-3,
        **{"Intercept": 0.4, "size_z": 0.3, "S(condition)": [0.2, -0.1],
           "1|phenomenon": [0.5, -0.5, 0.2, 0.0, -0.2]},
    )  # fmt: skip
    eta = predictor.Predictor(made, posterior).linear(made.frame).mean(axis=0)
    share = 1 / (1 + np.exp(-eta))
    drawn = made.frame.assign(correct=np.random.default_rng(1).binomial(500, share))
    _, check = predictor.check(posterior, design.Design(drawn, made.formula), seed=42)
    assert 0.9 < check["share"] <= 1
    assert 0.05 < check["p"] < 0.95
    apart = made.frame["seed"].map({"1": 50, "2": -50, "3": 0}).astype(int)
    frame = made.frame.assign(correct=(500 * share + apart).round().astype(int))
    _, check = predictor.check(posterior, design.Design(frame, made.formula), seed=42)
    assert check["share"] == 1
    assert check["p"] == 0


def test_cells_are_those_of_the_binomial():
    """One draw of the parameters, so that a replication is a plain binomial."""
    made = design.design(make_counts(sizes=("10M",), seeds=(1, 2)), "p(correct, n) ~ S(condition)")
    posterior = make_posterior(made, chains=2, draws=2_000, spread=0, Intercept=np.log(3))
    table, _ = predictor.check(posterior, made, seed=7)
    model = stats.binom(100, 0.75)
    observed = made.frame.groupby(["condition", "phenomenon"], observed=True)["correct"].sum()
    for row in table.iter_rows(named=True):
        right = observed[row["condition"], row["phenomenon"]]
        assert row["n"] == 100
        assert row["n_seeds"] == 2
        assert row["observed"] == right / 100
        assert row["predicted"] == pytest.approx(0.75, abs=0.01)
        assert row["low"] == pytest.approx(model.ppf(0.025) / 100, abs=0.011)
        assert row["high"] == pytest.approx(model.ppf(0.975) / 100, abs=0.011)
        half = model.sf(right) + 0.5 * model.pmf(right)
        assert row["p"] == pytest.approx(min(1, 2 * min(half, 1 - half)), abs=0.03)
