"""Surprisal differences of filler x gap: by hand, against scipy, and as properties."""

import math
import random

import polars as pl
import pytest
from scipy import stats

from poshgrid.benchmark.schema import PARADIGMS
from poshgrid.config import specs
from poshgrid.core import files
from poshgrid.evaluation.schema import PARADIGM_SCORES
from poshgrid.statistics.measures import paradigms
from poshgrid.statistics.measures.schema import MEASURES, PARADIGM_MEASURES, PARADIGM_RESULT
from tests.unit.statistics.scored import only

CELLS = [(True, True), (True, False), (False, True), (False, False)]
LN2 = math.log(2)


def items_of(sets, *, ambiguous=(), lexical=None):
    """Return items with as many sets; the numbers in ``ambiguous`` are."""
    rows = [
        {"item_id": f"subject-{number:04}", "category": "parasitic-gap", "phenomenon": "subject",
         "template": "subject", "lexical_set": lexical[number] if lexical else f"set{number}",
         "ambiguous": number in ambiguous, "filler": filler, "gap": gap, "text": "I know.",
         "start": 2, "end": 6}
        for number in range(sets)
        for filler, gap in CELLS
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=PARADIGMS)


def scores_of(items, bits, step=None):
    """Return scores whose surprisals are ``bits``, set by set in the order of CELLS."""
    return items.select("item_id", "filler", "gap").with_columns(
        step=pl.lit(step, dtype=pl.UInt32),
        logprob=pl.Series([-b * LN2 for of_set in bits for b in of_set], dtype=pl.Float64),
        tokens=pl.lit(1, dtype=pl.UInt32),
    ).select(list(PARADIGM_SCORES))  # fmt: skip


def measured(bits, **which):
    items = items_of(len(bits), **which)
    differences = paradigms.differences(scores_of(items, bits), items)
    table = paradigms.measures(differences)
    files.check_schema(table.schema, PARADIGM_RESULT, "measures")
    return table


def row(table, measure, subset="all"):
    return only(table, measure=measure, subset=subset)


# Surprisals in bits: +F+G, +F-G, -F+G, -F-G.
HAND = [
    [3.0, 8.0, 9.0, 7.0],  # delta +5, -2, did 7
    [4.0, 5.0, 6.0, 6.0],  # delta +1, 0 (a tie), did 1
    [6.0, 4.0, 5.0, 3.0],  # delta -2, -2, did 0 (a tie)
    [2.0, 6.0, 3.0, 9.0],  # delta +4, +6, did -2
]


def test_by_hand():
    table = measured(HAND, ambiguous={3})
    plus, minus, did = (row(table, measure) for measure in MEASURES)
    assert (plus["n"], plus["correct"], plus["ties"], plus["accuracy"]) == (4, 3.0, 0, 0.75)
    assert (minus["correct"], minus["ties"]) == (2.5, 1)  # below 0 is right without a filler
    assert (did["correct"], did["ties"], did["accuracy"]) == (2.5, 1, 0.625)
    assert [of["mean"] for of in (plus, minus, did)] == pytest.approx([2.0, 0.5, 1.5])
    # did: 7, 1, 0, -2: the squares about 1.5 add up to 45
    assert did["sd"] == pytest.approx(math.sqrt(45 / 3))
    assert did["t"] == pytest.approx(1.5 / (math.sqrt(15) / 2))
    assert did["df"] == 3
    clear = row(table, "did", "unambiguous")
    assert (clear["n"], clear["correct"]) == (3, 2.5)
    assert clear["mean"] == pytest.approx(8 / 3)
    only = row(table, "did", "ambiguous")
    assert (only["n"], only["correct"], only["mean"]) == (1, 0.0, pytest.approx(-2))
    assert only["sd"] is only["t"] is only["p_one"] is only["mean_low"] is None


def test_against_scipy():
    """The t test, its intervals and Wilson's are those of an independent implementation."""
    rng = random.Random(3)
    bits = [[rng.uniform(1, 20) for _ in CELLS] for _ in range(37)]
    values = {
        "delta_plus_filler": [b - a for a, b, _, _ in bits],
        "delta_minus_filler": [d - c for _, _, c, d in bits],
        "did": [(b - a) - (d - c) for a, b, c, d in bits],
    }
    table = measured(bits)
    for measure, sample in values.items():
        side = "less" if measure == "delta_minus_filler" else "greater"
        two, one = (stats.ttest_1samp(sample, 0, alternative=a) for a in ("two-sided", side))
        ours = row(table, measure)
        interval = two.confidence_interval(0.95)
        assert (ours["t"], ours["df"]) == (pytest.approx(two.statistic), two.df)
        assert (ours["p_two"], ours["p_one"]) == pytest.approx((two.pvalue, one.pvalue))
        assert (ours["mean_low"], ours["mean_high"]) == pytest.approx((interval.low, interval.high))
        right = sum((v < 0) if side == "less" else (v > 0) for v in sample)
        wilson = stats.binomtest(right, 37).proportion_ci(0.95, method="wilson")
        assert ours["correct"] == right
        assert (ours["low"], ours["high"]) == pytest.approx((wilson.low, wilson.high))


def test_sets_with_the_same_words_widen_the_clustered_interval():
    """Copies of a set say nothing new: Wilson's interval narrows, the clustered one does not."""
    good, bad = [1.0, 5.0, 5.0, 1.0], [5.0, 1.0, 1.0, 5.0]
    once = row(measured([good, bad] * 5), "did")
    words = [f"w{i % 10}" for i in range(100)]
    copied = row(measured([good, bad] * 50, lexical=words), "did")
    assert copied["high"] - copied["low"] < (once["high"] - once["low"]) / 2.5
    width = once["high_clustered"] - once["low_clustered"]
    assert copied["high_clustered"] - copied["low_clustered"] == pytest.approx(width, rel=1e-6)
    # by hand: shares 1, 0, ... of ten clusters, se = sd/sqrt(10), t with 9 degrees of freedom
    half = stats.t.ppf(0.975, 9) * stats.tstd([1, 0] * 5) / math.sqrt(10)
    assert width == pytest.approx(2 * half)
    alone = row(measured([good] * 3, lexical=["same"] * 3), "did")
    assert alone["low_clustered"] is None


def test_a_tie_is_half_and_equal_values_have_no_t():
    table = measured([[4.0, 4.0, 4.0, 4.0]] * 3)
    for measure in MEASURES:
        one = row(table, measure)
        assert (one["correct"], one["ties"], one["accuracy"]) == (1.5, 3, 0.5)
        assert (one["t"], one["p_one"], one["sd"]) == (None, None, 0.0)


# ---- the stage --------------------------------------------------------------------------------


def test_all_runs_are_measured_and_checkpoints_left_out(tmp_path):
    """Scores of two runs on one suite, the first with scores of a checkpoint as well."""
    items = items_of(4, ambiguous={3})
    files.write_table(items, tmp_path / "items.parquet", PARADIGMS)
    early = scores_of(items, [[1.0, 1.0, 1.0, 1.0]] * 4, step=100)
    good, bad = (scores_of(items, x) for x in (HAND, [[b, a, d, c] for a, b, c, d in HAND]))
    runs = [f"{name}/10M/gpt2-mini/packed/none/seed42" for name in ("baby", "baby_f")]
    for run, scores in zip(runs, (pl.concat([early, good]), bad), strict=True):
        files.write_table(scores, tmp_path / "scores" / run / "pg.parquet", PARADIGM_SCORES)
    written = []
    for order in (runs, runs[::-1]):
        spec = specs.MeasuresSpec(suite="pg", task="paradigms", runs=order)
        facts = paradigms.write(
            spec, tmp_path / "scores", tmp_path / "items.parquet", tmp_path / "out"
        )
        assert facts == {"sets": 4, "ties": 4}
        written.append([path.read_bytes() for path in sorted((tmp_path / "out").iterdir())])
    assert written[0] == written[1]
    table = files.read_table(tmp_path / "out" / "measures.parquet", PARADIGM_MEASURES)
    assert table.height == 2 * 3 * 3
    did = table.filter(measure="did", subset="all").select("condition", "seed", "suite", "accuracy")
    assert did.rows() == [("baby", 42, "pg", 0.625), ("baby_f", 42, "pg", 0.375)]


# ---- two subsets ---------------------------------------------------------------------------------


def test_a_subset_is_set_against_the_sets_outside_it():
    bits = [[1, 2, 2, 1] if number < 14 else [2, 1, 1, 2] for number in range(20)]
    table = measured(bits, ambiguous=range(10, 20))
    rows = {name: row(table, "did", name) for name in ("all", "unambiguous", "ambiguous")}
    assert rows["all"]["chi_square"] is rows["all"]["chi_square_all"] is None
    assert [values["correct"] for values in rows.values()] == [14, 10, 4]
    expected = stats.chi2_contingency([[10, 0], [4, 6]]).statistic
    assert rows["unambiguous"]["chi_square"] == pytest.approx(expected)
    assert rows["ambiguous"]["chi_square"] == pytest.approx(expected)
    expected = stats.chi2_contingency([[10, 0], [14, 6]]).statistic
    assert rows["unambiguous"]["chi_square_all"] == pytest.approx(expected)
    assert paradigms.yates(0, 5, 0, 4) == paradigms.yates(5, 5, 4, 4) == (None, None)
