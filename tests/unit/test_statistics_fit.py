"""The Bayesian fit: its likelihood, its convergence gate, and what it recovers."""

import json

import numpy as np
import polars as pl
import pytest

from poshgrid import files, specs
from poshgrid.config import BayesianModel
from poshgrid.statistics import design, fit, summary
from poshgrid.statistics.schema import COUNTS, SUMMARY
from tests.unit.test_statistics_design import make_counts

FILTER, SOURCE, SIZE, ISLAND = 0.6, 0.4, -0.3, 0.5
N = 150


@pytest.fixture(scope="module")
def counts():
    """Counts with strong effects, planted in the coding that the model is said to use."""
    rng = np.random.default_rng(3)
    rows = make_counts(n=N)
    size = (rows["words"] / 1e6 - 55) / 45
    eta = (
        0.2
        + FILTER * np.where(rows["filtered"], 1, -1)
        + SOURCE * np.where(rows["source"] == "baby", 1, -1)
        + SIZE * size.to_numpy()
        + ISLAND * np.where(rows["category"] == "island", 1, 0)
        - ISLAND * np.where(rows["category"] == "wanna", 1, 0)
    )
    correct = rng.binomial(N, 1 / (1 + np.exp(-eta))).astype(float)
    return rows.with_columns(correct=pl.Series(correct))


def test_binomial_and_bernoulli_differ_by_a_constant(counts):
    """Counts have the likelihood of their pairs, but for a term that no parameter enters."""
    import bambi

    fit.prepare_compiler()
    model = BayesianModel(name="m", formula="p(correct, n) ~ size_z + S(filter) + (1|phenomenon)")
    few = counts.filter(seed=9, size="10M").with_columns(
        n=pl.lit(5, dtype=pl.UInt32), correct=(pl.col("correct") / N * 5).round()
    )
    few = pl.concat([few, few.with_columns(words=pl.lit(20_000_000, dtype=pl.UInt64))])
    made = design.design(few, model.formula)
    binomial = fit.build(made, model)
    pairs = made.frame.loc[made.frame.index.repeat(made.frame["n"])].reset_index(drop=True)
    nth = pairs.groupby(pairs.index // 5).cumcount()
    pairs["right"] = (nth < pairs["correct"]).astype(int)
    bernoulli = bambi.Model(
        made.formula.replace("p(correct, n)", "right"),
        pairs,
        family="bernoulli",
        priors={
            "Intercept": bambi.Prior("Normal", mu=0, sigma=model.intercept_sd),
            "common": bambi.Prior("Normal", mu=0, sigma=model.slope_sd),
            "group_specific": bambi.Prior(
                "Normal", mu=0, sigma=bambi.Prior("Exponential", lam=model.group_rate)
            ),
        },
        auto_scale=False,
    )
    rng = np.random.default_rng(1)
    functions = []
    for each in (binomial, bernoulli):
        each.build()
        functions.append(each.backend.model.compile_logp(mode="FAST_COMPILE"))
    start = binomial.backend.model.initial_point()
    differences = []
    for _ in range(4):
        point = {k: np.asarray(rng.normal(size=np.shape(v))) for k, v in start.items()}
        differences.append(float(functions[0](point) - functions[1](point)))
    assert differences == pytest.approx([differences[0]] * 4, abs=1e-6)
    assert differences[0] > 1  # the binomial coefficients


def test_gate():
    row = dict.fromkeys(SUMMARY, 0.0) | {"term": "a", "label": "a", "kind": "common"}
    row |= {"implicit": False, "r_hat": 1.001, "ess_bulk": 900.0, "ess_tail": 800.0}

    def diagnose(divergences=0, **changed):
        return summary.diagnose(pl.DataFrame([row | changed], schema=SUMMARY), divergences)

    assert diagnose()["converged"]
    assert diagnose(r_hat=1.01, ess_tail=400.0)["converged"]
    assert diagnose(r_hat=1.011)["reasons"] == ["R-hat 1.011 > 1.01"]
    assert diagnose(ess_tail=399.0)["reasons"] == ["ESS 399 < 400"]
    assert diagnose(1)["reasons"] == ["1 divergence"]
    assert "two chains" in diagnose(r_hat=None)["reasons"][0]


@pytest.mark.slow
def test_recovers_planted_effects(counts, tmp_path):
    files.write_table(counts, tmp_path / "counts.parquet", COUNTS)
    model = BayesianModel(name="paper", chains=2, warmup=300, draws=300, target_accept=0.8)
    facts = fit.fit(specs.ModelSpec(model=model), tmp_path / "counts.parquet", tmp_path / "fit")
    rows = files.read_table(tmp_path / "fit" / "summary.parquet", SUMMARY)
    found = {row["term"]: row for row in rows.iter_rows(named=True)}
    planted = {
        "S(filter)[yes]": FILTER,
        "S(source)[baby]": SOURCE,
        "size_z": SIZE,
        "size_z:S(filter)[yes]": 0,
    }
    for term, truth in planted.items():
        row = found[term]
        assert abs(row["median"] - truth) < 0.12, row
        assert row["low"] < row["median"] < row["high"]
    assert found["S(category)[island]"]["median"] > 0.1
    # Every category is there, the implicit one as minus the sum of the others.
    names = ("binding", "island", "question-formation", "wanna")
    for shape in ("S(category)[{}]", "S(category):S(filter)[{}, yes]"):
        four = [found[shape.format(name)] for name in names]
        assert sum(row["mean"] for row in four) == pytest.approx(0, abs=1e-9)
        assert [row["implicit"] for row in four] == [False, False, False, True]
    assert found["1|phenomenon_sigma"]["kind"] == "sd"
    assert found["1|seed[42]"]["kind"] == "group"
    assert len(found) == 11 + 2 + 2 + 2 + 5
    assert found["S(filter)[yes]"]["label"] == "Filtering (yes vs. no)"

    assert facts == json.loads((tmp_path / "fit" / "diagnostics.json").read_text())
    assert facts["rows"] == counts.height
    assert facts["pairs"] == counts.height * N
    assert "Filtering" in (tmp_path / "fit" / "summary.tex").read_text()
    import xarray

    posterior = xarray.open_dataset(tmp_path / "fit" / "posterior.nc", group="posterior")
    assert dict(posterior.sizes)["draw"] == 300
    assert float(posterior["S(filter)"].median()) == pytest.approx(
        found["S(filter)[yes]"]["median"]
    )
