"""Counts to design: coding, invariance to order, and formulas that the data cannot bear."""

import numpy as np
import polars as pl
import pytest

from poshgrid.config import Regression
from poshgrid.core import errors
from poshgrid.statistics import design
from poshgrid.statistics.schema import COUNTS

FORMULA = Regression(name="paper").formula
PHENOMENA = {
    "island-adjunct": "island",
    "island-wh": "island",
    "principle-a-command": "binding",
    "question-formation-sr": "question-formation",
    "wanna": "wanna",
}
CONDITIONS = {"baby": ("baby", False), "baby-f": ("baby", True), "wiki": ("wiki", False)}


def make_counts(conditions=CONDITIONS, sizes=("10M", "100M"), seeds=(9, 42), **columns):
    rows = [
        {
            "model": "mini", "recipe": "packed", "bias": "none", "suite": "posh",
            "template": "", "ties": 0, "n": 50,
            "condition": condition, "size": size, "seed": seed,
            "category": category, "phenomenon": phenomenon,
            "correct": float((7 * seed + 3 * i + len(condition)) % 50),
            "words": int(size[:-1]) * 10**6,
            "source": CONDITIONS[condition][0], "filtered": CONDITIONS[condition][1],
            **columns,
        }
        for condition in conditions
        for size in sizes
        for seed in seeds
        for i, (phenomenon, category) in enumerate(PHENOMENA.items())
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=COUNTS)


def test_contrasts_are_plus_and_minus_one():
    made = design.design(make_counts(), FORMULA)
    matrix = design.common_matrix(made.formula, made.frame)
    assert list(matrix) == [
        "Intercept", "size_z",
        "S(category)[binding]", "S(category)[island]", "S(category)[question-formation]",
        "S(filter)[yes]", "size_z:S(filter)[yes]",
        *[f"S(category)[{c}]:S(filter)[yes]" for c in ("binding", "island", "question-formation")],
        "S(source)[baby]",
    ]  # fmt: skip
    frame = made.frame
    for column, factor, codes in (
        ("S(filter)[yes]", "filter", {"yes": 1, "no": -1}),
        ("S(source)[baby]", "source", {"baby": 1, "wiki": -1}),
        ("S(category)[island]", "category", {"island": 1, "binding": 0, "wanna": -1}),
    ):
        for level, code in codes.items():
            assert set(matrix[column][frame[factor] == level]) == {code}
    assert made.notes == []


def test_order_of_rows_changes_nothing():
    counts = make_counts(sizes=("100M", "30M", "10M"))
    expected = design.design(counts, FORMULA)
    shuffled = design.design(counts.sample(fraction=1, shuffle=True, seed=1), FORMULA)
    assert shuffled.frame.equals(expected.frame)
    assert shuffled.formula == expected.formula
    levels = {"size": ["10M", "30M", "100M"], "seed": ["9", "42"], "filter": ["yes", "no"]}
    for name, known in levels.items():  # by numbers, not letters
        assert shuffled.frame[name].cat.ordered
        assert list(shuffled.frame[name].cat.categories) == known


def test_every_column_that_others_determine_is_noted():
    """Also where one that is identified follows."""
    counts = make_counts(conditions=("baby-f", "wiki"))
    formula = "p(correct, n) ~ S(filter) + S(source) + S(condition) + size_z"
    made = design.design(counts, formula)
    assert [note.split(" is ")[0] for note in made.notes] == [
        "S(source)[baby]", "S(condition)[baby-f]",
    ]  # fmt: skip


def test_size_is_z_scored_over_pairs():
    counts = make_counts().with_columns(
        n=pl.when(pl.col("size") == "10M").then(150).otherwise(50).cast(pl.UInt32)
    )
    frame = design.design(counts, FORMULA).frame
    items = np.repeat(frame["size_z"].to_numpy(), frame["n"].to_numpy())
    assert (items.mean(), items.std(ddof=1)) == pytest.approx((0, 1))


def test_size_is_that_of_the_text_and_no_stand_in_for_a_condition():
    """A filtered corpus is smaller; where all are of one size, nothing else tells size."""
    counts = make_counts().with_columns(
        words=pl.when("filtered").then(pl.col("words") * 0.9).otherwise("words").cast(pl.UInt64)
    )
    frame = design.design(counts, FORMULA).frame
    by_cell = frame.groupby(["size", "filter"], observed=True)["size_z"].first()
    assert by_cell["10M", "yes"] < by_cell["10M", "no"] < by_cell["100M", "yes"]
    made = design.design(counts.filter(size="10M"), FORMULA)
    assert set(made.frame["size_z"]) == {0.0}
    assert any("size_z left out: size_z has one value" in note for note in made.notes)


def test_half_counts_round_to_even():
    counts = make_counts()
    halves = pl.Series([0.5, 1.5, 2.5, 3.0] * (counts.height // 4))
    made = design.design(counts.with_columns(correct=halves), FORMULA)
    assert sorted(set(made.frame["correct"])) == [0, 2, 3]
    assert made.rounded == 45 and len(made.notes) == 1


def test_a_model_of_some_phenomena_sees_no_others():
    kept = pl.col("phenomenon").is_in(["island-wh", "principle-a-command"])
    made = design.design(make_counts(), FORMULA, phenomena=["island-wh", "binding"])
    expected = design.design(make_counts().filter(kept), FORMULA)
    assert made.frame.equals(expected.frame) and made.formula == expected.formula


def test_nulls_biases_and_other_suites_stay_out():
    counts = make_counts()
    other = [
        make_counts(recipe="untrained"),
        make_counts(bias="dyck"),
        make_counts(suite="blimp"),
    ]
    everything = pl.concat([counts, *other])
    assert design.design(everything, FORMULA).frame.equals(design.design(counts, FORMULA).frame)
    with_bias = design.design(everything, FORMULA + " + S(bias)")
    assert len(with_bias.frame) == 2 * counts.height
    assert "S(bias)" in with_bias.formula


def test_factors_with_one_level_leave_the_formula():
    unfiltered = design.design(make_counts(conditions=("baby", "wiki")), FORMULA)
    assert unfiltered.formula == (
        "p(correct, n) ~ 1 + size_z + S(category) + S(source) + (1|seed) + (1|phenomenon)"
    )
    assert len(unfiltered.notes) == 3  # the main effect and two interactions
    one = design.design(make_counts(conditions=("baby",), sizes=("10M",), seeds=(42,)), FORMULA)
    assert one.formula == "p(correct, n) ~ 1 + S(category) + (1|phenomenon)"
    assert any("1|seed" in note for note in one.notes)


@pytest.mark.parametrize(
    ("counts", "options", "where"),
    [
        (make_counts()[:1], {}, "counts: .*/9/island-adjunct"),
        (make_counts(bias="dyck"), {}, "counts: .* suite 'posh'"),
        (make_counts(), {"only": "seed=7"}, "counts: .*only: seed=7"),
        (make_counts(), {"suite": "posch"}, "counts: .*'posh'"),
        (make_counts(), {"phenomena": ["wannna"]}, "regressions: phenomena: .*'wanna'"),
    ],
)
def test_what_cannot_be_fitted_is_refused(counts, options, where):
    with pytest.raises(errors.PoshgridError, match=f"^{where}"):
        design.design(counts, FORMULA, **options)


@pytest.mark.parametrize(
    ("conditions", "phenomena", "kept"),
    [
        (("baby", "wiki"), None, "(0 + category:condition|cell)"),
        (("baby",), None, "(0 + category|cell)"),
        (("baby",), ["wanna"], "(1|cell)"),
    ],
)
def test_an_sd_by_level_of_a_factor_with_one_level_is_one_sd(conditions, phenomena, kept):
    formula = "p(correct, n) ~ size_z + (1|seed) + (0 + category:condition|cell)"
    made = design.design(make_counts(conditions), formula, phenomena=phenomena)
    assert made.formula == f"p(correct, n) ~ 1 + size_z + (1|seed) + {kept}"
    assert len(made.notes) == (kept != "(0 + category:condition|cell)")


def test_a_size_that_goes_with_a_model_is_noted():
    larger = pl.when(pl.col("size") == "10M").then(pl.lit("mini")).otherwise(pl.lit("small"))
    counts = make_counts().with_columns(model=larger)
    (note,) = design.design(counts, FORMULA).notes
    assert "mini at 10M; small at 100M" in note
    assert design.design(make_counts(), FORMULA).notes == []
    assert design.design(counts, f"{FORMULA} + S(model)").notes != [note]


def test_a_formula_without_an_intercept_keeps_none():
    made = design.design(make_counts(), "p(correct, n) ~ 0 + (size_z|phenomenon)")
    assert made.formula == "p(correct, n) ~ 0 + (1|phenomenon) + (0 + size_z|phenomenon)"
    assert made.notes == []
