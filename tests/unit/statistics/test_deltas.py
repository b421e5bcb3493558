"""What filtering changes: added up by hand, against scipy and a plain loop, and with faults."""

import math
import statistics
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from scipy import stats

from poshgrid.config import Scoring, specs
from poshgrid.core import files
from poshgrid.statistics.deltas import MARGINS, OF_SUITES, by_condition, deltas, differences
from poshgrid.statistics.deltas import tests as paired_tests
from poshgrid.statistics.schema import DELTA_TESTS, DELTAS, PERPLEXITY
from tests.cases import read_cases
from tests.unit.statistics.scored import Folder, only, pairs

FULL = {"wiki~a": "wiki", "wiki~b": "wiki"}
AIMS = {"wiki~a": ["A-1"], "wiki~b": ["b_1", "elsewhere"]}  # spelled otherwise than in the suite
FOUR = {"a_1": ("x", 2), "b-1": ("y", 2)}  # phenomenon -> category, pairs


class Results(Folder):
    """Scores of runs on a suite, given as margins: log P(good) - log P(bad) of each pair."""

    def __init__(self, folder, phenomena=FOUR):
        super().__init__(folder, pairs(phenomena), ("blimp",))
        self.perplexity = {}

    def run(self, run, margins, tokens=(5, 5)):
        """Add a run: one margin for each pair, and a checkpoint that must not be read."""
        self.add(run, {None: margins, 100: [-98.0] * len(margins)}, tokens)

    def read(self, run, perplexity):
        """Say how a run reads unfiltered text."""
        path = self.folder / "perplexity" / f"{run}.json"
        files.write_json(path, {
            "tested": "wiki", "sentences": 3, "words": 20, "tokens": 40, "nats": 40.0, "loss": 1.0,
            "perplexity": perplexity, "word_perplexity": perplexity, "windowed": 0,
        })  # fmt: skip
        self.perplexity[run] = path

    def draw(self, full=FULL, aims=AIMS, **scoring):
        out = self.folder / "out"
        spec = specs.DeltasSpec(
            scoring=Scoring(**scoring),
            runs=self.runs,
            full=full,
            targets=aims,
            perplexity=sorted(self.perplexity),
        )
        self.facts = deltas(spec, self.folder / "scores", self.tables, self.perplexity, out)
        return (
            files.read_table(out / "deltas.parquet", DELTAS),
            files.read_table(out / "delta_tests.parquet", DELTA_TESTS),
        )


@pytest.fixture
def results(tmp_path):
    return Results(tmp_path)


def name(condition, model, seed, size="10M", recipe="fict", bias="none"):
    return f"{condition}/{size}/{model}/{recipe}/{bias}/seed{seed}"


HAND = read_cases(__file__, "deltas")


@pytest.fixture
def hand(results):
    for model, conditions in HAND["margins"].items():
        for condition, seeds in conditions.items():
            for seed, margins in enumerate(seeds):
                run = name(condition, model, seed)
                results.run(run, margins)
                results.read(run, HAND["perplexity"][model][condition] + seed - 1)
    return results


def shares(values):
    """Return numbers that are written as fractions."""
    return [float(Fraction(value)) for value in values]


def test_deltas_by_hand(hand):
    rows, _ = hand.draw()
    assert hand.facts["alone"] == []
    named = rows.with_columns(at=pl.when(phenomenon="").then("level").otherwise("phenomenon"))
    for condition, model, at, column, expected in HAND["deltas"]:
        value = only(named, condition=condition, model=model, at=at)[column]
        assert value == pytest.approx(float(Fraction(expected))), (condition, model, at, column)
    spread = only(named, condition="wiki~a", model="lstm", at="a_1")["delta_sd"]
    assert spread == pytest.approx(statistics.stdev([0.5, 0, 0]))
    assert set(rows["full"]) == {"wiki"}
    assert set(rows.select("n_seeds", "n_seeds_full").rows()) == {(3, 3)}
    aimed = rows.filter("targeted").select("condition", "level", "phenomenon").unique()
    assert set(aimed.rows()) == {("wiki~a", "phenomenon", "a_1"), ("wiki~b", "phenomenon", "b-1")}
    above = rows.filter(pl.col("level") != "phenomenon")
    assert above.select("margin", "margin_full", "r").null_count().row(0) == (above.height,) * 3


def test_comparisons_by_hand(hand):
    _, tests = hand.draw()
    assert set(tests["axis"]) == {"model"}  # one bias, one recipe: nothing to compare
    assert set(tests.select("first", "second").rows()) == {("gpt", "lstm")}

    # Good members have -10 and their margin, over five tokens each
    read = {
        model: [
            statistics.mean(math.exp((10 - sum(margins) / 4) / 5) for margins in seeds)
            for seeds in conditions.values()
        ]
        for model, conditions in HAND["margins"].items()
    }
    pairs = HAND["comparisons"] | {"suite perplexity": [read["gpt"], read["lstm"]]}
    for measure, compared in pairs.items():
        gpt, lstm = map(shares, compared)
        row = only(tests, measure=measure)
        means = pytest.approx((np.mean(gpt), np.mean(lstm)))
        assert (row["pairs"], (row["mean_first"], row["mean_second"])) == (len(gpt), means)
        test = stats.ttest_rel(gpt, lstm)
        alike = np.ptp(np.subtract(gpt, lstm)) < 1e-9  # no t
        known = (None,) * 3 if alike else (len(gpt) - 1, test.statistic, test.pvalue)
        assert (row["df"], row["t"], row["p"]) == pytest.approx(known)
        r = np.corrcoef(gpt, lstm)[0, 1] if len(gpt) > 2 else None
        assert row["r"] == (r if r is None else pytest.approx(r))


def test_targets_are_averaged_within_a_filter_first(tmp_path):
    """Nine phenomena of one filter weigh as much as one of another."""
    phenomena = {f"a_{i}": ("x", 1) for i in range(9)} | {"b": ("y", 1)}
    results = Results(tmp_path, phenomena)
    aims = {"wiki~a": [f"a_{i}" for i in range(9)], "wiki~b": ["b"]}
    for model in ("gpt", "lstm"):
        results.run(name("wiki", model, 1), [1] * 10)
        results.run(name("wiki~a", model, 1), [-1] * 9 + [1])
        results.run(name("wiki~b", model, 1), [1] * 10)
    rows, tests = results.draw(aims=aims)
    assert rows.filter("targeted")["delta"].mean() == pytest.approx(-0.9)
    assert only(tests, measure="targeted delta")["mean_first"] == pytest.approx(-0.5)
    within = by_condition(rows).filter(model="gpt")
    assert within.select("condition", "targets", "targeted", "every").rows() == [
        ("wiki~a", 9, -1.0, pytest.approx(-0.9)),
        ("wiki~b", 1, 0.0, 0.0),
    ]


def test_margins_are_means_over_seeds_of_sums_and_judgements_as_scoring_says(tmp_path):
    results = Results(tmp_path, {"a_1": ("x", 4)})
    before = [[1, 2, 3, 9], [3, 2, 5, -3]]  # means 2, 2, 4, 3
    after = [[0, 1, 7, -1], [2, 1, -1, 5]]  # means 1, 1, 3, 2: the same, one lower
    for seed in (0, 1):  # a good member of 3 tokens is less probable by the token
        results.run(name("wiki", "gpt", seed), before[seed], tokens=(3, 5))
        results.run(name("wiki~a", "gpt", seed), after[seed], tokens=(3, 5))
    for reduction, change in (("sum", (5.5 - 7) / 8), ("mean", (1 - 1) / 8)):
        rows, _ = results.draw(reduction=reduction, full={"wiki~a": "wiki"}, aims={})
        row = rows.filter(level="phenomenon").to_dicts()[0]
        assert (row["margin_full"], row["margin"]) == (2.75, 1.75)
        assert row["r"] == pytest.approx(1)
        assert row["delta"] == change
    assert not rows["targeted"].any()


def test_only_what_is_otherwise_alike_is_compared(results):
    """A filtered model of another size, model or bias than any full one has no delta."""
    up, down, mixed = [1, 1, 1, 1], [-1, -1, -1, -1], [1, -1, 1, 1]
    for condition, model, size, margins in (
        ("wiki", "gpt", "10M", up), ("wiki", "gpt", "30M", down), ("wiki~a", "gpt", "10M", mixed),
        ("wiki~a", "gpt", "30M", mixed), ("wiki~a", "lstm", "10M", up),
    ):  # fmt: skip
        results.run(name(condition, model, 0, size=size), margins)
    rows, tests = results.draw()
    changes = rows.filter(level="average").select("size", "model", "delta").rows()
    assert changes == [("10M", "gpt", -0.25), ("30M", "gpt", 0.75)]
    assert results.facts["alone"] == ["wiki~a/10M/lstm/fict/none"]
    # One condition that both models have: means, and no test.
    line = tests.filter(measure="accuracy", axis="model").to_dicts()[0]
    assert (line["pairs"], line["mean_first"], line["mean_second"]) == (1, 0.75, 1)
    assert [line[key] for key in ("t", "df", "p", "r")] == [None] * 4
    assert rows["delta_sd"].null_count() == rows.height  # one seed


@pytest.fixture(scope="module")
def authors(shared):
    """FiCT's accuracies as judgements of ours: 16 corpora, two architectures, five seeds."""
    table = pl.read_csv(shared / "published/fict/tidy_results.csv")
    axes = {"size": "100M", "recipe": "fict", "bias": "none", "suite": "blimp", "category": "c"}
    rows = table.select(
        condition="corpus",
        model="arch",
        seed=pl.col("seed").cast(pl.UInt32),
        phenomenon="blimp_benchmark",
        accuracy="blimp_acc",
        level=pl.lit("phenomenon"),
    ).with_columns(pl.lit(value).alias(axis) for axis, value in axes.items())
    keys = ["condition", "model", "seed", *(axis for axis in axes if axis != "category")]
    average = (
        rows.group_by(keys)
        .agg(pl.col("accuracy").mean())
        .with_columns(level=pl.lit("average"), category=pl.lit(""), phenomenon=pl.lit(""))
    )
    accuracy = pl.concat([rows, average.select(rows.columns)])
    aims = table.filter("filter_target").select("corpus", "blimp_benchmark").unique()
    spec = specs.DeltasSpec(
        scoring=Scoring(),
        runs=[],
        full={c: "full" for c in table["corpus"].unique() if c != "full"},
        targets={c: part["blimp_benchmark"].to_list() for (c,), part in aims.group_by("corpus")},
    )
    none = pl.DataFrame(schema=MARGINS)
    return table, accuracy, differences(accuracy, none, spec)


def test_the_authors_deltas_of_fict(authors):
    table, _, rows = authors
    ours = rows.filter(level="phenomenon")
    theirs = (
        table.filter(pl.col("corpus") != "full")
        .group_by(condition="corpus", model="arch", phenomenon="blimp_benchmark")
        .agg(theirs=pl.col("blimp_delta_all_seed_avg").mean(), aimed=pl.first("filter_target"))
    )
    both = ours.join(theirs, on=["condition", "model", "phenomenon"])
    assert both.height == 15 * 2 * 67
    assert (both["delta"] - both["theirs"]).abs().max() < 1e-12
    assert (both["targeted"] == both["aimed"]).all()


@pytest.mark.parametrize(
    ("measure", "pairs", "means", "t", "p"),
    [
        ("accuracy", 16, (70.4, 71.9), -17.38, 0.0),  # section 5.2
        ("targeted accuracy", 15, (66.7, 68.8), -1.18, 0.258),
        ("corpus delta", 16, (-0.393, 0.0313), -5.10, 0.0),  # section 5.3: the full corpus counts
        ("targeted delta", 15, (-5.42, -4.62), -0.562, 0.583),
    ],
)
def test_the_authors_tests_of_fict(authors, measure, pairs, means, t, p):
    _, accuracy, rows = authors
    none = (pl.DataFrame(schema=schema) for schema in (PERPLEXITY, OF_SUITES))
    tests = paired_tests(rows, accuracy, {"full"}, *none)
    (row,) = tests.filter(measure=measure).to_dicts()
    assert (row["first"], row["second"], row["pairs"]) == ("lstm", "transformer", pairs)
    assert (100 * row["mean_first"], 100 * row["mean_second"]) == pytest.approx(
        means, abs=0.051 if "acc" in measure else 0.006
    )
    assert row["t"] == pytest.approx(t, abs=0.006)
    assert row["p"] == pytest.approx(p, abs=6e-4)
