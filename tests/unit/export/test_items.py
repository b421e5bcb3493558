"""Exported items: what other tools read, without these tools (tests/parity asks the tools)."""

import ast
import importlib.util
import json

import jinja2
import polars as pl
import pytest
import yaml
from huggingface_hub import DatasetCard

import poshgrid
from poshgrid import files
from poshgrid.benchmark.schema import ITEMS
from poshgrid.errors import PoshgridError
from poshgrid.export import items
from tests.unit.analysis.small_results import BASELINE, NAMES

FIELDS = [
    "sentence_good", "sentence_bad", "field", "linguistics_term", "UID", "pair_id", "template",
    "lexical_set", "cell", "joint",
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(paths, tmp_path_factory):
    return items.export(poshgrid.open(paths.results), "posh", tmp_path_factory.mktemp("items"))


@pytest.fixture(scope="module")
def module(folder):
    spec = importlib.util.spec_from_file_location("pairs", folder / "pairs" / "pairs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_dataset_is_the_items_and_every_pair_a_line_with_the_fields_of_blimp(folder, opened):
    card = DatasetCard.load(folder / "README.md")
    (config,) = card.data.to_dict()["configs"]
    assert config["data_files"] == [{"split": "test", "path": "items.parquet"}]
    assert pl.read_parquet(folder / "items.parquet").equals(opened.items().collect())
    pairs = {path.stem: lines(path) for path in folder.glob("pairs/*.jsonl")}
    for phenomenon, of_phenomenon in pairs.items():
        assert {pair["UID"] for pair in of_phenomenon} == {phenomenon}
    every = [pair for of_phenomenon in pairs.values() for pair in of_phenomenon]
    assert all(list(pair) == FIELDS for pair in every)
    assert {(p["pair_id"], p["sentence_good"], p["sentence_bad"], p["UID"]) for p in every} == set(
        opened.items().select("item_id", "good", "bad", "phenomenon").collect().iter_rows()
    )


def test_the_tasks_name_files_and_functions_that_are_there(folder, module):
    """Read as the harness does: its template makes a Python literal; a function is its name."""

    class Loader(yaml.SafeLoader):
        pass

    Loader.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))
    texts = {path.name: path.read_text() for path in (folder / "pairs").glob("*yaml")}
    shared = yaml.load(texts["_pairs_yaml"], Loader)
    tasks = [yaml.load(text, Loader) for name, text in texts.items() if name[0] != "_"]
    group = yaml.load(texts["_group.yaml"], Loader)
    assert sorted(group["task"]) == sorted(task["task"] for task in tasks)
    for task in tasks:
        assert (folder / "pairs" / task["include"]).is_file()
        assert (folder / "pairs" / task["dataset_kwargs"]["file"]).is_file()
    named = [shared["custom_dataset"], shared["process_results"]]
    named += [metric["aggregation"] for metric in shared["metric_list"]]
    assert all(callable(getattr(module, name.removeprefix("pairs."))) for name in named)
    # The sentence alone, as it stands: a delimiter would be a token of most tokenizers
    assert (shared["doc_to_text"], shared["target_delimiter"], shared["num_fewshot"]) == ("", "", 0)
    template = jinja2.Environment().from_string(shared["doc_to_choice"])
    for path in folder.glob("pairs/*.jsonl"):
        for pair in lines(path):  # with quotes among them
            both = ast.literal_eval(template.render(**pair))
            assert both == [pair["sentence_good"], pair["sentence_bad"]]


@pytest.mark.parametrize("run", [*NAMES, BASELINE])
def test_the_functions_of_the_tasks_judge_as_the_stage_does(folder, module, opened, run):
    """Ties, joint pairs, sums and means: the same accuracies from the same log-probabilities."""
    *_, recipe, _, seed = run.split("/")
    mine = {"recipe": recipe, "seed": int(seed.removeprefix("seed"))}
    scores = opened.scores().filter(**mine).collect()
    scores = {row["item_id"]: row for row in scores.iter_rows(named=True)}
    judged = opened.judgements().filter(**mine).collect()
    for path in folder.glob("pairs/*.jsonl"):
        answers = []
        for pair in lines(path):
            row = scores[pair["pair_id"]]
            pair |= {"good_tokens": row["good_tokens"], "bad_tokens": row["bad_tokens"]}
            result = [(row["good_logprob"], False), (row["bad_logprob"], False)]
            answers.append(module.judge(pair, result))
        expected = judged.filter(phenomenon=path.stem)
        acc = module.by_sum([answer["acc"] for answer in answers])
        mean = module.by_mean([answer["acc_mean"] for answer in answers])
        assert acc == pytest.approx(expected["by_sum"].mean(), abs=1e-12)
        assert mean == pytest.approx(expected["by_mean"].mean(), abs=1e-12)


def test_phenomena_whose_files_would_be_one_are_refused(tmp_path, opened):
    table = opened.items().head(2).collect()
    table = table.with_columns(phenomenon=pl.Series(["wh islands", "wh/islands"]))
    files.write_table(table, tmp_path / "benchmark" / "own" / "items.parquet", ITEMS)
    with pytest.raises(PoshgridError, match="'wh islands' and 'wh/islands'"):
        items.export(poshgrid.open(tmp_path), "own", tmp_path / "out")
    assert not (tmp_path / "out" / "own").exists()
