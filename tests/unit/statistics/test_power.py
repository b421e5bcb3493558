"""What a grid can show: closed forms, planted spreads, and the engine's own draws."""

import json

import numpy as np
import polars as pl
import pytest
from scipy import stats
from typer.testing import CliRunner

from poshgrid import files
from poshgrid.cli import app
from poshgrid.config import BayesianModel, Contrast
from poshgrid.errors import PoshgridError
from poshgrid.statistics import contrasts as engine_contrasts
from poshgrid.statistics import fast, predictor, published
from poshgrid.statistics.power import approximation, check, components, contrasts, learned
from poshgrid.statistics.power.components import Components
from poshgrid.statistics.power.layout import Layout
from poshgrid.statistics.power.simulation import Simulation, Size
from poshgrid.statistics.schema import PREDICTIVE, SUMMARY

AXES = {"size": "10M", "learner": "gpt2", "regimen": "packed", "bias": "none"}
FILTERING = Contrast(name="filtering", factor="condition", first="baby-f", less="baby")


def layout(phenomena=(("wanna", "wanna"),), conditions=("baby", "baby-f"), pairs=500, sets=None):
    points = pl.DataFrame(
        [
            {"condition": c, **AXES, "words": 10**7, "source": "baby", "filtered": c != "baby"}
            for c in conditions
        ]
    )
    sets = sets or pairs
    units = pl.DataFrame(
        [
            {"category": c, "phenomenon": p, "template": "t", "sets": sets, "each": pairs // sets}
            for c, p in phenomena
        ]
    )
    return Layout(points, 3, "posh", units, known=False)


def model(formula="p(correct, n) ~ S(condition) + (1|cell)", **settings):
    given = {"contrasts": [FILTERING], "slope_sd": 3.0, **settings}
    return BayesianModel(name="m", formula=formula, **given)


def flat(share=0.5, **sds):
    return Components("a test", {"": share}, {k.replace("_", ""): v for k, v in sds.items()})


def powers(found, spread, effects, sizes, replications, fitted=None):
    rows, _ = contrasts.power(
        found, fitted or model(), spread,
        effects=effects, sizes=sizes, replications=replications, seed=1,
    )  # fmt: skip
    return rows.filter(pl.col("by") == "")


# ---- contrasts ---------------------------------------------------------------------------------


def two_sample_t(half_logit, sd, seeds):
    """Power of a two-sided t test of two groups of seeds, from the noncentral t distribution."""
    freedom, shift = 2 * seeds - 2, 2 * half_logit / (sd * np.sqrt(2 / seeds))
    most = stats.t.ppf(0.975, freedom)
    return stats.nct.sf(most, freedom, shift), stats.nct.cdf(-most, freedom, shift)


@pytest.mark.parametrize(
    ("seeds", "effect"),
    [
        pytest.param(10, 0.05, marks=pytest.mark.slow),
        pytest.param(10, 0.08, marks=pytest.mark.slow),
        (20, 0.05),
    ],
)
def test_one_phenomenon_has_the_power_of_a_t_test(seeds, effect):
    """Log odds of two conditions, seeds as observations: SD of cells and of 500 coin tosses."""
    rows = powers(layout(), flat(cell=0.3), [effect], [Size(seeds, 1)], 300)
    half = np.log((0.5 + effect / 2) / (0.5 - effect / 2))
    right, wrong = two_sample_t(half, np.hypot(0.3, np.sqrt(4 / 500)), seeds)
    assert rows["power"][0] == pytest.approx(right, abs=0.07)
    assert rows["wrong"][0] == pytest.approx(wrong, abs=0.02)


@pytest.mark.slow
def test_without_an_effect_as_many_are_found_as_the_interval_lets_through():
    rows = powers(layout(), flat(cell=0.3), [0.0], [Size(12, 1)], 400)
    assert rows["wrong"][0] is None
    assert rows["low"][0] < 0.05 < rows["high"][0]
    # Variation that the model has no term for: false alarms
    bare = model("p(correct, n) ~ S(condition) + (1|seed)")
    rows = powers(layout(), flat(cell=0.3), [0.0], [Size(12, 1)], 100, bare)
    assert rows["low"][0] > 0.2


@pytest.mark.slow
def test_more_seeds_and_larger_effects_are_found_more_often():
    effects, sizes = [0.02, 0.05, 0.1], [Size(2, 1), Size(6, 1), Size(18, 1)]
    rows = powers(layout(), flat(cell=0.3), effects, sizes, 60)
    table = rows.sort("seeds", "effect")["power"].to_numpy().reshape(3, 3)
    assert (np.diff(table, axis=0) >= 0).all()
    assert (np.diff(table, axis=1) >= 0).all()
    assert table[0, 0] < 0.3
    assert table[2, 2] > 0.95


@pytest.mark.slow
def test_items_help_where_they_are_what_is_lacking():
    """Twice the items halve the noise of few pairs; they do nothing about seeds that differ."""
    few = powers(layout(pairs=40), flat(), [0.1], [Size(6, 1), Size(6, 2)], 100)
    assert few["power"][1] > few["power"][0] + 0.2
    many = powers(layout(), flat(cell=0.5), [0.1], [Size(6, 1), Size(6, 2)], 100)
    assert abs(many["power"][1] - many["power"][0]) < 0.1


def test_the_effect_is_one_of_accuracy_in_every_category():
    found = layout([("binding", "a"), ("binding", "b"), ("wanna", "wanna")])
    given = Components("a test", {"a": 0.9, "b": 0.6, "wanna": 0.97, "": 0.5}, {})
    simulation = Simulation(found, model(), given, Size(2, 1))
    frame = simulation.made.frame.assign(
        share=1 / (1 + np.exp(-simulation.expected(FILTERING, 0.2)))
    )
    means = frame.groupby(["category", "condition"], observed=True)["share"].mean().unstack()
    assert (means["baby-f"] - means["baby"]).to_numpy() == pytest.approx(0.2)
    none = simulation.expected(FILTERING, 0.0)
    assert sorted(set(np.round(1 / (1 + np.exp(-none)), 6))) == [0.6, 0.9, 0.97]


def test_the_approximation_has_the_engines_posterior():
    found = layout([("binding", "a"), ("binding", "b"), ("island", "c"), ("wanna", "d")])
    fitted = model(
        "p(correct, n) ~ S(category) * S(condition) + (1|seed) + (1|phenomenon) + (1|point) "
        "+ (0 + category|cell)",
        slope_sd=0.5, chains=2, warmup=300, draws=800, target_accept=0.9,
    )  # fmt: skip
    given = flat(0.7, cell=0.3, point=0.2, seed=0.1)
    simulation = Simulation(found, fitted, given, Size(4, 1))
    made = simulation.made
    decide = approximation.Approximation(made, fitted, [FILTERING])
    correct = simulation.draw(simulation.expected(FILTERING, 0.1), np.random.default_rng(3))
    ours = decide(correct, made.frame["n"].to_numpy(dtype=float))
    drawn = type(made)(made.frame.assign(correct=correct.astype(int)), made.formula)
    posterior = fast.sample(drawn, fitted).posterior
    grid = engine_contrasts.ReferenceGrid(drawn, predictor.Predictor(drawn, posterior))
    assert [place.level for _, place in decide.places] == ["", "binding", "island", "wanna"]
    for i, (_, place) in enumerate(decide.places):
        _, share = grid.difference(place.found)
        assert ours.mean[i] == pytest.approx(share.mean(), abs=0.25 * share.std())
        assert ours.sd[i] == pytest.approx(share.std(), rel=0.2)
        assert ours.above[i] == pytest.approx((share > 0).mean(), abs=0.03)


def test_decisions_are_held_to_the_engines():
    """An effect far from 0 is found by both; one of 0 by neither, as a rule."""
    fitted = model(chains=2, warmup=200, draws=300, target_accept=0.9)
    held = check.held_to_draws(
        layout(), fitted, flat(cell=0.2),
        effects=[0.0, 0.4], size=Size(8, 1), replications=1, seed=1,
    )  # fmt: skip
    assert (held["decisions"], held["agree"], held["found"], held["found_engine"]) == (
        2,
        1,
        0.5,
        0.5,
    )
    assert held["mean"] < 0.01
    assert held["width"] == pytest.approx(1, abs=0.15)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_numbers_in_any_number_of_processes():
    def call(threads):
        return contrasts.power(
            layout(), model(), flat(cell=0.3),
            effects=[0.05], sizes=[Size(3, 1), Size(4, 1)], replications=5, seed=7, threads=threads,
        )[0]  # fmt: skip

    assert call(1).equals(call(2))


def test_the_least_effect_lies_between_those_that_were_simulated():
    """Probits of .5 and .9 are 0 and 1.2816; that of .8, .8416, is 65.67% of the way."""
    rows = pl.DataFrame(
        {
            "contrast": ["x"] * 4, "seeds": [2, 2, 3, 3], "effect": [0.05, 0.10] * 2,
            "power": [0.5, 0.9, 0.1, 0.2], "replications": [100] * 4,
        }
    )  # fmt: skip
    least = contrasts.least(rows)
    assert least["least"].to_list() == [pytest.approx(0.05 + 0.6567 * 0.05, abs=1e-4), None]


def test_contrasts_that_the_grid_lacks_are_told():
    other = Contrast(factor="condition", first="wiki", less="baby")
    with pytest.raises(PoshgridError, match=r"nothing to find on this grid.*no level 'wiki'"):
        powers(layout(), flat(), [0.1], [Size(2, 1)], 2, model(contrasts=[other]))


# ---- learned -----------------------------------------------------------------------------------


def test_what_counts_as_learned_has_the_power_of_a_binomial():
    """Without other spread, sets and seeds both show the binomial's variance, and are added up.

    So the error is sqrt(2) times too large: z = effect / (sqrt(2) s), one-sided at 2.5%.
    """
    rows = learned.power(
        layout(pairs=100), flat(), effects=[0.0, 0.02], sizes=[Size(40, 1)], replications=1_000,
        seed=1,
    )  # fmt: skip
    s = np.sqrt(0.25 / 4_000)
    expected = [stats.norm.sf(np.sqrt(2) * 1.96 - effect / s) for effect in (0.0, 0.02)]
    assert rows["power"].to_list() == pytest.approx(expected, abs=0.03)


def test_a_rival_that_is_right_more_often_is_harder_to_beat():
    def call(rival):
        rows = learned.power(
            layout(pairs=200), flat(cell=0.1, set=1.4), effects=[0.1], sizes=[Size(5, 1)],
            replications=200, seed=1, rival=rival,
        )  # fmt: skip
        return rows["power"][0]

    assert call(0.3) == call(0.5)
    assert call(0.7) < call(0.5) - 0.05


def test_one_seed_cannot_tell_what_is_learned():
    rows = learned.power(
        layout(), flat(), effects=[0.2], sizes=[Size(1, 1)], replications=5, seed=1
    )
    assert rows.is_empty()


# ---- spreads -----------------------------------------------------------------------------------


def test_spreads_are_found_in_a_table_of_means_and_sds(monkeypatch):
    """Planted: SDs of cells .2 and .5, of points .3."""
    rng = np.random.default_rng(5)
    planted, rows = {"binding": 0.2, "wanna": 0.5}, []
    for condition in "abcdef":
        for size in ("10M", "30M", "50M", "100M"):
            for category, sd in planted.items():
                for number in range(12):
                    eta = 0.5 + 0.1 * number + rng.normal(0, 0.3) + rng.normal(0, sd, 3)
                    shares = rng.binomial(500, 1 / (1 + np.exp(-eta))) / 500
                    rows.append(
                        {
                            "condition": condition, "size": size, "level": "phenomenon",
                            "category": category, "phenomenon": f"{category}-{number}",
                            "mean": shares.mean(), "sd": shares.std(ddof=1),
                        }
                    )  # fmt: skip
    monkeypatch.setattr(published, "accuracy", lambda: pl.DataFrame(rows))
    found = components.of_paper()
    assert found.sd("cell", "binding") == pytest.approx(0.2, rel=0.1)
    assert found.sd("cell", "wanna") == pytest.approx(0.5, rel=0.1)
    assert found.sd("point") == pytest.approx(0.3, rel=0.1)
    assert found.accuracy("wanna", "unheard") == pytest.approx(found.base["wanna/"])


def test_the_spread_of_items_is_that_of_their_correlation():
    rng = np.random.default_rng(2)
    eta = components.middle_of(0.7, 1.4) + 1.4 * rng.standard_normal(400_000)
    one, other = (rng.random(eta.size) < 1 / (1 + np.exp(-eta)) for _ in range(2))
    assert one.mean() == pytest.approx(0.7, abs=0.005)
    correlation = np.corrcoef(one, other)[0, 1]
    assert components.spread_of(correlation, 0.7) == pytest.approx(1.4, abs=0.03)


def test_spreads_of_a_fit_are_its_medians_and_what_it_saw(tmp_path):
    terms = {"1|seed_sigma": 0.1, "category|cell_sigma[wanna]": 0.6, "1|phenomenon_sigma": 0.7}
    summary = [
        {"term": t, "label": "", "kind": "sd", "implicit": False, "median": v, "mean": 9.0}
        for t, v in terms.items()
    ]
    summary.append({"term": "Intercept", "label": "", "kind": "common", "median": 0.4})
    files.write_table(pl.DataFrame(summary, SUMMARY), tmp_path / "summary.parquet", SUMMARY)
    cells = [
        {"condition": c, "category": "wanna", "phenomenon": "wanna", "observed": x}
        for c, x in (("baby", 0.6), ("wiki", 0.8))
    ]
    files.write_table(pl.DataFrame(cells, PREDICTIVE), tmp_path / "predictive.parquet", PREDICTIVE)
    found = components.of_fit(tmp_path)
    assert found.sds == {"seed": 0.1, "cell[wanna]": 0.6}
    assert found.base == {"wanna": 0.7, "wanna/": 0.7, "": 0.7}
    assert found.sd("point") == 0  # the fit has no such group


def test_what_the_user_says_goes_before_the_source():
    given = Components("x", {"": 0.5}, {"cell[wanna]": 0.4, "cell[island]": 0.3, "seed": 0.1})
    found = given.overruled(["cell=0.2", "cell[wanna]=0.6"])
    assert (found.sd("cell", "wanna"), found.sd("cell", "island")) == (0.6, 0.2)
    assert found.source == "x; cell=0.2, cell[wanna]=0.6 as given"
    for wrong in ("cel=0.2", "cell=x", "cell=-1", "cell[wanna=1"):
        with pytest.raises(PoshgridError, match="--sd: "):
            given.overruled([wrong])


# ---- the command -------------------------------------------------------------------------------


def call(root, *words):
    return CliRunner().invoke(app, ["power", str(root / "config/tiny.yaml"), *words])


@pytest.mark.slow
def test_the_command_names_its_source_and_answers(root, tmp_path):
    """The paper's spreads, on templates that have no items yet; JSON holds what is printed."""
    few = ["--results", str(tmp_path), "--replications", "2", "--threads", "1", "--effects", "30"]
    answer = call(root, *few, "--json")
    assert answer.exit_code == 0, answer.output
    content = json.loads(answer.stdout)
    assert content["source"].startswith("published tables 8 and 12")
    assert {row["contrast"] for row in content["contrasts"]} == {"filtering", "register"}
    # tiny: two seeds, one more, and twice the items
    sizes = {(row["seeds"], row["items"]) for row in content["contrasts"]}
    assert sizes == {(2, 1), (3, 1), (2, 2)}
    large = [r for r in content["contrasts"] if r["effect"] == 0.3 and r["by"] == ""]
    assert all(row["power"] == 1 for row in large)
    printed = call(root, *few, "--seeds", "2")
    assert "published tables 8 and 12" in printed.stdout
    assert "filtering: baby-f − baby, overall" in printed.stdout
    assert printed.stdout == call(root, *few, "--seeds", "2").stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--target", "exp4"], "--target: unknown target 'exp4'"),
        (["--target", "exp1"], "no model with contrasts is fitted to it"),
        (["--model", "paper"], "--model: paper: has no contrasts"),
        (["--model", "condit"], "--model: unknown model 'condit'"),
        (["--target", "exp2", "--model", "bias"], "no two runs that differ in its contrasts"),
        (["--effects", "5,x"], "--effects: '5,x': give numbers from 0 to 60, with commas"),
        (["--effects", "90"], "--effects: '90': give numbers"),
        (["--seeds", "0"], "--seeds: '0': give numbers from 1 to 1000, with commas"),
        (["--from", "nowhere"], "nowhere/summary.parquet"),
        (["--json", "--csv"], "--json and --csv: choose one"),
    ],
)
def test_what_is_wrong_with_a_call_is_one_line(root, tmp_path, words, said):
    answer = call(root, *words, "--results", str(tmp_path))
    assert isinstance(answer.exception, PoshgridError)
    assert said in str(answer.exception)
    assert "\n" not in str(answer.exception)
