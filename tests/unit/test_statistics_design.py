"""Counts to design: coding, invariance to order, and formulas that the data cannot bear."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poshgrid import errors
from poshgrid.config import BayesianModel
from poshgrid.statistics import design
from poshgrid.statistics.schema import COUNTS

FORMULA = BayesianModel(name="paper").formula
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
            "condition": condition,
            "size": size,
            "learner": "mini",
            "regimen": "packed",
            "bias": "none",
            "seed": seed,
            "suite": "posh",
            "category": category,
            "phenomenon": phenomenon,
            "correct": float((7 * seed + 3 * i + len(condition)) % 50),
            "ties": 0,
            "n": 50,
            "words": int(size[:-1]) * 10**6,
            "source": CONDITIONS[condition][0],
            "filtered": CONDITIONS[condition][1],
            **columns,
        }
        for condition in conditions
        for size in sizes
        for seed in seeds
        for i, (phenomenon, category) in enumerate(PHENOMENA.items())
    ]
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
    assert set(matrix["S(filter)[yes]"][frame["filter"] == "yes"]) == {1}
    assert set(matrix["S(filter)[yes]"][frame["filter"] == "no"]) == {-1}
    assert set(matrix["S(source)[baby]"][frame["source"] == "baby"]) == {1}
    assert set(matrix["S(source)[baby]"][frame["source"] == "wiki"]) == {-1}
    categories = matrix[[c for c in matrix if c.startswith("S(category)[") and ":" not in c]]
    assert (categories[frame["category"] == "wanna"] == -1).all().all()  # the implicit one
    assert set(categories["S(category)[island]"][frame["category"] == "island"]) == {1}
    assert set(categories["S(category)[island]"][frame["category"] == "binding"]) == {0}
    assert made.notes == []


@given(st.randoms(use_true_random=False))
def test_order_of_rows_changes_nothing(random):
    counts = make_counts()
    order = list(range(counts.height))
    random.shuffle(order)
    expected, found = design.design(counts, FORMULA), design.design(counts[order], FORMULA)
    assert found.frame.equals(expected.frame)
    assert found.formula == expected.formula
    for name in ("category", "filter", "source", "seed", "size"):
        levels = found.frame[name].cat
        assert levels.ordered
        assert list(levels.categories) == list(expected.frame[name].cat.categories)


def test_levels_follow_numbers_not_letters():
    made = design.design(make_counts(sizes=("100M", "30M", "10M"), seeds=(42, 9)), FORMULA)
    assert list(made.frame["size"].cat.categories) == ["10M", "30M", "100M"]
    assert list(made.frame["seed"].cat.categories) == ["9", "42"]


def test_size_is_z_scored_over_pairs():
    counts = make_counts().with_columns(
        n=pl.when(pl.col("size") == "10M").then(150).otherwise(50).cast(pl.UInt32)
    )
    frame = design.design(counts, FORMULA).frame
    items = np.repeat(frame["size_z"].to_numpy(), frame["n"].to_numpy())
    assert items.mean() == pytest.approx(0)
    assert items.std(ddof=1) == pytest.approx(1)
    assert len(set(frame["size_z"].round(9))) == 2


def test_half_counts_round_to_even():
    counts = make_counts().with_columns(
        correct=pl.Series([0.5, 1.5, 2.5, 3.0] * (make_counts().height // 4))
    )
    made = design.design(counts, FORMULA)
    assert sorted(set(made.frame["correct"])) == [0, 2, 3]
    assert made.rounded == 45
    assert made.frame["correct"].dtype == np.int64
    assert "45 counts" in made.notes[-1]


def test_nulls_biases_and_other_suites_stay_out():
    counts = make_counts()
    other = [
        make_counts(regimen="untrained"),
        make_counts(bias="dyck"),
        make_counts(suite="blimp"),
    ]
    everything = pl.concat([counts, *other])
    assert design.design(everything, FORMULA).frame.equals(design.design(counts, FORMULA).frame)
    with_bias = design.design(everything, FORMULA + " + S(bias)")
    assert len(with_bias.frame) == 2 * counts.height
    assert "S(bias)" in with_bias.formula


def test_factors_with_one_level_leave_the_formula():
    one_source = design.design(make_counts(conditions=("baby", "baby-f")), FORMULA)
    assert "source" not in one_source.formula
    assert one_source.notes == ["term S(source) left out: source has one value, baby"]

    unfiltered = design.design(make_counts(conditions=("baby", "wiki")), FORMULA)
    assert unfiltered.formula == (
        "p(correct, n) ~ 1 + size_z + S(category) + S(source) + (1|seed) + (1|phenomenon)"
    )
    assert len(unfiltered.notes) == 3  # the main effect and two interactions

    smallest = design.design(
        make_counts(conditions=("baby",), sizes=("10M",), seeds=(42,)), FORMULA
    )
    assert smallest.formula == "p(correct, n) ~ 1 + S(category) + (1|phenomenon)"
    assert any("1|seed" in note for note in smallest.notes)
    assert any("size_z left out" in note for note in smallest.notes)


def test_confounded_factors_are_noted():
    made = design.design(make_counts(conditions=("baby-f", "wiki")), FORMULA)
    assert made.notes == [
        "S(source)[baby] is not identified: earlier terms determine it; only its prior is"
    ]


def test_random_slopes_survive():
    made = design.design(make_counts(), "p(correct, n) ~ size_z + (size_z|seed)")
    assert made.formula == "p(correct, n) ~ 1 + size_z + (1|seed) + (0 + size_z|seed)"


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("p(correct, n) ~ sise_z", "did you mean 'size_z'"),
        ("correct ~ size_z", "must begin with"),
        ("p(correct, n) ~ (size_z", "cannot be read"),
    ],
)
def test_faulty_formulas(formula, message):
    with pytest.raises(errors.PoshgridError, match=message) as caught:
        design.design(make_counts(), formula)
    assert "\n" not in str(caught.value)


def test_nothing_to_fit():
    with pytest.raises(errors.PoshgridError, match="nothing to fit"):
        design.design(make_counts(regimen="untrained"), FORMULA)
