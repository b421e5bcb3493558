"""Learning curves: worked by hand, against the table of accuracies, and with planted faults."""

import json
import shutil

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from poshgrid import errors, files
from poshgrid.benchmark.schema import ITEMS
from poshgrid.config import Scoring
from poshgrid.evaluation.schema import SCORES
from poshgrid.grid import specs
from poshgrid.statistics import accuracy, curves, judgements, levels
from poshgrid.statistics.schema import ACCURACY, COUNTS, CURVES, CURVES_MEAN

PHENOMENA = {"island-adjunct": ("island", 20), "island-wh": ("island", 10), "wanna": ("wanna", 10)}
RUN = "baby/10M/mini/sentence/none/seed42"
NULL = "baby/10M/mini/untrained/none/seed42"
PER_EPOCH = 50


class Results:
    """A results folder with suites of the same pairs and runs of known outcome."""

    def __init__(self, folder, suites=("posh",)):
        self.folder, self.runs, self.suites = folder, [], suites
        self.items = pl.DataFrame(
            [
                {
                    "item_id": f"{phenomenon}-{i:03}", "category": category,
                    "phenomenon": phenomenon, "template": "t", "lexical_set": f"set{i // 2}",
                    "contrast": "c", "good": "a", "bad": "b",
                }
                for phenomenon, (category, n) in PHENOMENA.items()
                for i in range(n)
            ],
            schema=ITEMS,
        )  # fmt: skip
        for suite in suites:
            files.write_table(self.items, self.path_of(suite), ITEMS)

    def path_of(self, suite):
        return self.folder / f"{suite}.items.parquet"

    def scores(self, run, suite="posh"):
        return self.folder / "scores" / run / f"{suite}.parquet"

    def write(self, run, at, suite="posh"):
        """Write scores: step (none: kept) -> phenomenon -> pairs right; .5: one tie more."""
        rows = []
        for step, right in at.items():
            for phenomenon, (_, n) in PHENOMENA.items():
                for i in range(n):
                    margin = 1 if i < int(right[phenomenon]) else -1
                    margin *= not (i == int(right[phenomenon]) and right[phenomenon] % 1)
                    rows.append((f"{phenomenon}-{i:03}", step, -10.0 + margin, -10.0, 5, 5))
        frame = pl.DataFrame(rows, schema=SCORES, orient="row")
        # The order of rows must not matter.
        files.write_table(
            frame.sample(fraction=1, shuffle=True, seed=1), self.scores(run, suite), SCORES
        )

    def add(self, run, at, losses=None, best=100, steps=200, per_epoch=PER_EPOCH):
        """Add a model, and its scores on every suite."""
        for suite in self.suites:
            self.write(run, at, suite)
        folder = self.folder / "models" / run
        losses = losses or {0: 9.0, 100: 4.0, 200: 4.5}
        files.write_text(
            folder / "training.jsonl",
            "".join(json.dumps({"step": s, "dev_loss": v}) + "\n" for s, v in losses.items()),
        )
        files.write_json(folder / "statistics.json", {
            "parameters": 1000, "vocabulary_size": 99, "steps_per_epoch": per_epoch,
            "steps": steps, "epochs": steps / per_epoch, "best_step": best, "stopped": "steps",
            "tokens": 9, "tokens_per_second": 1.5, "initial_dev_loss": losses.get(0, 9.0),
            "dev_loss": losses[best], "dev_perplexity": 2.0, "test_loss": 1.0,
            "test_perplexity": 3.0, "device": "cpu",
        })  # fmt: skip
        self.runs.append(run)
        return self

    def spec(self, **scoring):
        return specs.JudgementSpec(
            scoring=Scoring(**scoring),
            tolerance=0.05,
            runs=self.runs,
            cells={"baby/10M": specs.Cell(words=10_000_000, source="baby", filtered=False)},
        )

    def draw(self, output="out", **scoring):
        items = {suite: self.path_of(suite) for suite in self.suites}
        out = self.folder / output
        spec, scores = self.spec(**scoring), self.folder / "scores"
        self.facts = curves.curves(spec, scores, self.folder / "models", items, out)
        return (
            files.read_table(out / "curves.parquet", CURVES),
            files.read_table(out / "curves_mean.parquet", CURVES_MEAN),
        )


@pytest.fixture
def results(tmp_path):
    return Results(tmp_path)


def right(adjunct, wh, wanna):
    return {"island-adjunct": adjunct, "island-wh": wh, "wanna": wanna}


def points(rows, value="accuracy", **where):
    """Return step -> value of some rows; what was kept is marked."""
    found = rows.filter(**where)
    keys = [(s, "kept") if k else s for s, k in found.select("step", "kept").iter_rows()]
    assert len(set(keys)) == len(keys)
    return dict(zip(keys, found[value], strict=True))


STEPS = {50: right(10, 5, 1), 100: right(15, 5, 2.5), None: right(16, 8, 3)}


def test_worked_by_hand(results):
    results.add(RUN, STEPS)
    results.add(NULL, {None: right(2, 1, 10)}, losses={0: 9.5}, best=0, steps=0)
    rows, means = results.draw()
    assert results.facts == {"runs": 1, "suites": ["posh"], "checkpoints": 2, "judgements": 160}
    assert set(rows.select("condition", "size", "learner", "regimen", "bias", "seed").rows()) == {
        ("baby", "10M", "mini", "sentence", "none", 42)
    }
    kept = (100, "kept")
    by_hand = {  # at step 100 wanna has two right pairs and a tie, of ten
        ("phenomenon", "island", "island-adjunct"): [10, 50, 75, 80],
        ("phenomenon", "island", "island-wh"): [10, 50, 50, 80],
        ("phenomenon", "wanna", "wanna"): [100, 10, 25, 30],
        ("category", "island", ""): [10, 50, 200 / 3, 80],  # of all its thirty pairs
        ("category", "wanna", ""): [100, 10, 25, 30],
        ("overall", "", ""): [55, 30, (200 / 3 + 25) / 2, 55],
        ("average", "", ""): [40, 110 / 3, 50, 190 / 3],
    }
    for (level, category, phenomenon), expected in by_hand.items():
        where = {"level": level, "category": category, "phenomenon": phenomenon}
        found = points(rows, **where)
        assert list(found) == [0, 50, 100, kept]
        assert list(found.values()) == pytest.approx([x / 100 for x in expected])
        one = means.filter(**where)
        assert one["mean"].to_list() == pytest.approx([x / 100 for x in expected])
        assert one["step"].to_list() == [0, 50, 100, None]
        assert one["sd"].null_count() == 4 and one["n_seeds"].to_list() == [1] * 4
    assert rows.height == len(by_hand) * 4
    whole = {"level": "overall"}
    assert points(rows, "epoch", **whole) == {0: 0.0, 50: 1.0, 100: 2.0, kept: 2.0}
    # Step 50 was not evaluated; step 0 has the loss of the run's own initial weights.
    assert points(rows, "dev_loss", **whole) == {0: 9.0, 50: None, 100: 4.0, kept: 4.0}
    assert points(rows, "pairs", **whole)[50] == 40
    assert points(rows, "pairs", level="category", category="island")[50] == 30


def test_the_kept_rows_are_the_accuracies_of_the_target(results):
    """Of what training kept, this table and accuracy.parquet say the same, seed by seed."""
    results.add(RUN, STEPS).add(RUN.replace("42", "53"), STEPS | {None: right(3, 9, 7.5)})
    results.add(RUN.replace("none", "dyck"), {None: right(1, 2, 3)})
    rows, means = results.draw()
    items = {"posh": results.path_of("posh")}
    out = results.folder / "accuracy"
    conditions = results.folder / "conditions"
    for cell in results.spec().cells:
        statistics = {"splits": {"train": {"words": 9_990}}}
        files.write_json(conditions / cell / "statistics.json", statistics)
    accuracy.accuracy(results.spec(), results.folder / "scores", items, conditions, out)
    judged = files.read_table(out / "accuracy.parquet", ACCURACY)
    on = ["condition", "size", "learner", "regimen", "bias", "suite", "level", "category",
          "phenomenon"]  # fmt: skip
    kept = means.filter("kept").with_columns(n_pairs="pairs")
    columns = [*on, "mean", "sd", "n_seeds", "n_pairs"]
    assert_frame_equal(kept.select(columns), judged.select(columns), check_row_order=False)
    counts = files.read_table(out / "counts.parquet", COUNTS)
    again = levels.by_level(counts, [*on[:6], "seed"])
    mine = rows.filter("kept").select(*on, "seed", accuracy=pl.col("accuracy"))
    assert_frame_equal(again.select(mine.columns), mine, check_row_order=False)


def test_means_and_sds_over_seeds_at_each_step(results):
    """A seed that stopped early has no later steps; what was kept stands together."""
    results.add(RUN, {100: right(10, 0, 0), 200: right(20, 0, 0), None: right(8, 0, 0)}, best=200)
    results.add(
        RUN.replace("42", "53"),
        {100: right(4, 0, 0), None: right(6, 0, 0)},
        losses={100: 5.0, 150: 6.0},
        steps=150,
    )
    _, means = results.draw()
    one = means.filter(phenomenon="island-adjunct")
    assert one.select("kept", "step", "n_seeds").rows() == [
        (False, 100, 2), (False, 200, 1), (True, None, 2)
    ]  # fmt: skip
    assert one["mean"].to_list() == pytest.approx([0.35, 1.0, 0.35])
    sds = [np.std([0.5, 0.2], ddof=1), None, np.std([0.4, 0.3], ddof=1)]
    assert one["sd"].to_list() == [pytest.approx(sds[0]), None, pytest.approx(sds[2])]
    assert one["epoch"].to_list() == [2.0, 4.0, 3.0]  # kept: of steps 200 and 100
    assert one["dev_loss"].to_list() == pytest.approx([4.5, 4.5, 4.75])


def test_a_loss_that_one_seed_lacks_is_no_mean_of_the_others(results):
    results.add(RUN, STEPS).add(
        RUN.replace("42", "53"), STEPS, losses={50: 5.0, 100: 3.0}, per_epoch=25
    )
    rows, means = results.draw()
    assert points(means, "dev_loss", level="overall") == {50: None, 100: 3.5, (None, "kept"): 3.5}
    assert points(rows, "epoch", level="overall", seed=53)[50] == 2.0
    assert points(means, "epoch", level="overall")[50] == 1.5


def test_a_null_begins_only_the_curve_of_its_own_run(results):
    """Another seed, learner or bias begins elsewhere: so does a run whose null is not asked for."""
    others = [RUN.replace("seed42", "seed53"), RUN.replace("none", "dyck"),
             RUN.replace("mini", "mini2")]  # fmt: skip
    for name in (RUN, *others):
        results.add(name, STEPS)
    results.write(NULL.replace("mini", "mini2"), {None: right(0, 0, 0)})  # there, but not asked for
    results.add(NULL, {None: right(20, 10, 10)}, losses={0: 9.5}, best=0, steps=0)
    rows, means = results.draw()
    null = rows.filter(step=0)
    assert set(null.select("learner", "regimen", "bias", "seed").rows()) == {
        ("mini", "sentence", "none", 42)
    }
    assert set(null["accuracy"]) == {1.0}
    assert set(rows["regimen"]) == set(means["regimen"]) == {"sentence"}
    assert results.facts["runs"] == 4


def test_runs_without_checkpoints_give_what_was_kept(results):
    results.add(RUN, {None: right(10, 5, 5)})
    rows, means = results.draw()
    assert rows.height == means.height == 3 + 2 + 2
    assert rows["kept"].all() and set(rows["accuracy"]) == {0.5}
    assert set(rows["step"]) == {100} and means["step"].null_count() == means.height
    assert results.facts["checkpoints"] == 0


def test_a_target_without_trained_runs_has_empty_tables(results):
    given_model = "pretrained/given/gpt2/pretrained/none/seed0"
    results.runs.append(given_model)
    rows, means = results.draw()
    assert rows.is_empty() and means.is_empty()


def test_suites_and_sizes_stand_in_order(tmp_path):
    results = Results(tmp_path, suites=("zorro", "blimp"))
    runs = ["baby/100M/m/packed/none/seed9", "baby/10M/m/packed/none/seed10",
            "baby/10M/m/packed/none/seed9"]  # fmt: skip
    for run in runs:
        results.add(run, STEPS)
    results.write(runs[0], STEPS | {100: right(0, 0, 0)}, suite="zorro")
    rows, means = results.draw()
    order = rows.select("size", "seed", "suite").unique(maintain_order=True).rows()
    assert order == [(size, seed, suite) for size, seed in (("10M", 9), ("10M", 10), ("100M", 9))
                     for suite in ("blimp", "zorro")]  # fmt: skip
    assert means["size"].unique(maintain_order=True).to_list() == ["10M", "100M"]
    place = {"size": "100M", "level": "overall"}
    assert points(rows, suite="zorro", **place)[100] == 0
    assert points(rows, suite="blimp", **place)[100] > 0
    levels_of = rows.filter(size="10M", seed=9, suite="blimp")["level"].unique(maintain_order=True)
    assert levels_of.to_list() == ["phenomenon", "category", "overall", "average"]


def test_the_same_bytes_whatever_the_order_of_runs(results):
    for run in (RUN, RUN.replace("42", "53"), RUN.replace("none", "dyck")):
        results.add(run, STEPS)
    results.draw("one")
    results.runs.reverse()
    results.draw("two")
    names = sorted(path.name for path in (results.folder / "one").iterdir())
    assert names == [f"{n}.{kind}" for n in ("curves", "curves_mean", "training")
                     for kind in ("csv", "parquet")]  # fmt: skip
    for name in names:
        one, two = (results.folder / folder / name for folder in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()


def test_scoring_decides_as_it_does_for_accuracies(results):
    """By the sum a longer good member loses; by the mean it wins."""
    rows = [(i, s, -12.0, -10.0, 6, 4) for i in results.items["item_id"] for s in (100, None)]
    results.add(RUN, STEPS)
    files.write_table(pl.DataFrame(rows, schema=SCORES, orient="row"), results.scores(RUN), SCORES)
    assert set(results.draw(reduction="mean")[0]["accuracy"]) == {1.0}
    assert set(results.draw(reduction="sum")[0]["accuracy"]) == {0.0}


# ---- faults ------------------------------------------------------------------------------------


def spoil(results, change):
    path = results.scores(RUN)
    files.write_table(change(files.read_table(path, SCORES)), path, SCORES)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda t: t.filter(~((pl.col("step") == 50) & (pl.col("item_id") == "wanna-004"))),
            "posh.parquet: step 50: 1 of 40 pairs have no score, first 'wanna-004'",
        ),
        (
            lambda t: t.filter(pl.col("step").is_not_null()),
            "posh.parquet: 40 of 40 pairs have no score",
        ),
        (
            lambda t: pl.concat([t, t.filter(pl.col("step") == 100).head(1)]),
            "posh.parquet: step 100: item_id '.*' occurs twice",
        ),
        (
            lambda t: t.with_columns(
                item_id=pl.when((pl.col("step") == 50) & (pl.col("item_id") == "wanna-004"))
                .then(pl.lit("wanna-999"))
                .otherwise("item_id")
            ),
            "posh.parquet: step 50: 1 of 40 pairs have no score, first 'wanna-004'",
        ),
        (
            lambda t: pl.concat([
                t, t.filter(pl.col("step") == 50).head(1).with_columns(item_id=pl.lit("new"))
            ]),
            "posh.parquet: step 50: 1 scored pairs are not in the suite, first 'new'",
        ),
        (
            lambda t: t.with_columns(
                good_logprob=pl.when(pl.col("step") == 50)
                .then(float("nan"))
                .otherwise("good_logprob")
            ),
            "posh.parquet: step 50: 40 pairs have a score that is not a number",
        ),
        (
            lambda t: pl.concat([t, t.filter(pl.col("step") == 50).with_columns(
                step=pl.lit(201, dtype=pl.UInt32))]),
            "scores of step 201, but .*statistics.json says that the run took 200",
        ),
    ],
)  # fmt: skip
def test_faults_of_scores_are_named_and_nothing_is_written(results, change, words):
    results.add(RUN, STEPS)
    spoil(results, change)
    with pytest.raises(errors.PoshgridError, match=words):
        results.draw()
    assert not (results.folder / "out").exists()


@pytest.mark.parametrize("lost", ["scores", "models"])
def test_missing_files_are_named(results, lost):
    results.add(RUN, STEPS)
    shutil.rmtree(results.folder / lost)
    with pytest.raises(errors.PoshgridError, match=f"{lost}.*: not found; run the rule"):
        results.draw()


def test_an_unknown_step_is_told_with_those_that_are_known(results):
    results.add(RUN, STEPS)
    path = results.scores(RUN)
    assert judgements.steps(path) == [50, 100]
    with pytest.raises(errors.PoshgridError, match=r"step 75: no such step \(steps: 50, 100\)"):
        judgements.judged(path, results.items, Scoring(), 75)


def test_a_damaged_page_of_scores_is_an_error_for_people(results):
    """The footer and the column of steps are whole; the scores are not."""
    results.add(RUN, STEPS)
    path = results.scores(RUN)
    import pyarrow.parquet

    group = pyarrow.parquet.ParquetFile(path).metadata.row_group(0)
    column = next(c for c in map(group.column, range(6)) if c.path_in_schema == "good_logprob")
    begin = column.dictionary_page_offset or column.data_page_offset
    content = bytearray(path.read_bytes())
    content[begin : begin + column.total_compressed_size] = b"x" * column.total_compressed_size
    path.write_bytes(content)
    with pytest.raises(errors.PoshgridError, match=r"posh\.parquet: not a parquet table"):
        judgements.judged(path, results.items, Scoring(), 50)


# ---- properties ----------------------------------------------------------------------------------

CELLS = st.dictionaries(
    st.tuples(st.integers(0, 2), st.integers(0, 3)),
    st.tuples(st.integers(0, 6), st.integers(1, 6)).map(lambda p: (min(p), max(p))),
    min_size=1,
)


@given(CELLS)
def test_levels_agree_with_plain_arithmetic(cells):
    rows = [("r", f"c{c}", f"c{c}p{p}", float(k), n) for (c, p), (k, n) in cells.items()]
    schema = {"run": pl.String, "category": pl.String, "phenomenon": pl.String,
              "correct": pl.Float64, "n": pl.UInt32}  # fmt: skip
    found = {
        row[1:4]: row[4]
        for row in levels.by_level(pl.DataFrame(rows, schema=schema, orient="row"), ["run"])
        .select("run", "level", "category", "phenomenon", "accuracy")
        .rows()
    }
    categories = {}
    for _, c, _, k, n in rows:
        categories.setdefault(c, []).append((k, n))
    shares = {c: sum(k for k, _ in v) / sum(n for _, n in v) for c, v in categories.items()}
    expected = {("phenomenon", c, p): k / n for _, c, p, k, n in rows}
    expected |= {("category", c, ""): share for c, share in shares.items()}
    expected["overall", "", ""] = sum(shares.values()) / len(shares)
    expected["average", "", ""] = sum(k / n for *_, k, n in rows) / len(rows)
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        assert found[key] == pytest.approx(value)
