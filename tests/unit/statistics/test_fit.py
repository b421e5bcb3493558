"""The Bayesian fit: its likelihood, its convergence gate, and what it recovers."""

import json

import numpy as np
import polars as pl
import pytest

from poshgrid.config import Contrast, Prior, Regression, specs
from poshgrid.core import errors, files
from poshgrid.statistics import design, fit, gate, summary
from poshgrid.statistics.schema import CONTRASTS, COUNTS, PREDICTIVE, SUMMARY
from tests.unit.statistics.test_contrasts import make_posterior
from tests.unit.statistics.test_design import make_counts


@pytest.fixture(scope="module")
def counts():
    return make_counts(n=150)


def test_gate():
    row = dict.fromkeys(SUMMARY, 0.0) | {"term": "a", "label": "a", "kind": "common"}
    row |= {"implicit": False, "r_hat": 1.001, "ess_bulk": 900.0, "ess_tail": 800.0}

    def diagnose(divergences=0, **changed):
        return gate.diagnose(pl.DataFrame([row | changed], schema=SUMMARY), divergences)

    assert diagnose(r_hat=1.01, ess_tail=400.0)["converged"]
    assert diagnose(r_hat=1.011)["reasons"] == ["R-hat 1.011 > 1.01"]
    assert diagnose(ess_tail=399.0)["reasons"] == ["ESS 399 < 400"]
    assert diagnose(1)["reasons"] == ["1 divergence"]
    assert "two chains" in diagnose(r_hat=None)["reasons"][0]
    stuck = diagnose(r_hat=None, ess_bulk=None, ess_tail=None)
    assert stuck["reasons"] == ["the draws of a do not move or are not numbers"]


def test_description_of_draws():
    draws = np.random.default_rng(0).gamma(2, size=(4, 1000))
    facts = summary.describe(draws)
    quantiles = tuple(np.quantile(draws, [0.025, 0.5, 0.975]))
    assert (facts["low"], facts["median"], facts["high"]) == quantiles
    assert (facts["mean"], facts["sd"]) == pytest.approx((draws.mean(), draws.std(ddof=1)))
    assert facts["r_hat"] == pytest.approx(1, abs=0.01)
    assert 3000 < facts["ess_bulk"] < 5000
    assert summary.describe(draws + np.arange(4)[:, None])["r_hat"] > 1.2
    assert summary.describe(draws[:1])["r_hat"] is None
    assert summary.describe(np.ones((4, 100)))["ess_tail"] is None


class StandIn:
    """An engine that keeps to a script: for every attempt, how much the chains disagree."""

    def __init__(self, apart, divergences=()):
        self.apart, self.divergences, self.asked = list(apart), list(divergences), []

    def __call__(self, made, model, threads=1):
        import arviz
        import xarray

        attempt = len(self.asked)
        self.asked.append(model)
        posterior = make_posterior(made, model.chains, 500, spread=0.1, seed=attempt)
        away = xarray.DataArray(np.arange(model.chains) * self.apart[attempt], dims="chain")
        posterior["Intercept"] = posterior["Intercept"] + away
        diverging = np.zeros((model.chains, 500), dtype=bool)
        diverging.flat[: (self.divergences or [0] * 9)[attempt]] = True
        observed = xarray.Dataset({"p(correct, n)": ("__obs__", made.frame["correct"])})
        return arviz.InferenceData(
            posterior=posterior,
            sample_stats=xarray.Dataset({"diverging": (["chain", "draw"], diverging)}),
            observed_data=observed,
        )


@pytest.fixture
def fitted(counts, tmp_path, monkeypatch):
    """Return a function that fits with a stand-in for the engine."""
    files.write_table(counts, tmp_path / "counts.parquet", COUNTS)

    def run(engine, **settings):
        monkeypatch.setattr(fit, "choose", lambda made, model: ("fast", engine))
        model = Regression(name="m", **{"warmup": 100, "draws": 500, **settings})
        return fit.fit(
            specs.RegressionSpec(model=model), tmp_path / "counts.parquet", tmp_path / "fits" / "m"
        )

    return run


WRITTEN = [
    "contrasts.csv", "contrasts.parquet", "diagnostics.json", "posterior.nc",
    "predictive.csv", "predictive.parquet", "summary.csv", "summary.parquet",
]  # fmt: skip


def names(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def test_a_fit_that_converges_at_once_is_drawn_once(fitted, tmp_path):
    facts = fitted(StandIn([0]), contrasts=[Contrast(factor="filter", first="yes", less="no")])
    folder = tmp_path / "fits" / "m"
    assert names(folder) == WRITTEN
    assert (facts["converged"], facts["engine"], len(facts["attempts"])) == (True, "fast", 1)
    assert facts == json.loads((folder / "diagnostics.json").read_text())
    assert files.read_table(folder / "contrasts.parquet", CONTRASTS).height == 1 + 4
    cells = files.read_table(folder / "predictive.parquet", PREDICTIVE)
    assert cells.height == facts["predictive"]["cells"] == 3 * 2 * 5


def test_a_retry_is_stricter(fitted, tmp_path):
    engine = StandIn([1.0, 0], [3, 0])
    facts = fitted(engine, target_accept=0.9)
    assert [m.target_accept for m in engine.asked] == [0.9, 0.98]
    assert [(m.warmup, m.draws) for m in engine.asked] == [(100, 500), (200, 1000)]
    first, second = facts["attempts"]
    assert (first["converged"], first["divergences"], len(first["reasons"])) == (False, 3, 3)
    assert second["converged"] and facts["converged"] and facts["divergences"] == 0
    assert names(tmp_path / "fits" / "m") == WRITTEN


def test_a_fit_that_never_converges_fails(fitted, tmp_path):
    with pytest.raises(errors.PoshgridError, match=r"regressions: m: .* 2 attempts"):
        fitted(StandIn([1.0, 1.0, 0], [0, 2, 0]))
    assert names(tmp_path / "fits" / "m") == []


PRIORS = [
    Prior(term="size_z", sd=0.01),
    Prior(term="S(filter):S(category)", sd=2),  # the other way round than in the formula
    Prior(term="1|seed", rate=7),
]


def test_priors_of_single_terms_reach_the_engine_under_their_own_names(fitted):
    engine = StandIn([0, 0])
    fitted(engine, priors=PRIORS)
    assert [(p.term, p.sd or p.rate) for p in engine.asked[0].priors] == [
        ("size_z", 0.01), ("S(category):S(filter)", 2), ("1|seed", 7)
    ]  # fmt: skip
    fitted(engine, only="size=10M", priors=PRIORS[:1])  # of a term that is left out
    assert engine.asked[1].priors == []


def test_choice_of_engine(counts):
    from poshgrid.statistics import fast

    def chosen(formula=None, **settings):
        model = Regression(name="m", **({"formula": formula} if formula else {}), **settings)
        return fit.choose(design.design(counts, model.formula), model)

    assert chosen() == ("fast", fast.sample)
    assert chosen(engine="fast") == ("fast", fast.sample)
    assert chosen(engine="bambi") == ("bambi", fit.sample)
    for formula, reason in (
        ("0 + S(category) + (1|seed)", "no intercept"),
        ("S(filter) + (size_z|seed)", "slope"),
        ("size_z", "no group"),
    ):
        own = f"p(correct, n) ~ {formula}"
        assert chosen(own) == ("bambi", fit.sample)
        with pytest.raises(errors.PoshgridError, match=rf"engine fast cannot fit this: .*{reason}"):
            chosen(own, engine="fast")
