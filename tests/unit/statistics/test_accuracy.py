"""Scores to accuracies: worked by hand, against numpy and scipy, and with planted faults."""

import itertools

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

from poshgrid.config import Scoring, runs, specs
from poshgrid.core import files
from poshgrid.evaluation.schema import SCORES
from poshgrid.statistics import intervals, tests
from tests.unit.statistics.scored import Folder, only, pairs

PHENOMENA = {"island-adjunct": "island", "island-wh": "island", "wanna": "wanna"}
PAIRS = 40
TRAINED = "baby/10M/mini/packed/none"
BASELINE = "baby/10M/mini/untrained/none"


class Grid(Folder):
    """A results folder with one suite and scores of known outcome."""

    def run(self, name, right, ties=0):
        """Add a run with so many right and tied pairs per phenomenon."""
        # An earlier checkpoint that got it wrong is none of the kept model's business.
        return self.add(name, {None: self.signs(right, ties), 100: [-1] * self.items.height})


@pytest.fixture
def grid(tmp_path):
    made = Grid(tmp_path, pairs({name: (kind, PAIRS) for name, kind in PHENOMENA.items()}))
    made.words("baby/10M", 9_999_123)
    return made


def same(n):
    return dict.fromkeys(PHENOMENA, n)


def test_worked_by_hand(grid):
    grid.run(f"{TRAINED}/seed42", {"island-adjunct": 30, "island-wh": 20, "wanna": 36}, ties=2)
    grid.run(f"{TRAINED}/seed53", {"island-adjunct": 34, "island-wh": 22, "wanna": 38})
    grid.run(f"{BASELINE}/seed42", same(10)).run(f"{BASELINE}/seed53", same(20))
    facts, counts, rows = grid.judge()
    first = only(counts, recipe="packed", seed=42, phenomenon="island-adjunct")
    assert (first["correct"], first["ties"], first["n"]) == (31, 2, 40)
    assert (first["words"], first["source"], first["filtered"]) == (9_999_123, "baby", False)
    assert counts.height == 4 * 3
    assert facts == {"judgements": 480, "ties": 6}

    trained = rows.filter(recipe="packed")
    wh = only(trained, phenomenon="island-wh")  # 21 and 22 of 40
    assert wh["mean"] == pytest.approx(43 / 80)
    assert wh["sd"] == pytest.approx(np.std([21 / 40, 22 / 40], ddof=1))
    assert (wh["n_seeds"], wh["n_pairs"], wh["untrained"]) == (2, 40, pytest.approx(15 / 40))
    assert wh["p_pooled"] == pytest.approx(stats.chisquare([43, 37]).pvalue)
    island = only(trained, level="category", category="island")  # 52 and 56 of 80
    assert island["mean"] == pytest.approx(108 / 160)
    assert (island["phenomenon"], island["n_pairs"]) == ("", 80)
    assert island["p_pooled"] == pytest.approx(stats.chisquare([108, 52]).pvalue)
    wanna = only(trained, level="category", category="wanna")  # 37 and 38 of 40
    # overall: mean of two categories; average: mean of three phenomena
    overall, average = only(trained, level="overall"), only(trained, level="average")
    assert overall["mean"] == pytest.approx((108 / 160 + 75 / 80) / 2)
    assert average["mean"] == pytest.approx((65 / 80 + 43 / 80 + 75 / 80) / 3)
    assert overall["sd"] == pytest.approx(
        np.std([(52 / 80 + 37 / 40) / 2, (56 / 80 + 38 / 40) / 2], ddof=1)
    )
    assert overall["p_pooled"] is None
    assert overall["stars_pooled"] == overall["stars_fisher_holm"] == ""
    # Holm within a model's categories: two tests
    p_island = tests.combine_seeds([52, 56], [80, 80])
    p_wanna = tests.combine_seeds([37, 38], [40, 40])
    assert island["p_fisher_holm"] == pytest.approx(max(p_island, 2 * p_wanna))
    assert wanna["p_fisher_holm"] == pytest.approx(2 * p_wanna)
    assert rows.filter(recipe="untrained")["untrained"].null_count() == 3 + 2 + 2
    grid.runs.reverse()  # changes no byte
    grid.judge("again")
    for name in ("counts.parquet", "accuracy.parquet", "accuracy.csv"):
        one, two = (grid.folder / folder / name for folder in ("out", "again"))
        assert one.read_bytes() == two.read_bytes()


def test_nulls_stand_beside_and_those_far_from_chance_are_named(grid):
    """A baseline of the same condition and size; 22 of 40 is 5 points from 50%, 23 is further."""
    grid.run(f"{TRAINED}/seed42", same(30)).run(f"{BASELINE}/seed42", same(22))
    grid.run(f"{BASELINE.replace('none', 'dyck')}/seed42", same(8))  # no baseline
    right = {"island-adjunct": 20, "island-wh": 23, "wanna": 17}
    grid.run("baby/10M/ngram/counted/none/seed0", right)
    grid.run("baby/10M/unigram/counted/none/seed0", same(0), ties=PAIRS)
    grid.run("baby/10M/class_ngram/counted/none/seed0", {**right, "wanna": 22})
    *_, rows = grid.judge()
    baselines_of = {
        row["phenomenon"]: tuple(row[column] for column in (*runs.BASELINES, "far"))
        for row in rows.filter(recipe="packed", level="phenomenon").iter_rows(named=True)
    }
    assert baselines_of == {
        "island-adjunct": (0.55, 0.5, 0.5, 0.5, ""),
        "island-wh": (0.55, 0.5, 0.575, 0.575, "ngram, class_ngram"),
        "wanna": (0.55, 0.5, 0.425, 0.55, "ngram"),
    }
    baselines = rows.filter(pl.col("recipe") != "packed").select(runs.BASELINES)
    assert all(baselines.drop_nulls(baseline).is_empty() for baseline in runs.BASELINES)


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_both_reductions_stand_beside_each_other(grid, reduction):
    """-10.5 / 6 is more than -10 / 5, and -10.5 is less than -10."""
    run = f"{TRAINED}/seed42"
    grid.run(run, same(30)).run(f"{TRAINED}/seed53", same(20))
    path = grid.folder / "scores" / run / "posh.parquet"
    wanna = pl.col("item_id").str.starts_with("wanna")
    longer = pl.read_parquet(path).with_columns(
        good_tokens=pl.when(wanna).then(6).otherwise(5).cast(pl.UInt32),
        good_logprob=pl.when(wanna).then(-10.5).otherwise("good_logprob"),
    )
    files.write_table(longer, path, SCORES)
    *_, rows = grid.judge(scoring=Scoring(reduction=reduction))
    assert rows["mean"].equals(rows[f"mean_{reduction}"].rename("mean"))
    wanna = only(rows, phenomenon="wanna")
    assert wanna["mean_mean"] == pytest.approx((1 + 20 / 40) / 2)
    assert wanna["mean_sum"] == pytest.approx((0 + 20 / 40) / 2)
    assert wanna["low"] < wanna["mean"] < wanna["high"]
    overall = only(rows, level="overall")
    assert overall["mean_sum"] == pytest.approx((50 / 80 + 10 / 40) / 2)
    assert overall["mean_mean"] == pytest.approx((50 / 80 + 30 / 40) / 2)


# ---- the bootstrap over lexical sets -------------------------------------------------------------


def sums_of(rows, correct, seeds=None):
    """Sums of (category, phenomenon, lexical_set, n) x points named a, b, ..."""
    columns = ["category", "phenomenon", "lexical_set", "n"]
    sets = pl.DataFrame(rows, schema=columns, orient="row")
    sets = sets.with_columns(level=pl.lit("phenomenon"), part=pl.lit(""))
    correct = np.atleast_2d(np.asarray(correct, float).T).T
    names = [f"point{i}" for i in range(correct.shape[1])]
    points = pl.DataFrame({"condition": names, "seeds": seeds or [1] * len(names)})
    return intervals.SetSums("s", sets, points, correct)


def bounds(sums, *, point="point0", **options):
    rows = intervals.bootstrap(sums, **options).filter(condition=point)
    return {
        (level, phenomenon or category): (low, high)
        for level, category, phenomenon, low, high in rows.select(
            "level", "category", "phenomenon", "low", "high"
        ).iter_rows()
    }


def drawn(level, groups):
    """Return the accuracies of every way to draw sets: [[[(correct, n), ...], ...], ...]."""

    def ways(stratum):
        return [
            tuple(map(sum, zip(*draw, strict=True)))
            for draw in itertools.product(stratum, repeat=len(stratum))
        ]

    strata = [ways(stratum) for category in groups for stratum in category]
    sizes = [len(category) for category in groups]
    for draw in itertools.product(*strata):
        ways_of = iter(draw)
        categories = [[next(ways_of) for _ in range(size)] for size in sizes]
        if level == "average":
            yield np.mean([c / n for category in categories for c, n in category])
        else:
            yield np.mean([sum(c for c, _ in cat) / sum(n for _, n in cat) for cat in categories])


@pytest.mark.parametrize("level", ["phenomenon", "category", "overall", "average"])
def test_bootstrap_is_that_of_all_ways_to_draw(level):
    """The distribution is worked out whole: 2.5% of it lies below low, and 2.5% above high."""
    groups = [[[(1, 1), (0, 2), (2, 3)], [(1, 2), (2, 2), (0, 1)]], [[(3, 4), (1, 1), (0, 2)]]]
    of_level = {"phenomenon": [[groups[0][0]]], "category": [groups[0]]}
    rows, correct = [], []
    for c, category in enumerate(groups):
        for p, stratum in enumerate(category):
            for s, (right, n) in enumerate(stratum):
                rows.append((f"c{c}", f"c{c}p{p}", f"s{s}", n))
                correct.append(right)
    name = {"phenomenon": "c0p0", "category": "c0"}.get(level, "")
    low, high = bounds(sums_of(rows, correct), replicates=20_000)[level, name]
    every = np.array(list(drawn(level, of_level.get(level, groups))))
    slack = 4 * np.sqrt(0.025 * 0.975 / 20_000)
    assert (every < low - 1e-9).mean() <= 0.025 + slack
    assert (every <= low + 1e-9).mean() >= 0.025 - slack
    assert (every > high + 1e-9).mean() <= 0.025 + slack
    assert (every >= high - 1e-9).mean() >= 0.025 - slack
    assert low < high


def test_all_points_see_the_same_draws():
    generator = np.random.default_rng(7)
    rows = [(category, phenomenon, f"s{i:03}", 4)
            for category, phenomenon in (("one", "a"), ("one", "b"), ("two", "c"))
            for i in range(60)]  # fmt: skip
    correct = generator.binomial(4, generator.beta(1.4, 0.6, (len(rows), 1)))
    bounds = intervals.bootstrap(sums_of(rows, np.hstack([correct, 4 - correct, correct])))
    one, mirror, again = (bounds.filter(condition=f"point{i}").drop("condition") for i in range(3))
    assert one.equals(again)
    mirrored = mirror.with_columns(low=1 - pl.col("high"), high=1 - pl.col("low"))
    assert_frame_equal(one, mirrored)
    alone = intervals.bootstrap(sums_of(rows, correct))  # the same as without the others
    assert alone.drop("condition").equals(one)


def test_one_set_leaves_all_that_it_enters_unknown():
    rows = [("x", "a", "s0", 2), ("x", "b", "s0", 1), ("x", "b", "s1", 1), ("y", "c", "s0", 1),
            ("y", "c", "s1", 1)]  # fmt: skip
    ends = bounds(sums_of(rows, [1, 1, 0, 1, 0]))
    unknown = {key for key, value in ends.items() if value == (None, None)}
    assert unknown == {("phenomenon", "a"), ("category", "x"), ("overall", ""), ("average", "")}
    assert ends["phenomenon", "b"] == ends["category", "y"] == (0, 1)


def test_words_are_those_that_were_trained_on(grid):
    """Two conditions of one size have their own; of a pretrained model nobody knows."""
    other = TRAINED.replace("baby/", "baby-f/")
    grid.run(f"{TRAINED}/seed42", same(10)).run(f"{other}/seed42", same(10))
    grid.run("pretrained/given/gpt2/pretrained/none/seed0", same(30))
    words = {"baby/10M": 9_999_123, "baby-f/10M": 9_402_000, "pretrained/given": 0}
    cells = {
        cell: specs.Cell(words=number and 10_000_000, source="baby", filtered=False)
        for cell, number in words.items()
    }
    grid.words("baby-f/10M", 9_402_000)
    for table in grid.judge(cells=cells)[1:]:
        rows = table.select("condition", "size", "words").unique().iter_rows()
        assert {f"{c}/{s}": number for c, s, number in rows} == words
