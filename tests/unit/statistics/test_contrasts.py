"""Marginal contrasts: hand-worked ones, and brute force by bambi's own predictions."""

import numpy as np
import polars as pl
import pytest
import xarray

from poshgrid import config
from poshgrid.statistics import contrasts, design, fit
from poshgrid.statistics.predictor import Predictor
from tests.unit.statistics.test_design import PHENOMENA, make_counts

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
        inner = [f"{effect}__expr_dim"] if term.kind in ("categoric", "interaction") else []
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


def test_against_draws_by_numpy():
    """Of every draw the difference, and the share over phenomena; then medians and quantiles."""
    made = design.design(make_counts(), TWO_BY_TWO)
    posterior = make_posterior(made)
    categories = sorted(set(PHENOMENA.values()))
    wanted = [config.Contrast(factor="condition", first="wiki", less="baby")]
    rows = rows_of(contrasts.contrasts(posterior, made, wanted)[0])

    def drawn(name):  # one column for each code, or phenomenon
        return posterior[name].values.reshape(80, -1)

    def codes(level, levels):  # of S(): the last level is minus one everywhere
        at = levels.index(level)
        return -np.ones(len(levels) - 1) if at == len(levels) - 1 else np.eye(len(levels) - 1)[at]

    def eta(condition, category):
        one, two = codes(condition, ["baby", "baby-f", "wiki"]), codes(category, categories)
        linear = drawn("Intercept")[:, 0] + drawn("S(category)") @ two + drawn("S(condition)") @ one
        return linear + drawn("S(category):S(condition)") @ np.outer(two, one).ravel()

    names = posterior["phenomenon__factor_dim"].values
    effects = dict(zip(names, drawn("1|phenomenon").T, strict=True))
    parts = {}
    for category in categories:
        wiki, baby = (eta(condition, category) for condition in ("wiki", "baby"))
        own = np.array([effects[name] for name, of in PHENOMENA.items() if of == category])
        accuracies = [(1 / (1 + np.exp(-(side + own)))).mean(axis=0) for side in (wiki, baby)]
        parts[category] = (wiki - baby, accuracies[0] - accuracies[1])
    parts[""] = tuple(np.mean([parts[c][i] for c in categories], axis=0) for i in (0, 1))
    for level, (difference, share) in parts.items():
        row = rows["wiki - baby", "category" if level else "", level]
        assert row["median"] == pytest.approx(np.median(difference))
        assert row["above"] == (difference > 0).mean()
        tail = 0.025 / (len(categories) if level else 1)
        quantiles = np.quantile(share, [tail, 0.025, 0.5, 0.975, 1 - tail])
        columns = ("joint_low", "share_low", "share", "share_high", "joint_high")
        assert [row[column] for column in columns] == pytest.approx(quantiles)
        assert (row["first"], row["less"], row["cells"]) == ("wiki", "baby", 2)  # both sizes
    counts = made.frame.assign(rate=made.frame["correct"] / made.frame["n"])
    rates = counts.groupby(["category", "condition"], observed=True)["rate"].mean().unstack()
    raw = (rates["wiki"] - rates["baby"]).to_dict()
    raw[""] = np.mean([raw[category] for category in categories])  # categories count alike
    for level, difference in raw.items():
        row = rows["wiki - baby", "category" if level else "", level]
        assert row["raw"] == pytest.approx(difference)


def test_a_contrast_of_categories_is_taken_over_their_own_phenomena():
    made = design.design(two_by_two(), TWO_BY_TWO)
    known = {"Intercept": 0.5, "S(category)": [0.2], "1|phenomenon": [1.0, 0.0, -1.0]}
    posterior = make_posterior(made, spread=0, **known)
    wanted = [config.Contrast(factor="category", first="binding", less="wanna", by=["category"])]
    (row,) = contrasts.contrasts(posterior, made, wanted)[0].to_dicts()
    assert (row["contrast"], row["median"]) == ("binding - wanna", pytest.approx(0.4))
    share = 1 / (1 + np.exp(-0.7)) - np.mean(1 / (1 + np.exp(-(0.3 + np.array([1.0, -1.0])))))
    assert row["share"] == pytest.approx(share)


def test_a_family_is_what_is_read_side_by_side():
    """Two biases: two intervals overall, and two for each of three categories."""

    overall = [contrasts.Slice(x, "", "", None, None, 1) for x in ("dyck", "recency")]
    parts = [
        contrasts.Slice(x, "category", y, None, None, 1) for x in ("dyck", "recency") for y in "abc"
    ]
    assert contrasts.tails([*overall, *parts]) == [0.0125] * 2 + [0.025 / 6] * 6
    assert contrasts.tails(overall[:1]) == [contrasts.TAIL]


def over(eta, sd):
    """Return accuracies over a group whose effects have an SD: the trapezoidal heuristic."""
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
    rows = rows_of(contrasts.contrasts(posterior, made, wanted)[0])
    expected = {}
    for category, sd, effects in (("binding", 0.4, [0.0]), ("wanna", 1.5, [1.0, -1.0])):
        both = np.full(len(effects), np.sqrt(0.3**2 + sd**2))
        wiki, baby = (over(0.5 + sign * 0.7 + np.array(effects), both) for sign in (-1, 1))
        expected[category] = (wiki - baby).mean()
    for category, share in expected.items():
        row = rows["wiki - baby", "category", category]
        assert row["share"] == pytest.approx(share, abs=1e-5)
        assert row["median"] == pytest.approx(-1.4)  # log odds are those of the average cell
    assert rows["wiki - baby", "", ""]["share"] == pytest.approx(np.mean([*expected.values()]))


def test_predictor_gives_bambis_linear_predictor():
    """Groups and slopes of groups included: their draws are kept in another order than coded."""
    import arviz

    formula = "p(correct, n) ~ size_z * S(condition) + (size_z + S(condition)|phenomenon)"
    made = design.design(make_counts(), formula)
    posterior = make_posterior(made)
    model = fit.build(made, config.Regression(name="m", formula=formula))
    model.build()
    expected = model.predict(
        arviz.InferenceData(posterior=posterior), kind="response_params", inplace=False
    ).posterior["p"]
    predictor = Predictor(made, posterior)
    eta = predictor.linear(made.frame)
    assert 1 / (1 + np.exp(-eta)) == pytest.approx(expected.values.reshape(len(eta), -1))


def test_an_effect_of_a_cell_is_one_number_or_one_for_each_level():
    """Of the combinations of cell and category only those of the cell itself enter."""
    formula = "p(correct, n) ~ S(condition) + (0 + category:condition|cell)"
    made = design.design(make_counts(), formula)
    whole = make_posterior(made)
    name = "category:condition|cell"
    levels = whole[f"{name}"].dims[2]
    frame = made.frame[["category", "condition"]].astype(str).agg(", ".join, axis=1)
    known = sorted({*frame})
    own = [
        known.index(frame[made.frame["cell"] == cell].iloc[0])
        for cell in whole[name][whole[name].dims[3]].values
    ]
    one = whole.drop_vars(name).assign(
        {name: whole[name].isel({levels: xarray.DataArray(own, dims=whole[name].dims[3])})}
    )
    assert one[name].ndim == 3
    expected = Predictor(made, whole).linear(made.frame)
    assert Predictor(made, one).linear(made.frame) == pytest.approx(expected)


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
    assert notes == ["contrast condition: baby-f lacks 1 cell of baby (30M), left out"]
    row = table.row(0, named=True)
    assert row["cells"] == 1
    assert row["median"] == pytest.approx(-2 * (0.3 + 0.1 * at_10))

    def accuracy(sign):
        return 1 / (1 + np.exp(-(0.5 + 0.2 * at_10 + sign * (0.3 + 0.1 * at_10))))

    assert row["share"] == pytest.approx(accuracy(-1) - accuracy(1))


def test_the_raw_difference_is_that_of_the_matched_cells_and_their_words():
    """At 10M seeds have .3 and .5 against .2; cells at 30M, which baby-f lacks, are left out."""
    counts = make_counts(conditions=("baby-f", "baby"), sizes=("10M", "30M"))
    right = pl.when(condition="baby").then(10).when(seed=9).then(15).otherwise(25).cast(pl.Float64)
    words = pl.when(condition="baby-f").then(8_000_000).otherwise("words").cast(pl.UInt64)
    far = pl.when(size="30M").then(50.0).otherwise(right)
    made = design.design(missing(counts.with_columns(correct=far, words=words)), MODEL)
    wanted = [config.Contrast(factor="condition", first="baby-f", less="baby")]
    table, _ = contrasts.contrasts(make_posterior(made), made, wanted)
    assert table["raw"].to_list() == pytest.approx([0.2] * 5)
    assert set(table["words_first"]) == {8_000_000} and set(table["words_less"]) == {10_000_000}


def test_a_size_is_not_compared_across_models():
    """What goes with a size by design, as a model may, would be part of the difference."""
    counts = make_counts(conditions=("baby",), sizes=("10M", "30M"))
    larger = pl.when(pl.col("size") == "30M").then(pl.lit("small")).otherwise("model")
    wanted = [config.Contrast(factor="size", first="30M", less="10M", by=[])]
    for rows, height in ((counts, 1), (counts.with_columns(model=larger), 0)):
        made = design.design(rows, "p(correct, n) ~ S(size) + (1|phenomenon)")
        table, notes = contrasts.contrasts(make_posterior(made), made, wanted)
        assert table.height == height
        assert ("no cell in common" in " ".join(notes)) == (height == 0)


def test_every_other_level_is_compared_with_less():
    made = design.design(make_counts(), MODEL)
    wanted = [config.Contrast(factor="condition", less="baby", by=[])]
    table, _ = contrasts.contrasts(make_posterior(made), made, wanted)
    assert table.select("contrast", "first", "less").rows() == [
        ("baby-f - baby", "baby-f", "baby"), ("wiki - baby", "wiki", "baby")
    ]  # fmt: skip
