"""Marginal contrasts: hand-worked ones, and brute force by bambi's own predictions."""

import itertools
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import xarray

from poshgrid import config
from poshgrid.commands.base import grid_of
from poshgrid.statistics import contrasts, design, fit, model_tables, published
from poshgrid.statistics.power import approximation
from poshgrid.statistics.predictor import Predictor
from poshgrid.statistics.schema import CONTRASTS, COUNTS
from poshgrid.tables import formats
from tests.unit.statistics.test_design import PHENOMENA, make_counts

CONFIGS = Path(__file__).parents[3] / "config"
TWO_BY_TWO = "p(correct, n) ~ S(category) * S(condition) + (1|phenomenon)"
MODEL = "p(correct, n) ~ (size_z + S(category)) * S(condition) + (1|seed) + (1|phenomenon)"


def make_posterior(made, chains=2, draws=40, spread=0.3, seed=0, **known):
    """Return draws of every term around known means; terms that are not named are around 0."""
    from formulae import design_matrices

    rng = np.random.default_rng(seed)
    matrices = design_matrices(made.formula, made.frame)
    groups = {} if matrices.group is None else matrices.group.terms
    variables, coordinates = {}, {"chain": range(chains), "draw": range(draws)}

    def around(name, *dims):
        shape = [len(coordinates[dim]) for dim in dims]
        mean = np.asarray(known.get(name, np.zeros(shape)), dtype=float)
        values = mean + spread * rng.normal(size=(chains, draws, *shape))
        variables[name] = (["chain", "draw", *dims], values)

    for name, where in matrices.common.slices.items():
        is_scalar = name in ("Intercept", "size_z")
        coordinates[f"{name}_dim"] = range(where.stop - where.start)
        around(name, *([] if is_scalar else [f"{name}_dim"]))
    for name, term in groups.items():
        effect, _, group = name.partition("|")
        inner = [f"{effect}__expr_dim"] if term.kind == "categoric" else []
        coordinates[f"{group}__factor_dim"] = term.groups
        coordinates[f"{effect}__expr_dim"] = range(term.data.shape[1] // len(term.groups))
        around(name, *inner, f"{group}__factor_dim")
        around(f"{name}_sigma", *inner)
        dims, values = variables[f"{name}_sigma"]
        variables[f"{name}_sigma"] = (dims, np.exp(values))
    used = {dim for dims, _ in variables.values() for dim in dims}
    return xarray.Dataset(variables, {k: list(v) for k, v in coordinates.items() if k in used})


def two_by_two(seeds=(1,)):
    """Two categories, of which binding has one phenomenon and wanna two; baby and wiki."""
    counts = make_counts(conditions=("baby", "wiki"), sizes=("10M",), seeds=seeds).filter(
        pl.col("phenomenon").is_in(["principle-a-command", "wanna", "island-wh"])
    )
    return counts.with_columns(
        category=pl.when(pl.col("phenomenon") == "principle-a-command")
        .then(pl.lit("binding"))
        .otherwise(pl.lit("wanna"))
    )


def rows_of(table):
    return {(r["contrast"], r["by"], r["level"]): r for r in table.iter_rows(named=True)}


def test_hand_worked_two_by_two():
    """Baby +1, wiki -1; binding +1, wanna -1: wiki - baby = -2 (b + interaction x category)."""
    made = design.design(two_by_two(), TWO_BY_TWO)
    known = {"Intercept": 0.5, "S(category)": [0.2], "S(condition)": [0.3]}
    known |= {"S(category):S(condition)": [0.1], "1|phenomenon": [1.0, 0.0, -1.0]}
    assert list(made.frame["phenomenon"].cat.categories) == [
        "island-wh", "principle-a-command", "wanna",
    ]  # fmt: skip
    posterior = make_posterior(made, spread=0, **known)
    wanted = [config.Contrast(name="register", factor="condition", first="wiki", less="baby")]
    table, notes = contrasts.contrasts(posterior, made, wanted)
    assert notes == []
    found = rows_of(table)
    assert list(found) == [
        ("register", "", ""), ("register", "category", "binding"), ("register", "category", "wanna")
    ]  # fmt: skip
    expected = {"": -0.6, "binding": -2 * (0.3 + 0.1), "wanna": -2 * (0.3 - 0.1)}
    for (_, _, level), row in found.items():
        assert row["median"] == pytest.approx(expected[level])
        assert (row["first"], row["less"]) == ("wiki", "baby")
        assert row["above"] == 0

    def accuracy(log_odds):
        return 1 / (1 + np.exp(-log_odds))

    # Intercept + category + condition + interaction + phenomenon, baby and wiki:
    binding = accuracy(0.5 + 0.2 - 0.3 - 0.1) - accuracy(0.5 + 0.2 + 0.3 + 0.1)
    wanna = np.mean(
        [
            accuracy(0.5 - 0.2 - 0.3 + 0.1 + u) - accuracy(0.5 - 0.2 + 0.3 - 0.1 + u)
            for u in (1.0, -1.0)
        ]
    )
    assert found["register", "category", "binding"]["share"] == pytest.approx(binding)
    assert found["register", "category", "wanna"]["share"] == pytest.approx(wanna)
    # Categories count alike, whatever their numbers of phenomena.
    assert found["register", "", ""]["share"] == pytest.approx((binding + wanna) / 2)


def test_a_contrast_of_categories_is_taken_over_their_own_phenomena():
    made = design.design(two_by_two(), TWO_BY_TWO)
    posterior = make_posterior(
        made, spread=0, **{"Intercept": 0.5, "S(category)": [0.2], "1|phenomenon": [1.0, 0.0, -1.0]}
    )
    wanted = [config.Contrast(factor="category", first="binding", less="wanna", by=["category"])]
    table, notes = contrasts.contrasts(posterior, made, wanted)
    assert notes == []
    assert table.height == 1
    row = table.row(0, named=True)
    assert row["contrast"] == "binding - wanna"
    assert row["median"] == pytest.approx(0.4)
    share = 1 / (1 + np.exp(-0.7)) - np.mean(1 / (1 + np.exp(-(0.3 + np.array([1.0, -1.0])))))
    assert row["share"] == pytest.approx(share)


@pytest.mark.parametrize(
    "formula",
    [
        MODEL,
        pytest.param(
            "p(correct, n) ~ S(category) + S(condition) * size_z + (1|phenomenon) + (1|seed)",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_against_predictions_of_bambi(formula):
    """The reference grid of this module against a brute-force one that bambi predicts."""
    import arviz
    import pandas as pd

    made = design.design(make_counts(), formula)
    posterior = make_posterior(made)
    bambi_model = fit.build(made, config.BayesianModel(name="m", formula=formula))
    bambi_model.build()

    def predicted(frame, groups):
        rows = frame.assign(correct=0, n=1)
        # S(x) wants to see all levels: the fitted rows follow.
        rows = pd.concat([rows, made.frame[rows.columns]], ignore_index=True)
        for name in ("category", "condition", "phenomenon", "seed"):
            levels = made.frame[name].cat.categories
            rows[name] = pd.Categorical(rows[name], categories=levels, ordered=True)
        draws = arviz.InferenceData(posterior=posterior.copy())
        bambi_model.predict(draws, kind="response_params", data=rows, include_group_specific=groups)
        return draws.posterior["p"].values.reshape(-1, len(rows))[:, : len(frame)]

    wanted = [
        config.Contrast(name="filtering", factor="condition", first="baby-f", less="baby"),
        config.Contrast(name="register", factor="condition", first="wiki", less="baby"),
    ]
    table, notes = contrasts.contrasts(posterior, made, wanted)
    assert notes == []
    found = rows_of(table)
    assert set(table["cells"]) == {2}  # both sizes
    sizes = sorted(set(made.frame["size_z"]))
    assert len(sizes) == 2
    categories = sorted(set(PHENOMENA.values()))
    assert len(found) == 2 * (1 + len(categories))
    for contrast, level in itertools.product(wanted, ["", *categories]):
        logits, shares = [], []
        for side in (contrast.first, contrast.less):
            kept = [level] if level else categories
            frame = pd.DataFrame(
                itertools.product(kept, sizes), columns=["category", "size_z"]
            ).assign(condition=side, phenomenon="wanna", seed="9")
            p = predicted(frame, groups=False)
            logits.append(np.log(p / (1 - p)).mean(axis=1))
            frame = pd.DataFrame(
                [(c, x, z) for x, c in PHENOMENA.items() if c in kept for z in sizes],
                columns=["category", "phenomenon", "size_z"],
            ).assign(condition=side, seed="9")
            # Bambi adds the seed's effect, too: taken off on the scale of log odds.
            p = predicted(frame, groups=True)
            eta = np.log(p / (1 - p)) - posterior["1|seed"].values.reshape(-1, 2)[:, :1]
            each = over(eta, posterior["1|seed_sigma"].values.reshape(-1, 1))
            parts = [
                each[:, [i for i, x in enumerate(frame["category"]) if x == c]].mean(axis=1)
                for c in kept
            ]
            shares.append(np.mean(parts, axis=0))
        row = found[contrast.name, "category" if level else "", level]
        difference, share = logits[0] - logits[1], shares[0] - shares[1]
        assert row["median"] == pytest.approx(np.median(difference))
        assert row["mean"] == pytest.approx(difference.mean())
        assert row["sd"] == pytest.approx(difference.std(ddof=1))
        assert (row["low"], row["high"]) == pytest.approx(
            tuple(np.quantile(difference, [0.025, 0.975]))
        )
        assert row["above"] == (difference > 0).mean()
        assert row["share"] == pytest.approx(np.median(share), abs=1e-5)
        assert row["share_low"] == pytest.approx(np.quantile(share, 0.025), abs=1e-5)
        assert row["share_high"] == pytest.approx(np.quantile(share, 0.975), abs=1e-5)
        tail = 0.025 / (len(categories) if level else 1)
        assert row["joint_low"] == pytest.approx(np.quantile(share, tail), abs=1e-5)
        assert row["joint_high"] == pytest.approx(np.quantile(share, 1 - tail), abs=1e-5)
        assert row["ess_bulk"] > 0


def test_a_family_is_what_is_read_side_by_side():
    """Two biases: two intervals overall, and two for each of three categories."""

    def place(first, by="", level=""):
        return contrasts.Place(first, by, level, found=None)

    overall = [place("dyck"), place("recency")]
    parts = [place(one, "category", level) for one in ("dyck", "recency") for level in "abc"]
    assert contrasts.tails([*overall, *parts]) == [0.0125] * 2 + [0.025 / 6] * 6
    assert contrasts.tails(overall[:1]) == [contrasts.TAIL]


def over(eta, sd):
    """Return accuracies over a group whose effects have an SD: the trapezoidal rule."""
    places = np.linspace(-8, 8, 801)
    weights = np.exp(-(places**2) / 2)
    shares = 1 / (1 + np.exp(-(eta[..., None] + sd[..., None] * places)))
    return (shares * weights).sum(axis=-1) / weights.sum()


def test_shares_are_those_over_all_groups_but_phenomena():
    """A seed's SD and the category's own SD of cells: the variances are added up."""
    formula = "p(correct, n) ~ S(category) + S(condition) + (1|phenomenon) + (1|seed)"
    formula += " + (0 + category|cell)"
    made = design.design(two_by_two(seeds=(1, 2)), formula)
    known = {"Intercept": 0.5, "S(condition)": [0.7], "1|phenomenon": [1.0, 0.0, -1.0]}
    known |= {"category|cell_sigma": np.log([0.4, 1.5]), "1|seed_sigma": np.log(0.3)}
    posterior = make_posterior(made, spread=0, **known)
    wanted = [config.Contrast(factor="condition", first="wiki", less="baby")]
    found = rows_of(contrasts.contrasts(posterior, made, wanted)[0])
    expected = {}
    for category, sd, effects in (("binding", 0.4, [0.0]), ("wanna", 1.5, [1.0, -1.0])):
        both = np.full(len(effects), np.sqrt(0.3**2 + sd**2))
        wiki, baby = (over(0.5 + sign * 0.7 + np.array(effects), both) for sign in (-1, 1))
        expected[category] = (wiki - baby).mean()
    for category, share in expected.items():
        row = found["wiki - baby", "category", category]
        assert row["share"] == pytest.approx(share, abs=1e-5)
        assert row["median"] == pytest.approx(-1.4)  # log odds are those of the average cell
    assert found["wiki - baby", "", ""]["share"] == pytest.approx(np.mean([*expected.values()]))


def table_8():
    """Counts of the 33 published models: three seeds with the mean and SD of each cell."""
    rng, rows = np.random.default_rng(1), []
    for cell in published.accuracy().filter(pl.col("level") == "phenomenon").iter_rows(named=True):
        apart = rng.permutation([-1, 0, 1]) * cell["sd"]
        filtered = cell["condition"] == "baby-f"
        for seed, off in zip((42, 53, 76), apart, strict=True):
            rows.append({
                **{name: cell[name] for name in ("condition", "size", "category", "phenomenon")},
                "learner": "gpt2", "regimen": "packed", "bias": "none", "seed": seed,
                "suite": "posh", "template": "", "lexical_set": "", "ties": 0, "n": 500,
                "correct": 500 * min(max(cell["mean"] + off, 0), 1), "filtered": filtered,
                "words": int(cell["size"][:-1]) * 10**6,
                "source": "baby" if filtered else cell["condition"],
            })  # fmt: skip
    return pl.DataFrame(rows).select(list(COUNTS)).cast(COUNTS)


def of_matched_cells(counts, first, less):
    """Return category -> mean difference over the sizes that both conditions have; "": all."""
    cell = ["size", "category", "phenomenon"]
    means = counts.group_by("condition", *cell).agg(share=(pl.col("correct") / pl.col("n")).mean())
    sides = (means.filter(condition=name).drop("condition") for name in (first, less))
    both = next(sides).join(next(sides), on=cell)
    found = dict(
        both.group_by("category").agg((pl.col("share") - pl.col("share_right")).mean()).iter_rows()
    )
    return {"": np.mean(list(found.values())), **found}


@pytest.mark.parametrize("name", ["config", "pilot"])
def test_shipped_contrasts_are_within_a_point_of_the_published_models(name):
    """33 models: what the model says of matched cells is what the models did there."""
    shipped = grid_of([CONFIGS / f"{name}.yaml"], None).models["condition"]
    counts = table_8()
    made = design.design(counts, shipped.formula, fractions=True)
    assert made.notes == []  # every coefficient is identified
    decide = approximation.Approximation(made, shipped, shipped.contrasts)
    n = made.frame["n"].to_numpy(dtype=float)
    found = decide(made.frame["correct"].to_numpy(dtype=float), n)
    assert len(decide.places) == 10
    for (contrast, place), mean in zip(decide.places, found.mean, strict=True):
        raw = of_matched_cells(counts, place.first, contrast.less)[place.level]
        assert mean == pytest.approx(raw, abs=0.01), (contrast.name, place.level)


def test_predictor_gives_bambis_linear_predictor():
    """Groups and slopes of groups included: their draws are kept in another order than coded."""
    import arviz

    formula = "p(correct, n) ~ size_z * S(condition) + (size_z + S(condition)|phenomenon)"
    made = design.design(make_counts(), formula)
    posterior = make_posterior(made)
    model = fit.build(made, config.BayesianModel(name="m", formula=formula))
    model.build()
    expected = model.predict(
        arviz.InferenceData(posterior=posterior), kind="response_params", inplace=False
    ).posterior["p"]
    predictor = Predictor(made, posterior)
    eta = predictor.linear(made.frame)
    assert 1 / (1 + np.exp(-eta)) == pytest.approx(expected.values.reshape(len(eta), -1))


def missing(counts, size="30M"):
    """Leave out what baby-f makes of a size."""
    return counts.filter((pl.col("condition") != "baby-f") | (pl.col("size") != size))


def test_a_contrast_is_taken_over_the_cells_that_both_sides_have():
    """Baby-f stops at 10M: so does what it is set against, at the slope's value there."""
    formula = "p(correct, n) ~ size_z * S(condition)"
    counts = missing(make_counts(conditions=("baby", "baby-f"), sizes=("10M", "30M")))
    made = design.design(counts, formula)
    at_10 = made.frame.loc[made.frame["size"] == "10M", "size_z"].iloc[0]
    assert at_10 < -0.5
    known = {"Intercept": 0.5, "S(condition)": [0.3], "size_z": 0.2, "size_z:S(condition)": [0.1]}
    posterior = make_posterior(made, spread=0, **known)
    wanted = [config.Contrast(factor="condition", first="baby-f", less="baby", by=[])]
    table, notes = contrasts.contrasts(posterior, made, wanted)
    assert notes == ["contrast condition: baby-f has no 30M, left out of baby"]
    row = table.row(0, named=True)
    assert row["cells"] == 1
    assert row["median"] == pytest.approx(-2 * (0.3 + 0.1 * at_10))

    def accuracy(sign):
        return 1 / (1 + np.exp(-(0.5 + 0.2 * at_10 + sign * (0.3 + 0.1 * at_10))))

    assert row["share"] == pytest.approx(accuracy(-1) - accuracy(1))


def test_what_the_subtracted_side_lacks_is_told_too():
    counts = missing(make_counts(conditions=("baby", "baby-f"), sizes=("10M", "30M")))
    made = design.design(counts, "p(correct, n) ~ size_z * S(condition)")
    wanted = [config.Contrast(factor="condition", first="baby", less="baby-f", by=[])]
    _, notes = contrasts.contrasts(make_posterior(made), made, wanted)
    assert notes == ["contrast condition: baby-f has no 30M, left out of baby"]


@pytest.mark.parametrize(("lacking", "more"), [(4, ""), (5, " and 1 more"), (6, " and 2 more")])
def test_a_note_lists_four_cells_and_counts_the_others(lacking, more):
    sizes = tuple(f"{10 * i}M" for i in range(1, 8))
    counts = make_counts(conditions=("baby", "baby-f"), sizes=sizes, seeds=(1,))
    gone = pl.col("size").is_in(sizes[:lacking]) & (pl.col("condition") == "baby-f")
    made = design.design(counts.filter(~gone), "p(correct, n) ~ size_z + S(condition)")
    wanted = [config.Contrast(factor="condition", first="baby-f", less="baby", by=[])]
    _, notes = contrasts.contrasts(make_posterior(made), made, wanted)
    said = "contrast condition: baby-f has no 10M, 20M, 30M, 40M" + more
    assert notes == [f"{said}, left out of baby"]


def test_a_level_without_a_cell_in_common_does_not_end_the_others():
    counts = missing(make_counts(conditions=("baby", "baby-f"), sizes=("10M", "30M")), "10M")
    made = design.design(counts, "p(correct, n) ~ S(size) + S(condition)")
    wanted = [config.Contrast(factor="condition", first="baby-f", less="baby", by=["size"])]
    table, notes = contrasts.contrasts(make_posterior(made), made, wanted)
    assert table.select("by", "level", "cells").rows() == [("", "", 1), ("size", "30M", 1)]
    assert notes[1:] == [
        "contrast condition left out at size 10M: baby-f and baby have no cell in common"
    ]


def test_no_difference_is_not_above_none():
    made = design.design(two_by_two(), TWO_BY_TWO)
    posterior = make_posterior(made, spread=0, **{"Intercept": 0.5})
    wanted = [config.Contrast(factor="condition", first="wiki", less="baby", by=[])]
    row = contrasts.contrasts(posterior, made, wanted)[0].row(0, named=True)
    assert (row["median"], row["share"], row["above"]) == (0, pytest.approx(0, abs=1e-15), 0)


def test_levels_without_a_cell_in_common_give_a_note():
    formula = "p(correct, n) ~ size_z + S(condition)"
    counts = make_counts(conditions=("baby", "wiki"), sizes=("10M", "30M"))
    apart = counts.filter((pl.col("condition") == "baby") == (pl.col("size") == "10M"))
    made = design.design(apart, formula)
    wanted = [config.Contrast(factor="condition", first="wiki", less="baby", by=[])]
    table, notes = contrasts.contrasts(make_posterior(made), made, wanted)
    assert table.is_empty()
    assert notes == [
        "contrast condition: wiki has no 10M, left out of baby; baby has no 30M, left out of wiki",
        "contrast condition left out: wiki and baby have no cell in common",
    ]


def test_a_size_is_not_compared_across_learners():
    """What goes with a size by design, as a learner may, would be part of the difference."""
    formula = "p(correct, n) ~ S(size) + (1|phenomenon)"
    counts = make_counts(conditions=("baby",), sizes=("10M", "30M"))
    wanted = [config.Contrast(factor="size", first="30M", less="10M", by=[])]
    same = design.design(counts, formula)
    assert contrasts.contrasts(make_posterior(same), same, wanted)[0].height == 1
    larger = pl.when(pl.col("size") == "30M").then(pl.lit("small")).otherwise("learner")
    apart = design.design(counts.with_columns(learner=larger), formula)
    table, notes = contrasts.contrasts(make_posterior(apart), apart, wanted)
    assert table.is_empty()
    assert "no cell in common" in notes[-1]


def test_what_a_partial_grid_lacks_becomes_a_note():
    made = design.design(make_counts(conditions=("baby", "baby-f"), sizes=("10M",)), MODEL)
    posterior = make_posterior(made)
    wanted = [
        config.Contrast(name="filtering", factor="condition", first="baby-f", less="baby"),
        config.Contrast(name="register", factor="condition", first="wiki", less="baby"),
        config.Contrast(name="bias", factor="bias", less="none"),
        config.Contrast(name="typo", factor="conditon", less="baby"),
        config.Contrast(name="by", factor="condition", first="baby-f", less="baby", by=["learner"]),
        config.Contrast(name="group", factor="seed", less="9"),
    ]
    table, notes = contrasts.contrasts(posterior, made, wanted)
    assert table["contrast"].to_list() == ["filtering"] * 5 + ["by"]
    assert notes == [
        "contrast register left out: condition has no level 'wiki'; known: baby, baby-f",
        "contrast bias left out: bias has one value, none",
        "contrast typo left out: unknown factor 'conditon'; did you mean 'condition'?",
        "contrast by: not by learner: learner has one value, mini",
        "contrast group left out: seed is no factor of the formula's common terms",
    ]


def test_every_other_level_is_set_against_less():
    made = design.design(make_counts(), MODEL)
    posterior = make_posterior(made)
    table, _ = contrasts.contrasts(
        posterior, made, [config.Contrast(factor="condition", less="baby", by=[])]
    )
    assert table["contrast"].to_list() == ["baby-f - baby", "wiki - baby"]
    one = config.Contrast(factor="condition", first="wiki", less="baby", by=[])
    alone = contrasts.contrasts(posterior, made, [one])[0]
    joint = ["joint_low", "joint_high"]
    assert alone.drop(joint).equals(table[1:].drop(joint))
    # One of two differences that are read side by side has the wider interval
    assert table["joint_low"][1] < alone["joint_low"][0] == alone["share_low"][0]
    assert table["joint_high"][1] > alone["joint_high"][0] == alone["share_high"][0]


def test_biases_by_category_differ_at_each_level():
    """Exp. 3: category x bias."""
    counts = pl.concat([make_counts(conditions=("baby",), bias=b) for b in ("none", "dyck")])
    made = design.design(counts, "p(correct, n) ~ S(category) * S(bias) + (1|seed)")
    posterior = make_posterior(
        made, spread=0, **{"S(bias)": [0.5], "S(category):S(bias)": [0.1, 0.2, -0.4]}
    )
    table, notes = contrasts.contrasts(
        posterior, made, [config.Contrast(factor="bias", first="dyck", less="none")]
    )
    assert notes == []
    assert table["level"].to_list() == ["", "binding", "island", "question-formation", "wanna"]
    assert table["median"].to_list() == pytest.approx([1.0, 1.2, 1.4, 0.2, 1.2])


def test_no_contrast_gives_an_empty_table():
    made = design.design(make_counts(), MODEL)
    table, notes = contrasts.contrasts(make_posterior(made), made, [])
    assert table.schema == pl.Schema(CONTRASTS)
    assert table.is_empty()
    assert notes == []
    assert "Contrast" in formats.latex(model_tables.contrasts(table, "none"))


def test_latex_names_levels_and_points():
    made = design.design(two_by_two(), TWO_BY_TWO)
    posterior = make_posterior(made, spread=0, **{"S(condition)": [0.3]})
    wanted = [config.Contrast(name="register", factor="condition", first="wiki", less="baby")]
    table, _ = contrasts.contrasts(posterior, made, wanted)
    tex = formats.latex(model_tables.contrasts(table, "m: a_b"))
    assert r"register (wiki - baby) & all & $-$0.60 & {[}$-$0.60, $-$0.60] & $-$14.9" in tex
    assert r"category: binding" in tex
    assert r"a\_b" in tex
