"""Exported items: what other tools read, without these tools (tests/parity asks the tools)."""

from __future__ import annotations

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
from poshgrid.benchmark.schema import COMPLETIONS, ITEMS
from poshgrid.errors import PoshgridError
from poshgrid.export import items
from tests.unit.analysis.small_results import NAMES, NULL

FIELDS = [
    "sentence_good", "sentence_bad", "field", "linguistics_term", "UID", "pair_id", "template",
    "lexical_set", "cell", "joint",
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(paths, tmp_path_factory):
    return items.export(poshgrid.open(paths.results), "posh", tmp_path_factory.mktemp("items"))


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def tasks(folder):
    """Read the tasks as the harness does; a function is its name."""

    class Loader(yaml.SafeLoader):
        pass

    Loader.add_constructor("!function", lambda loader, node: f"!{loader.construct_scalar(node)}")
    shared = yaml.load((folder / "pairs" / "_pairs_yaml").read_text(), Loader)
    return shared, [
        yaml.load(path.read_text(), Loader) for path in sorted((folder / "pairs").glob("*.yaml"))
    ]


def test_the_dataset_is_the_items(folder, opened):
    card = DatasetCard.load(folder / "README.md")
    (config,) = card.data.to_dict()["configs"]
    assert config["data_files"] == [{"split": "test", "path": "items.parquet"}]
    assert pl.read_parquet(folder / "items.parquet").equals(opened.items().collect())
    assert "| island | gap | 48 |" in card.text


def test_every_pair_is_a_line_with_the_fields_of_blimp(folder, opened):
    found = [each for path in folder.glob("pairs/*.jsonl") for each in lines(path)]
    assert all(list(each) == FIELDS for each in found)
    assert {(e["pair_id"], e["sentence_good"], e["sentence_bad"], e["UID"]) for e in found} == set(
        opened.items().select("item_id", "good", "bad", "phenomenon").collect().iter_rows()
    )
    for path in folder.glob("pairs/*.jsonl"):
        assert {each["UID"] for each in lines(path)} == {path.stem}


def test_the_tasks_name_files_and_functions_that_are_there(folder):
    shared, found = tasks(folder)
    (group,) = [each for each in found if "group" in each]
    single = [each for each in found if "task" in each and "group" not in each]
    assert sorted(group["task"]) == sorted(each["task"] for each in single)
    for each in single:
        assert (folder / "pairs" / each["include"]).is_file()
        assert (folder / "pairs" / each["dataset_kwargs"]["file"]).is_file()
    named = [shared["custom_dataset"], shared["process_results"]]
    named += [metric["aggregation"] for metric in shared["metric_list"]]
    module = load(folder)
    for each in named:
        assert callable(getattr(module, each.removeprefix("!pairs.")))
    # The sentence alone, as it stands: a delimiter would be a token of most tokenizers
    assert (shared["doc_to_text"], shared["target_delimiter"], shared["num_fewshot"]) == ("", "", 0)


def test_quotes_survive_the_harness_template(folder):
    """The harness renders the choices with Jinja and reads the text back as a Python literal."""
    shared, _ = tasks(folder)
    template = jinja2.Environment().from_string(shared["doc_to_choice"])
    for path in folder.glob("pairs/*.jsonl"):
        for pair in lines(path):
            both = ast.literal_eval(template.render(**pair))
            assert both == [pair["sentence_good"], pair["sentence_bad"]]


def load(folder):
    spec = importlib.util.spec_from_file_location("pairs", folder / "pairs" / "pairs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("run", [*NAMES, NULL])
def test_the_functions_of_the_tasks_judge_as_the_stage_does(folder, opened, run):
    """Ties, joint pairs, sums and means: the same accuracies from the same log-probabilities."""
    module = load(folder)
    *_, regimen, _, seed = run.split("/")
    mine = {"regimen": regimen, "seed": int(seed.removeprefix("seed"))}
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
        acc = module.by_sum([each["acc"] for each in answers])
        mean = module.by_mean([each["acc_mean"] for each in answers])
        assert acc == pytest.approx(expected["by_sum"].mean(), abs=1e-12)
        assert mean == pytest.approx(expected["by_mean"].mean(), abs=1e-12)


def test_a_task_without_pairs_is_a_dataset_alone(tmp_path):
    row = {"item_id": "a", "category": "c", "phenomenon": "p", "block": "", "prompt": "The girls",
           "accepted": ["are", "were"]}  # fmt: skip
    path = tmp_path / "benchmark" / "written" / "items.parquet"
    files.write_table(pl.DataFrame([row], schema=COMPLETIONS), path, COMPLETIONS)
    folder = items.export(poshgrid.open(tmp_path), "written", tmp_path / "out")
    assert sorted(each.name for each in folder.iterdir()) == ["README.md", "items.parquet"]
    assert "lm_eval" not in (folder / "README.md").read_text()


def test_phenomena_whose_files_would_be_one_are_refused(tmp_path, opened):
    table = opened.items().head(2).collect()
    table = table.with_columns(phenomenon=pl.Series(["wh islands", "wh/islands"]))
    files.write_table(table, tmp_path / "benchmark" / "own" / "items.parquet", ITEMS)
    with pytest.raises(PoshgridError, match=r"'wh islands' and 'wh/islands' would both be wh-isl"):
        items.export(poshgrid.open(tmp_path), "own", tmp_path / "out")
    assert not (tmp_path / "out" / "own").exists()
