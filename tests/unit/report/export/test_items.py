"""Exported items: what other tools read, without these tools (tests/parity asks the tools)."""

import ast
import json

import jinja2
import polars as pl
import pytest
import yaml
from huggingface_hub import DatasetCard

import poshgrid
from poshgrid.benchmark.schema import PAIRS
from poshgrid.core import files
from poshgrid.core.errors import PoshgridError
from poshgrid.report.export import items

FIELDS = [
    "sentence_good", "sentence_bad", "field", "linguistics_term", "UID", "pair_id", "template",
    "lexical_set", "cell", "joint",
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(paths, tmp_path_factory):
    return items.export(poshgrid.open(paths.results), "posh", tmp_path_factory.mktemp("items"))


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_dataset_is_the_items_and_every_pair_a_line_with_the_fields_of_blimp(folder, opened):
    card = DatasetCard.load(folder / "README.md")
    (config,) = card.data.to_dict()["configs"]
    assert config["data_files"] == [{"split": "test", "path": "items.parquet"}]
    assert pl.read_parquet(folder / "items.parquet").equals(opened.table("items-posh").collect())
    pairs = {path.stem: lines(path) for path in folder.glob("pairs/*.jsonl")}
    for phenomenon, of_phenomenon in pairs.items():
        assert {pair["UID"] for pair in of_phenomenon} == {phenomenon}
    every = [pair for of_phenomenon in pairs.values() for pair in of_phenomenon]
    assert all(list(pair) == FIELDS for pair in every)
    assert {(p["pair_id"], p["sentence_good"], p["sentence_bad"], p["UID"]) for p in every} == set(
        opened.table("items-posh")
        .select("item_id", "good", "bad", "phenomenon")
        .collect()
        .iter_rows()
    )


def test_the_tasks_name_files_that_are_there_and_read_the_sentence_alone(folder):
    """Read as the harness does: its template makes a Python literal."""
    texts = {path.name: path.read_text() for path in (folder / "pairs").glob("*yaml")}
    tasks = {name: yaml.safe_load(text) for name, text in texts.items()}
    shared, group = tasks.pop("_pairs_yaml"), tasks.pop("_group.yaml")
    assert sorted(group["task"]) == sorted(task["task"] for task in tasks.values())
    for task in tasks.values():
        assert (folder / "pairs" / task["include"]).is_file()
        assert (folder / task["dataset_kwargs"]["data_files"]["test"]).is_file()
    # A delimiter would be a token of most tokenizers
    assert (shared["doc_to_text"], shared["target_delimiter"], shared["num_fewshot"]) == ("", "", 0)
    template = jinja2.Environment().from_string(shared["doc_to_choice"])
    for path in folder.glob("pairs/*.jsonl"):
        for pair in lines(path):  # with quotes among them
            both = ast.literal_eval(template.render(**pair))
            assert both == [pair["sentence_good"], pair["sentence_bad"]]


def test_phenomena_whose_files_would_be_one_are_refused(tmp_path, opened):
    table = opened.table("items-posh").head(2).collect()
    table = table.with_columns(phenomenon=pl.Series(["wh islands", "wh/islands"]))
    files.write_table(table, tmp_path / "benchmark" / "own" / "items.parquet", PAIRS)
    with pytest.raises(PoshgridError, match="'wh islands' and 'wh/islands'"):
        items.export(poshgrid.open(tmp_path), "own", tmp_path / "out")
    assert not (tmp_path / "out" / "own").exists()
