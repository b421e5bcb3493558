"""The Bayesian fit: its likelihood, its convergence gate, and what it recovers."""

import json
import os
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from poshgrid import errors, files
from poshgrid.config import BayesianModel, Contrast, Prior, specs
from poshgrid.statistics import design, fit, gate, model_tables, summary
from poshgrid.statistics.schema import CONTRASTS, COUNTS, PREDICTIVE, SUMMARY
from poshgrid.tables import formats
from tests.unit.statistics.test_contrasts import make_posterior
from tests.unit.statistics.test_design import make_counts

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
    fit.prepare_compiler()
    import bambi

    model = BayesianModel(name="m", formula="p(correct, n) ~ size_z + S(filter) + (1|phenomenon)")
    few = counts.filter(seed=9, size="10M").with_columns(
        n=pl.lit(5, dtype=pl.UInt32), correct=(pl.col("correct") / N * 5).round()
    )
    more = few.with_columns(size=pl.lit("20M"), words=pl.lit(20_000_000, dtype=pl.UInt64))
    few = pl.concat([few, more])
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
    stuck = diagnose(r_hat=None, ess_bulk=None, ess_tail=None)
    assert stuck["reasons"] == ["the draws of a do not move or are not numbers"]


def test_description_of_draws():
    rng = np.random.default_rng(0)
    draws = rng.gamma(2, size=(4, 1000))
    found = summary.describe(draws)
    assert found["median"] == np.median(draws)
    assert found["mean"] == pytest.approx(draws.mean())
    assert (found["low"], found["high"]) == tuple(np.quantile(draws, [0.025, 0.975]))
    assert found["r_hat"] == pytest.approx(1, abs=0.01)
    assert 3000 < found["ess_bulk"] < 5000
    apart = summary.describe(draws + np.arange(4)[:, None])
    assert apart["r_hat"] > 1.2
    assert summary.describe(draws[:1])["r_hat"] is None
    assert summary.describe(np.ones((4, 100)))["ess_tail"] is None


def test_slopes_of_groups_are_named_by_predictor_and_group():
    formula = "p(correct, n) ~ S(condition) + (size_z + S(condition)|phenomenon)"
    made = design.design(make_counts(), formula)
    posterior = make_posterior(made, spread=0.1)
    table = summary.summarise(posterior, made.frame)
    found = {row["term"]: row for row in table.iter_rows(named=True)}
    values = posterior["S(condition)|phenomenon"].sel({"phenomenon__factor_dim": "wanna"}).values
    assert list(posterior["S(condition)|phenomenon"].dims[2:]) == [
        "S(condition)__expr_dim", "phenomenon__factor_dim",
    ]  # fmt: skip
    assert found["S(condition)|phenomenon[1, wanna]"]["mean"] == values[..., 1].mean()
    assert found["S(condition)|phenomenon_sigma[0]"]["kind"] == "sd"
    assert found["size_z|phenomenon[wanna]"]["kind"] == "group"
    assert table["term"].is_unique().all()


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
        model = BayesianModel(name="m", **{"warmup": 100, "draws": 500, **settings})
        return fit.fit(
            specs.ModelSpec(model=model), tmp_path / "counts.parquet", tmp_path / "fits" / "m"
        )

    return run


WRITTEN = [
    "contrasts.csv", "contrasts.parquet", "contrasts.tex", "diagnostics.json", "posterior.nc",
    "predictive.csv", "predictive.parquet", "summary.csv", "summary.parquet", "summary.tex",
]  # fmt: skip


def names(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def test_a_fit_that_converges_at_once_is_drawn_once(fitted, tmp_path):
    engine = StandIn([0])
    facts = fitted(engine, contrasts=[Contrast(factor="filter", first="yes", less="no")])
    assert names(tmp_path / "fits") == ["m"]
    assert names(tmp_path / "fits" / "m") == WRITTEN
    assert facts["converged"]
    assert facts["engine"] == "fast"
    assert [a["converged"] for a in facts["attempts"]] == [True]
    assert facts["attempts"][0]["target_accept"] == 0.99
    assert set(facts["predictive"]) == {"cells", "inside", "share", "p"}
    assert facts == json.loads((tmp_path / "fits" / "m" / "diagnostics.json").read_text())
    table = files.read_table(tmp_path / "fits" / "m" / "contrasts.parquet", CONTRASTS)
    assert table.height == 1 + 4
    cells = files.read_table(tmp_path / "fits" / "m" / "predictive.parquet", PREDICTIVE)
    assert cells.height == facts["predictive"]["cells"] == 3 * 2 * 5


def test_a_retry_is_stricter(fitted, tmp_path):
    engine = StandIn([1.0, 0], [3, 0])
    facts = fitted(engine, target_accept=0.9)
    assert [m.target_accept for m in engine.asked] == [0.9, 0.98]
    assert [(m.warmup, m.draws) for m in engine.asked] == [(100, 500), (200, 1000)]
    first, second = facts["attempts"]
    assert not first["converged"]
    assert first["divergences"] == 3
    assert first["reasons"][0].startswith("R-hat")
    assert second["converged"]
    assert facts["converged"]
    assert facts["divergences"] == 0
    assert names(tmp_path / "fits" / "m") == WRITTEN


def test_two_chains_are_drawn_again_and_attempts_are_timed(fitted, monkeypatch):
    times = iter([100.0, 103.26, 200.0, 201.04])
    monkeypatch.setattr(gate, "time", SimpleNamespace(monotonic=lambda: next(times)))
    engine = StandIn([1.0, 1.0])
    facts = fitted(engine, chains=2, retries=1, unconverged="report")
    assert len(engine.asked) == 2
    assert [attempt["seconds"] for attempt in facts["attempts"]] == [3.3, 1.0]


@pytest.mark.parametrize(
    ("divergences", "reasons", "advice"),
    [
        (2, ["2 divergences"], ["raise target_accept (last 0.9)", "drop a term"]),
        (0, ["R-hat 1.1 > 1.01"], ["raise warmup and draws (last 100 and 500)", "drop a term"]),
        (
            1,
            ["1 divergence", "ESS 9 < 400"],
            ["raise target_accept (last 0.9)", "raise warmup and draws", "drop a term"],
        ),
    ],
)
def test_advice_is_on_what_went_wrong(divergences, reasons, advice):
    model = BayesianModel(name="m", warmup=100, draws=500, target_accept=0.9)
    last = {"divergences": divergences, "reasons": reasons, "converged": False}
    said = gate.complaint(gate.Fitted(model, None, None, [last]))
    assert said.startswith(f"not converged after 1 attempt: {'; '.join(reasons)}: ")
    change = said.removeprefix("not converged").split(": ")[-1].split(", or ")
    assert all(each.startswith(part) for each, part in zip(change, advice, strict=True))
    twice = gate.complaint(gate.Fitted(model, None, None, [last, last]))
    assert twice.startswith("not converged after 2 attempts: ")


def test_a_fit_that_never_converges_fails_with_advice(fitted, tmp_path):
    engine = StandIn([1.0, 1.0, 1.0], [0, 0, 2])
    with pytest.raises(errors.PoshgridError) as caught:
        fitted(engine, retries=2)
    told = str(caught.value)
    assert "\n" not in told
    assert "models: m: not converged after 3 attempts: R-hat" in told
    assert "2 divergences" in told
    assert "raise target_accept (last 0.9996)" in told
    assert "draws (last 400 and 2,000)" in told
    assert "unconverged: report" in told
    assert str(tmp_path / "fits" / "m.unconverged") in told
    # Nothing where Snakemake looks for results; what tells why is beside it.
    assert names(tmp_path / "fits" / "m") == []
    assert names(tmp_path / "fits" / "m.unconverged") == ["diagnostics.json", "summary.csv"]
    facts = json.loads((tmp_path / "fits" / "m.unconverged" / "diagnostics.json").read_text())
    assert len(facts["attempts"]) == 3
    assert not facts["converged"]
    # A later success removes it.
    fitted(StandIn([0]))
    assert names(tmp_path / "fits") == ["m"]


def test_unconverged_may_be_reported(fitted, tmp_path):
    facts = fitted(StandIn([1.0]), retries=0, unconverged="report")
    assert not facts["converged"]
    assert facts["reasons"][0].startswith("R-hat")
    assert names(tmp_path / "fits" / "m") == WRITTEN


def test_one_chain_is_refused_before_it_is_drawn(fitted):
    engine = StandIn([0, 0])
    with pytest.raises(errors.PoshgridError, match="chains: 1"):
        fitted(engine, chains=1)
    assert engine.asked == []
    facts = fitted(engine, chains=1, unconverged="report")
    assert len(engine.asked) == 1  # a second draw could not tell either
    assert "two chains" in facts["reasons"][0]


def test_a_sampler_that_fails_is_told_in_one_line(fitted, tmp_path):
    def engine(made, model, threads):
        raise RuntimeError("bad initial energy\nand a page of text")

    with pytest.raises(errors.PoshgridError, match=r"sampling failed \(bad initial energy\)"):
        fitted(engine)
    assert names(tmp_path / "fits") == []


PRIORS = [
    Prior(term="size_z", sd=0.01),
    Prior(term="S(filter):S(category)", sd=2),  # the other way round than in the formula
    Prior(term="1|seed", rate=7),
]


def test_priors_of_single_terms_reach_the_engine_under_their_own_names(fitted):
    engine = StandIn([0])
    fitted(engine, priors=PRIORS)
    assert [(p.term, p.sd or p.rate) for p in engine.asked[0].priors] == [
        ("size_z", 0.01), ("S(category):S(filter)", 2), ("1|seed", 7)
    ]  # fmt: skip


def test_priors_of_single_terms_reach_bambi(counts):
    model = BayesianModel(
        name="m", priors=[PRIORS[0], Prior(term="Intercept", sd=3), Prior(term="1|seed", rate=7)]
    )
    built = fit.build(design.design(counts, model.formula), model).components["p"]
    assert built.common_terms["size_z"].prior.args["sigma"] == 0.01
    assert built.common_terms["S(filter)"].prior.args["sigma"] == 0.5
    assert built.intercept_term.prior.args["sigma"] == 3
    assert built.group_specific_terms["1|seed"].prior.args["sigma"].args["lam"] == 7
    assert built.group_specific_terms["1|phenomenon"].prior.args["sigma"].args["lam"] == 2


def test_priors_of_absent_terms(fitted):
    engine = StandIn([0])
    facts = fitted(engine, only="size=10M", priors=[Prior(term="size_z", sd=1)])
    assert engine.asked[0].priors == []
    assert "prior of size_z left out: the term is" in facts["notes"]


def test_choice_of_engine(counts, monkeypatch):
    from poshgrid.statistics import fast

    def chosen(formula=None, **settings):
        model = BayesianModel(name="m", **({"formula": formula} if formula else {}), **settings)
        return fit.choose(design.design(counts, model.formula), model)

    slopes = "p(correct, n) ~ S(filter) + (size_z|seed)"
    assert chosen() == ("fast", fast.sample)
    assert chosen(engine="fast") == ("fast", fast.sample)
    assert chosen(engine="bambi") == ("bambi", fit.sample)
    assert chosen(slopes) == ("bambi", fit.sample)
    with pytest.raises(errors.PoshgridError, match=r"engine fast cannot fit this: .*slope"):
        chosen(slopes, engine="fast")
    monkeypatch.setattr(fit.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(errors.PoshgridError, match="pip install numpyro"):
        chosen(engine="bambi", sampler="numpyro")
    assert chosen(sampler="numpyro")[0] == "fast"  # which does not need it


def test_only_bambi_is_given_a_folder_for_compiled_code(counts, fitted, monkeypatch):
    monkeypatch.setattr(fit, "_writable_home", lambda: False)
    monkeypatch.delenv("PYTENSOR_FLAGS", raising=False)
    fitted(StandIn([0]))
    assert "PYTENSOR_FLAGS" not in os.environ
    model = BayesianModel(name="m")
    fit.build(design.design(counts, model.formula), model)
    assert "base_compiledir=" in os.environ.pop("PYTENSOR_FLAGS")


def test_latex_has_medians_and_means_part_by_part():
    made = design.design(make_counts(), BayesianModel(name="m").formula)
    table = summary.summarise(make_posterior(made, spread=0, size_z=0.123), made.frame)
    table = table.with_columns(mean=pl.col("mean") + 1)
    tex = formats.latex(model_tables.summary(table, "m"))
    assert r"Training size (z) & 0.12 & 1.12 & {[}0.12, 0.12]" in tex
    before, interactions, sds = (
        tex.index(x)
        for x in ("Training size (z) &", r"\emph{Interaction", r"\emph{Group-level standard")
    )
    assert before < interactions < tex.index(r"Training size (z) $\times$ Filtering") < sds
    assert sds < tex.index("Seed intercept SD")
    assert "Seed 42" not in tex


HOSTILE = {
    "a single seed": lambda c: c.filter(pl.col("seed") == 42),
    "a single phenomenon": lambda c: c.filter(pl.col("phenomenon") == "wanna"),
    "cells all correct": lambda c: c.with_columns(
        correct=pl.when(pl.col("phenomenon") == "wanna").then(pl.lit(float(N))).otherwise("correct")
    ),
    "all correct": lambda c: c.with_columns(correct=pl.col("n").cast(pl.Float64)),
    "a missing seed": lambda c: c.filter(
        (pl.col("seed") != 9) | (pl.col("phenomenon") != "wanna") | (pl.col("size") != "10M")
    ),
    "empty rows": lambda c: c.with_columns(
        n=pl.when(pl.col("phenomenon") == "wanna").then(0).otherwise("n").cast(pl.UInt32),
        correct=pl.when(pl.col("phenomenon") == "wanna").then(0.0).otherwise("correct"),
    ),
    "nothing varies": lambda c: c.filter(
        pl.col("phenomenon") == "wanna", pl.col("seed") == 9, pl.col("size") == "10M"
    ),
}


@pytest.mark.parametrize(
    "case",
    # Without a group, bambi fits: it compiles first.
    [pytest.param(c, marks=pytest.mark.slow) if c == "nothing varies" else c for c in HOSTILE],
)
def test_hostile_counts_are_fitted_in_silence(case, counts, tmp_path, capfd, recwarn):
    hostile = HOSTILE[case](counts)
    files.write_table(hostile, tmp_path / "counts.parquet", COUNTS)
    model = BayesianModel(
        name="m", warmup=300, draws=300, unconverged="report", retries=0, target_accept=0.9,
        contrasts=[Contrast(factor="filter", first="yes", less="no")],
    )  # fmt: skip
    facts = fit.fit(specs.ModelSpec(model=model), tmp_path / "counts.parquet", tmp_path / "m")
    assert names(tmp_path / "m") == WRITTEN
    table = files.read_table(tmp_path / "m" / "summary.parquet", SUMMARY)
    assert table.select(pl.col("median", "mean", "sd", "low", "high").is_finite().all()).row(0) == (
        True, True, True, True, True
    )  # fmt: skip
    assert facts["rows"] == hostile.filter(pl.col("n") > 0).height
    if case == "all correct":
        cells = files.read_table(tmp_path / "m" / "predictive.parquet", PREDICTIVE)
        assert cells["predicted"].min() > 0.98
        assert facts["predictive"]["share"] == 1
    shown = capfd.readouterr()
    assert shown.out == ""
    # The notes on what was left out, and how the fit went: our own lines, if logs are shown.
    assert "Warning" not in shown.err
    assert [w for w in recwarn if "PuLP" not in str(w.message)] == []


@pytest.mark.slow
def test_a_model_with_too_few_draws_trips_the_gate(counts, tmp_path):
    """A real fit, of 20 draws: the gate, the retry and the message are no stand-ins."""
    files.write_table(counts, tmp_path / "counts.parquet", COUNTS)
    model = BayesianModel(
        name="hasty", formula="p(correct, n) ~ S(filter)", engine="bambi", chains=2,
        warmup=20, draws=20, retries=1, target_accept=0.8,
    )  # fmt: skip
    with pytest.raises(errors.PoshgridError, match=r"after 2 attempts: .*ESS \d+ < 400"):
        fit.fit(specs.ModelSpec(model=model), tmp_path / "counts.parquet", tmp_path / "fit")
    assert names(tmp_path / "fit") == []
    assert gate.stricter(model).draws == 40


@pytest.mark.slow
def test_recovers_planted_effects(counts, tmp_path):
    files.write_table(counts, tmp_path / "counts.parquet", COUNTS)
    model = BayesianModel(
        name="paper", engine="bambi", chains=2, warmup=300, draws=300, target_accept=0.8,
        unconverged="report", retries=0,
    )  # fmt: skip
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


def test_compiled_code_lies_in_a_folder_that_nobody_else_can_have_made(monkeypatch, tmp_path):
    """Code is loaded from it: with a name that can be guessed, anybody's."""
    monkeypatch.setenv("HOME", "/proc/none")
    monkeypatch.setenv("PYTENSOR_FLAGS", "floatX=float64")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folders = []
    for _ in range(2):
        fit.prepare_compiler()
        flags = os.environ["PYTENSOR_FLAGS"]
        folders.append(Path(flags.removeprefix("floatX=float64,base_compiledir=")))
        monkeypatch.setenv("PYTENSOR_FLAGS", "floatX=float64")
    assert folders[0] != folders[1]
    for folder in folders:
        assert folder.parent == tmp_path
        assert folder.stat().st_mode & 0o777 == 0o700
