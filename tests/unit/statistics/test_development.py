"""When a phenomenon is first learned: worked by hand, and with planted curves."""

import numpy as np
import polars as pl
import pytest

from poshgrid.config.specs import Cell
from poshgrid.statistics import curves, development, verdicts
from poshgrid.statistics.schema import ACCURACY, COUNTS, CURVES
from tests.cases import read_cases

WORDS = (10_000_000, 30_000_000, 100_000_000)
MEANS = curves.over_seeds(pl.DataFrame(schema=CURVES)).schema
HALF = 0.03  # of the intervals of these accuracies
AXES = {"model": "m", "recipe": "packed", "bias": "none", "suite": "s", "category": "c"}


def accuracy(curves, rival=0.5, models=("m", "m", "m")):
    """Return the accuracies of (condition, phenomenon) -> a mean for each of ``WORDS``."""
    rows = [
        {
            **AXES, "condition": condition, "size": f"{words // 1_000_000}M", "words": words,
            "model": model, "level": "phenomenon", "phenomenon": phenomenon, "part": "",
            "mean": mean, "n_seeds": 3, "n_pairs": 200, "rival": "ngram", "rival_mean": rival,
            "above_rival": mean - rival, "above_rival_low": mean - rival - HALF,
            "above_rival_high": mean - rival + HALF,
            "learned": "not testable" if rival >= 0.95 else "cannot tell",
        }
        for (condition, phenomenon), means in curves.items()
        for words, model, mean in zip(WORDS, models, means, strict=False)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=ACCURACY)


def onsets(rows, curves=(), counts=()):
    curves = pl.DataFrame(list(curves), schema=MEANS)
    counts = pl.DataFrame(list(counts), schema=COUNTS)
    return development.onsets(development.points(rows, curves, counts))


def one(*tables):
    (row,) = onsets(*tables).to_dicts()
    return row


@pytest.mark.parametrize(
    ("means", "status", "low", "high", "crosses"), read_cases(__file__, "onsets")
)
def test_an_interval_ends_at_points_that_are_sure(means, status, low, high, crosses):
    row = one(accuracy({("a", "p"): means}))
    assert row["status"] == status
    ends = [None if row[end] is None else row[end] / 1e6 for end in ("low", "high")]
    assert ends == [low, high]
    assert (row["onset"] is not None) == crosses
    assert (row["points"], row["first"], row["last"]) == (3, 10e6, 100e6)
    if means[0] == 0.45:  # the line crosses 50% a third of the way in log words
        assert row["onset"] == pytest.approx(10e6 * 3 ** (1 / 3))


@pytest.mark.parametrize(
    ("solved", "status", "low", "high"),
    [(0, "by", None, 30), (1, "within", 10, 100), (2, "within", 10, 30)],
)
def test_a_point_that_cannot_be_tested_says_nothing(solved, status, low, high):
    """At it a model is below its rival, whatever it has learned."""
    rows = accuracy({("a", "p"): (0.40, 0.70, 0.90)})
    here = pl.col("words") == WORDS[solved]
    ends = {"learned": "not testable", "above_rival": -0.2, "above_rival_low": -0.3,
            "above_rival_high": -0.1}  # fmt: skip
    rows = rows.with_columns(
        pl.when(here).then(pl.lit(value)).otherwise(pl.col(name)).alias(name)
        for name, value in ends.items()
    )
    row = one(rows)
    assert row["status"] == status
    assert [row[end] and row[end] / 1e6 for end in ("low", "high")] == [low, high]


def test_what_cannot_be_tested_or_compared_has_no_ends():
    means = {("a", "p"): (0.4, 0.7, 0.96)}
    full = one(accuracy(means, rival=verdicts.SOLVED))
    assert (full["status"], full["low"], full["high"], full["onset"]) == (
        "not testable", None, None, None)  # fmt: skip
    bare = accuracy(means).with_columns(above_rival_low=None, above_rival_high=None)
    alone = one(bare.cast(pl.Schema(ACCURACY)))
    assert (alone["status"], alone["low"], alone["high"]) == ("cannot tell", None, None)
    assert alone["onset"] == pytest.approx(one(accuracy(means))["onset"])
    for rows in (
        accuracy({("a", "p"): (0.4,)}),
        accuracy(means).with_columns(level=pl.lit("category")),
        accuracy(means).with_columns(recipe=pl.lit("untrained")),
        accuracy(means).with_columns(rival_mean=pl.lit(None, pl.Float64)),
    ):
        assert onsets(rows).is_empty()


def test_sizes_of_one_model_each_are_one_curve():
    rows = accuracy({("a", "p"): (0.4, 0.7, 0.9)}, models=("mini", "small", "small"))
    row = one(rows)
    assert (row["model"], row["size"], row["high"]) == ("mini, small", "", 30e6)
    # Two models at a size: a curve for each that has two sizes
    both = pl.concat([rows, rows.filter(size="30M").with_columns(model=pl.lit("mini"))])
    assert onsets(both)["model"].to_list() == ["mini", "small"]


def checkpoints(means, seeds=(3, 3, 3, 3)):
    points = zip((0, 10, 20, None), (0.0, 0.5, 1.0, 9.0), means, seeds, strict=True)
    return [
        {
            **AXES, "condition": "a", "size": "10M", "level": "phenomenon", "phenomenon": "p",
            "kept": step is None, "step": step, "epoch": epoch, "mean": mean, "n_seeds": n,
            "pairs": 200,
        }
        for step, epoch, mean, n in points
    ]  # fmt: skip


def counts(right, recipe="packed"):
    """Return what each seed has right of 200 pairs."""
    return [
        {**AXES, "condition": "a", "size": "10M", "recipe": recipe, "seed": seed,
         "phenomenon": "p", "template": "p", "correct": number, "n": 200}
        for seed, number in enumerate(right)
    ]  # fmt: skip


def test_checkpoints_are_counted_in_words_seen():
    rows, seeds = accuracy({("a", "p"): (0.9,)}), counts([176.0, 180.0, 184.0])
    # Neither step 0 nor what was kept is a point
    row = one(rows, checkpoints((0.9, 0.2, 0.9, 0.1)), seeds)
    assert (row["over"], row["size"], row["points"]) == ("checkpoints", "10M", 2)
    assert (row["status"], row["low"], row["high"]) == ("within", 5e6, 10e6)
    # A step that not all seeds reached is no point; one seed, or untrained ones, tell no spread
    assert onsets(rows, checkpoints((0.9, 0.2, 0.9, 0.1), (3, 3, 2, 3)), seeds).is_empty()
    for few in (counts([180.0]), counts([176.0, 180.0, 184.0], "untrained")):
        assert one(rows, checkpoints((0.9, 0.2, 0.9, 0.1)), few)["status"] == "cannot tell"


def test_seeds_of_checkpoints_vary_as_those_of_kept_weights():
    """Its interval is that of a comparison with their variance, pairs standing for sets."""
    rows = accuracy({("a", "p"): (0.9,)}).with_columns(rival=pl.lit(verdicts.COIN))
    seeds = counts([150.0, 180.0, 190.0])
    tables = (pl.DataFrame(rows_, schema=schema) for rows_, schema in (
        (checkpoints((0.5, 0.6, 0.8, 0.9)), MEANS), (seeds, COUNTS)))  # fmt: skip
    points = development.points(rows, *tables)
    logits = np.log([150.5 / 50.5, 180.5 / 20.5, 190.5 / 10.5])
    spread = verdicts.moderated({("c", "p"): [logits]})["c", "p"]
    for point, mean in zip(points.to_dicts(), (0.6, 0.8), strict=True):
        share = (200 * mean + 1) / 202
        sets = verdicts.Variance(share * (1 - share) / 200, 199)
        known = verdicts.Comparison(0.5, mean - 0.5, sets, [spread.of_mean(3)])
        assert (point["low"], point["high"]) == pytest.approx(known.interval(), abs=1e-5)
        assert point["above"] == pytest.approx(mean - 0.5)


CELLS = {
    name: Cell(words=1, source=source, filtered=filtered)
    for name, source, filtered in (
        ("full/10M", "base", False), ("less/10M", "base", True), ("less/30M", "base", False),
        ("other/10M", "wiki", False), ("gone/10M", "wiki", True),
    )
}  # fmt: skip


def test_conditions_that_differ_in_filtering_or_register_are_compared():
    rows = onsets(accuracy({
        ("full", "p"): (0.40, 0.70, 0.90), ("less", "p"): (0.40, 0.45, 0.90),
        ("other", "p"): (0.70, 0.80, 0.90), ("gone", "p"): (0.40, 0.45, 0.45),
        ("unknown", "p"): (0.4, 0.7, 0.9),
    }))  # fmt: skip
    by_pair = {row[0:2]: row[2:] for row in development.ratios(rows, CELLS).select(
        "condition", "than", "ratio", "low", "high").iter_rows()}  # fmt: skip
    assert by_pair.keys() == {("less", "full"), ("other", "full"), ("gone", "other")}
    at = dict(rows.select("condition", "onset").iter_rows())
    assert by_pair["less", "full"] == pytest.approx((at["less"] / at["full"], 1, 10))
    assert by_pair["other", "full"] == (None, None, 1)  # by 10M; after 10M
    assert by_pair["gone", "other"] == (None, 10, None)
    assert development.ratios(rows, {}).is_empty()
    solved = rows.with_columns(status=pl.when(condition="full").then(pl.lit("not testable"))
                               .otherwise("status"))  # fmt: skip
    left = development.ratios(solved, CELLS)
    assert left.select("condition", "than").rows() == [("gone", "other")]
