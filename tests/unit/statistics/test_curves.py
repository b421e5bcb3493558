"""Learning curves: worked by hand, against the table of accuracies, and with planted faults."""

import json

import numpy as np
import pytest
from polars.testing import assert_frame_equal

from poshgrid.core import errors, files
from poshgrid.statistics import curves, levels
from poshgrid.statistics.schema import CURVES
from tests.unit.statistics.scored import Folder, pairs

PHENOMENA = {"island-adjunct": ("island", 20), "island-wh": ("island", 10), "wanna": ("wanna", 10)}
RUN = "baby/10M/mini/sentence/none/seed42"
BASELINE = "baby/10M/mini/untrained/none/seed42"
PER_EPOCH = 50
FACTS = {
    "parameters": 29_000_000, "vocabulary_size": 16_384, "steps_per_epoch": 250, "steps": 1_000,
    "epochs": 4.0, "best_step": 750, "stopped": "patience", "tokens": 5_120_000,
    "tokens_per_second": 345.2, "initial_dev_loss": 9.7, "dev_loss": 3.25,
    "dev_perplexity": 25.79, "test_loss": 3, "test_perplexity": 20.1, "device": "cuda",
    "threads": 1, "biases": {},
}  # fmt: skip


def trained(folder, run, **facts):
    """Write what the training of a model came to; return the run."""
    files.write_json(folder / run / "statistics.json", FACTS | facts)
    return run


class Results(Folder):
    """A results folder with a suite and runs of known outcome."""

    def model(self, run, at, losses=None, best=100, steps=200, per_epoch=PER_EPOCH):
        """Add a model and its scores: step (none: kept) -> phenomenon -> right; .5: a tie more."""
        self.add(run, {step: self.margins(right) for step, right in at.items()})
        folder = self.folder / "models" / run
        losses = losses or {0: 9.0, 100: 4.0, 200: 4.5}
        lines = [json.dumps({"step": s, "dev_loss": v}) + "\n" for s, v in losses.items()]
        files.write_text(folder / "training.jsonl", "".join(lines))
        trained(
            self.folder / "models", run, steps_per_epoch=per_epoch, steps=steps, best_step=best,
            dev_loss=losses[best], initial_dev_loss=losses.get(0, 9.0),
        )  # fmt: skip
        return self

    def margins(self, right):
        whole = {phenomenon: int(number) for phenomenon, number in right.items()}
        tied = [i for i, (p, n) in enumerate(self.order) if n == whole[p] and right[p] % 1]
        values = self.signs(whole)
        return [0 if i in tied else margin for i, margin in enumerate(values)]

    @property
    def order(self):
        return [(item[:-4], int(item[-3:])) for item in self.items["item_id"]]

    def draw(self, output="out"):
        out = self.folder / output
        self.facts = curves.curves(
            self.spec(), self.folder / "scores", self.folder / "models", self.tables, out
        )
        every = files.read_table(out / "curves.parquet", CURVES)
        return every, curves.over_seeds(every)


@pytest.fixture
def results(tmp_path):
    return Results(tmp_path, pairs(PHENOMENA))


def right(adjunct, wh, wanna):
    return {"island-adjunct": adjunct, "island-wh": wh, "wanna": wanna}


def points(rows, value="accuracy", **where):
    """Return step -> value of some rows; what was kept is marked."""
    chosen = rows.filter(**where)
    keys = [(s, "kept") if k else s for s, k in chosen.select("step", "kept").iter_rows()]
    assert len(set(keys)) == len(keys)
    return dict(zip(keys, chosen[value], strict=True))


STEPS = {50: right(10, 5, 1), 100: right(15, 5, 2.5), None: right(16, 8, 3)}


def test_worked_by_hand(results):
    results.model(RUN, STEPS)
    results.model(BASELINE, {None: right(2, 1, 10)}, losses={0: 9.5}, best=0, steps=0)
    rows, means = results.draw()
    assert results.facts == {"checkpoints": 2, "judgements": 160}
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
        curve = points(rows, **where)
        assert list(curve) == [0, 50, 100, kept]
        assert list(curve.values()) == pytest.approx([x / 100 for x in expected])
        assert points(means, "mean", **where).keys() == {0, 50, 100, (None, "kept")}
    assert rows.height == len(by_hand) * 4
    whole = {"level": "overall"}
    assert points(rows, "epoch", **whole) == {0: 0.0, 50: 1.0, 100: 2.0, kept: 2.0}
    # Step 50 was not evaluated; step 0 has the loss of the run's own initial weights.
    assert points(rows, "dev_loss", **whole) == {0: 9.0, 50: None, 100: 4.0, kept: 4.0}
    assert points(rows, "pairs", **whole)[50] == 40
    assert points(rows, "pairs", level="category", category="island")[50] == 30


def test_the_kept_rows_are_the_accuracies_of_the_target(results):
    """Of what training kept, this table and accuracy.parquet say the same."""
    results.model(RUN, STEPS).model(RUN.replace("42", "53"), STEPS | {None: right(3, 9, 7.5)})
    results.model(RUN.replace("none", "dyck"), {None: right(1, 2, 3)})
    _, means = results.draw()
    results.runs.reverse()  # the order of runs changes nothing
    assert_frame_equal(means, results.draw("again")[1])
    results.words("baby/10M", 9_990)
    *_, judged = results.judge("accuracy")
    kept = means.filter("kept").with_columns(n_pairs="pairs").drop("step", "epoch", "dev_loss")
    columns = [name for name in kept.columns if name in judged.columns]
    assert {"level", "mean", "sd", "n_seeds", "n_pairs"} <= set(columns)
    assert_frame_equal(kept.select(columns), judged.select(columns), check_row_order=False)


def test_means_and_sds_over_seeds_at_each_step(results):
    """A seed that stopped early has no later steps; what was kept stands together."""
    first = {50: right(4, 0, 0), 100: right(10, 0, 0), 200: right(20, 0, 0), None: right(8, 0, 0)}
    results.model(RUN, first, best=200)
    results.model(
        RUN.replace("42", "53"),
        {50: right(4, 0, 0), 100: right(4, 0, 0), None: right(6, 0, 0)},
        losses={50: 9.0, 100: 5.0, 150: 6.0},
        steps=150,
        per_epoch=25,
    )
    _, means = results.draw()
    one = means.filter(phenomenon="island-adjunct")
    assert one.select("kept", "step", "n_seeds").rows() == [
        (False, 50, 2), (False, 100, 2), (False, 200, 1), (True, None, 2)
    ]  # fmt: skip
    assert one["mean"].to_list() == pytest.approx([0.2, 0.35, 1.0, 0.35])
    sds = [0, np.std([0.5, 0.2], ddof=1), None, np.std([0.4, 0.3], ddof=1)]
    assert one["sd"].to_list() == [pytest.approx(sd) if sd is not None else None for sd in sds]
    assert one["epoch"].to_list() == [1.5, 3.0, 4.0, 4.0]  # kept: of steps 200 and 100
    # At step 50 one seed was not evaluated: there is no mean of the others
    assert one["dev_loss"].to_list() == [None, 4.5, 4.5, pytest.approx(4.75)]


def test_a_baseline_begins_only_the_curve_of_its_own_run(results):
    """Another model begins elsewhere; so does a run whose baseline is not asked for."""
    results.model(RUN, STEPS).model(RUN.replace("mini", "mini2"), STEPS)
    results.model(BASELINE.replace("mini", "mini2"), {None: right(0, 0, 0)})
    results.runs.pop()  # its baseline is there, but not asked for
    results.model(BASELINE, {None: right(20, 10, 10)}, losses={0: 9.5}, best=0, steps=0)
    rows, means = results.draw()
    assert set(rows.filter(step=0).select("model", "seed", "accuracy").rows()) == {
        ("mini", 42, 1.0)
    }
    assert set(rows["recipe"]) == set(means["recipe"]) == {"sentence"}


# ---- how the training went ----------------------------------------------------------------------


def test_a_row_for_each_run_and_none_for_nulls(tmp_path):
    runs = [
        trained(tmp_path, "baby/100M/small/packed/none/seed1", dev_loss=2.5, stopped="steps"),
        trained(tmp_path, "baby/10M/small/packed/none/seed10"),
        trained(tmp_path, "baby/10M/small/packed/none/seed9", parameters=3),
        "baby/10M/small/untrained/none/seed9",
        "baby/10M/ngram/counted/none/seed0",
        "pretrained/given/gpt2/pretrained/none/seed0",
    ]
    table = curves.training(levels.trained(runs), tmp_path)
    columns = ("size", "seed", "parameters", "dev_loss", "stopped", "test_loss")
    assert table.select(columns).rows() == [  # JSON wrote 3.0 as a whole number
        ("10M", 9, 3, 3.25, "patience", 3.0),
        ("10M", 10, 29_000_000, 3.25, "patience", 3.0),
        ("100M", 1, 29_000_000, 2.5, "steps", 3.0),
    ]


def test_what_is_lacking_is_named(tmp_path):
    run = trained(tmp_path, "baby/10M/m/packed/none/seed1", steps_per_epoch=None)
    with pytest.raises(errors.PoshgridError, match=r"statistics\.json: .*'steps_per_epoch'"):
        curves.training([run], tmp_path)
