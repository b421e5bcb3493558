"""The table of training: what each run's folder says, in the order of the grid, and its faults."""

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
        "baby/10M/small/untrained/none/seed9",
        "baby/10M/ngram/counted/none/seed0",
        "pretrained/given/gpt2/pretrained/none/seed0",
    ]
    table = training.training(runs, tmp_path, tmp_path / "out")
    columns = ("size", "seed", "parameters", "dev_loss", "stopped", "test_loss")
    assert table.select(columns).rows() == [  # JSON wrote 3.0 as a whole number
        ("10M", 9, 3, 3.25, "patience", 3.0),
        ("10M", 10, 29_000_000, 3.25, "patience", 3.0),
        ("100M", 1, 29_000_000, 2.5, "steps", 3.0),
    ]
    assert files.read_table(tmp_path / "out/training.parquet", TRAINED).equals(table)


def test_what_is_lacking_is_named(tmp_path):
    run = model(tmp_path, "baby/10M/m/packed/none/seed1", steps_per_epoch=None)
    with pytest.raises(errors.PoshgridError, match=r"statistics\.json: .*'steps_per_epoch'"):
        training.training([run], tmp_path, tmp_path / "out")
