"""The table of training: what each run's folder says, in the order of the grid, and its faults."""

import json

import polars as pl
import pytest

from poshgrid import errors, files
from poshgrid.statistics import training
from poshgrid.statistics.schema import TRAINED

FACTS = {
    "parameters": 29_000_000, "vocabulary_size": 16_384, "steps_per_epoch": 250, "steps": 1_000,
    "epochs": 4.0, "best_step": 750, "stopped": "patience", "tokens": 5_120_000,
    "tokens_per_second": 345.2, "initial_dev_loss": 9.7, "dev_loss": 3.25,
    "dev_perplexity": 25.79, "test_loss": 3, "test_perplexity": 20.1, "device": "cuda",
    "threads": 1, "biases": {},
}  # fmt: skip


def model(folder, run, **facts):
    files.write_json(folder / run / "statistics.json", FACTS | facts)
    return run


def test_a_row_for_each_run_and_none_for_nulls(tmp_path):
    runs = [
        model(tmp_path, "baby/100M/small/packed/none/seed1", dev_loss=2.5, stopped="steps"),
        model(tmp_path, "baby/10M/small/packed/none/seed10"),
        model(tmp_path, "baby/10M/small/packed/none/seed9", parameters=3),
        model(tmp_path, "baby/10M/mini/sentence/dyck+recency/seed9"),
        "baby/10M/small/untrained/none/seed9",
        "baby/10M/ngram/counted/none/seed0",
        "pretrained/given/gpt2/pretrained/none/seed0",
    ]
    table = training.training(runs, tmp_path, tmp_path / "out")
    assert table.select("size", "learner", "regimen", "bias", "seed").rows() == [
        ("10M", "mini", "sentence", "dyck+recency", 9),
        ("10M", "small", "packed", "none", 9),
        ("10M", "small", "packed", "none", 10),
        ("100M", "small", "packed", "none", 1),
    ]
    assert table["parameters"].to_list() == [29_000_000, 3, 29_000_000, 29_000_000]
    assert table["dev_loss"].to_list() == [3.25, 3.25, 3.25, 2.5]
    assert table["stopped"].to_list() == ["patience"] * 3 + ["steps"]
    assert table["test_loss"].to_list() == [3.0] * 4  # JSON wrote a whole number
    for key, value in FACTS.items():
        if key in TRAINED:
            assert table[key][0] == value
    assert files.read_table(tmp_path / "out/training.parquet", TRAINED).equals(table)
    again = pl.read_csv(tmp_path / "out/training.csv")
    assert (again.height, again.columns) == (4, list(TRAINED))


def test_the_order_of_runs_is_not_that_of_the_spec(tmp_path):
    runs = [model(tmp_path, f"{c}/10M/m/packed/none/seed{s}") for c in "ba" for s in (2, 1)]
    there, back = (training.training(r, tmp_path, tmp_path / "out") for r in (runs, runs[::-1]))
    assert there.equals(back)
    assert there["condition"].to_list() == ["a", "a", "b", "b"]


@pytest.mark.parametrize(
    ("facts", "words"),
    [({"steps_per_epoch": None}, "'steps_per_epoch'"), ({"dev_loss": None}, "'dev_loss'")],
)
def test_what_is_lacking_is_named(tmp_path, facts, words):
    run = model(tmp_path, "baby/10M/m/packed/none/seed1", **facts)
    with pytest.raises(errors.PoshgridError, match=f"statistics.json: no {words}.*train the run"):
        training.training([run], tmp_path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_evaluations_are_read_as_written(tmp_path):
    path = tmp_path / "training.jsonl"
    lines = [{"step": 0, "dev_loss": 9.5}, {"step": 10, "dev_loss": 4.25}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + "\n", encoding="utf-8")
    assert training.evaluations(path) == lines
