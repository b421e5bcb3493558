"""The files that jobs read, kind by kind: worked out by hand for config/tiny.yaml."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from poshgrid.config import Pretrained
from poshgrid.config.runs import Run
from poshgrid.grid import configfile
from poshgrid.grid.grid import Grid
from poshgrid.grid.inputs import Inputs, model_folder, relative

CELL = "baby-f/20K"
PLANTED = Run("baby-f", "20K", "gpt2-tiny", "sentence", "tree-planting", 42)
PACKED = [f"gpt2-tiny/packed/none/seed{seed}" for seed in (42, 53)]
NULLS = ["ngram/counted/none/seed0", "unigram/counted/none/seed0"]

Make = Callable[..., Inputs]


@pytest.fixture(scope="module")
def written(root: Path) -> dict[str, Any]:
    return yaml.safe_load((root / "config/tiny.yaml").read_text(encoding="utf-8"))


@pytest.fixture
def inputs(written: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Makes the inputs of config/tiny.yaml with some sections replaced, from an empty folder."""
    monkeypatch.chdir(tmp_path)

    def make(**sections: object) -> Inputs:
        found = configfile.validate(
            copy.deepcopy(written) | {"results": "R", "data": str(tmp_path)} | sections
        )
        assert isinstance(found, Grid)
        return Inputs(found)

    return make


def test_paths_are_as_seen_from_here_where_they_can_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert relative(tmp_path / "here" / "a" / "b") == "a/b"
    assert relative(tmp_path / "there") == str(tmp_path / "there")


def test_what_a_base_a_parser_and_a_condition_read(inputs: Make) -> None:
    found = inputs()
    assert found.portions("baby") == ["R/sources/toy-baby/sentences.parquet"]
    assert found.trained_parser("spacy") == ["R/parsers/spacy/manifest.json"]
    assert found.seen_trees("spacy") == [
        "R/treebanks/spacy/train.conllu", "R/treebanks/spacy/dev.conllu",
    ]  # fmt: skip
    # 60,000 words and twice 3,000, in shards of 40,000
    assert found.shards("baby", "spacy") == [
        "R/parses/baby/spacy/0.parquet", "R/parses/baby/spacy/1.parquet",
    ]  # fmt: skip
    assert found.condition_shards("baby-f", "spacy") == found.shards("baby", "spacy")
    assert found.condition("baby-f", "20K") == ["R/corpora/baby/sentences.parquet"]
    assert found.ready("baby-f", "20K") is None
    assert found.tokenizer("baby", "20K") == ["R/tokenizers/baby/20K/tokenizer.json"]
    assert found.tokenizer_texts("baby", "20K") == ["R/conditions/baby/20K/train.parquet"]
    assert found.corpora() == [
        *(f"R/corpora/{base}/sentences.parquet" for base in ("baby", "wiki")),
        *(f"R/benchmark/ngrams/{base}/{size}/model.safetensors"
          for base in ("baby", "wiki") for size in ("20K", "60K")),
    ]  # fmt: skip


def test_a_given_parser_has_learned_from_nobody_knows_what(
    inputs: Make, tmp_path: Path, written: dict[str, Any]
) -> None:
    for name in ("b/weights.bin", "a.json"):
        (tmp_path / "bought" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "bought" / name).touch()
    trained = copy.deepcopy(written["parsers"][0])
    bought = {"name": "bought", "engine": "spacy", "model": str(tmp_path / "bought")}
    evidence = written["evidence"] | {"compare": ["bought"]}
    biases = written["biases"] | {"tree-planting": {"parser": "bought"}}
    found = inputs(parsers=[trained, bought], evidence=evidence, biases=biases)
    assert found.seen_trees("bought") == found.trained_parser("bought") == []
    assert found.given_parser("bought") == [
        f"{tmp_path}/bought/a.json", f"{tmp_path}/bought/b/weights.bin",
    ]  # fmt: skip
    assert found.given_parser("stanza") == []
    shown = found.report("exp1")
    assert "R/parsers/stanza/evaluation.json" in shown
    assert "R/parsers/bought/evaluation.json" not in shown
    assert "R/evidence/baby/bought.parquet" in shown


def test_a_suite_reads_its_files_its_norms_and_what_it_is_generated_from(
    inputs: Make, tmp_path: Path, written: dict[str, Any]
) -> None:
    suites = copy.deepcopy(written["suites"])
    for name in ("choices.csv", "norms.csv"):
        (tmp_path / name).touch()
    suites[2] |= {"path": "choices.csv", "norms": "norms.csv"}
    found = inputs(suites=suites)
    assert (found.suite("choices"), found.norms("choices")) == (["choices.csv"], ["norms.csv"])
    assert found.norms("completions") == []
    assert found.suite("completions") == []  # missing: the job says so
    assert set(found.corpora()) <= set(found.suite("posh"))
    assert [Path(path).suffix for path in found.lexicon()] == [".tsv"] * len(found.lexicon())
    assert set(found.lexicon()) <= set(found.suite("posh"))


def test_a_tokenizer_that_is_a_file_reads_it_alone(inputs: Make, written: dict[str, Any]) -> None:
    given = {"file": "bought.json", "sweep": []}
    found = inputs(tokenizer=written["tokenizer"] | given)
    assert found.tokenizer_texts("baby", "20K") == ["bought.json"]


def test_what_a_run_reads_and_leaves(inputs: Make) -> None:
    found = inputs()
    folder = f"R/models/{PLANTED.name}"
    assert found.model(PLANTED) == [f"{folder}/model.safetensors", f"{folder}/config.json"]
    assert found.model_place(PLANTED) == folder
    assert found.distances(PLANTED) == [f"R/distances/{CELL}/spacy/statistics.json"]
    plain = Run("baby-f", "20K", "gpt2-tiny", "sentence", "none", 42)
    assert found.distances(plain) == []
    assert found.scores([PLANTED, plain], "posh", "choices") == [
        f"R/scores/{run.name}/{suite}.parquet"
        for run in (PLANTED, plain) for suite in ("posh", "choices")
    ]  # fmt: skip
    assert found.manifests([plain]) == [f"R/models/{plain.name}/manifest.json"]


def test_what_a_target_reads(inputs: Make) -> None:
    found = inputs()
    cells = [f"baby-f/{size}" for size in ("20K", "60K")]
    runs = [f"{cell}/{run}" for cell in cells for run in PACKED]
    assert found.training_logs("exp1") == [
        f"R/models/{run}/{name}" for run in runs for name in ("statistics.json", "training.jsonl")
    ]
    assert found.training_logs("nothing") == []
    assert found.unigrams("exp1") == [
        f"R/models/{cell}/unigram/counted/none/seed0/model.safetensors" for cell in cells
    ]
    assert found.train_tables("exp1") == [f"R/conditions/{cell}/train.parquet" for cell in cells]
    statistics = [f"R/conditions/{cell}/statistics.json" for cell in cells]
    assert found.condition_statistics("exp1") == statistics
    untrained = [run.replace("packed", "untrained") for run in runs]
    assert {run.name for run in found.stepped("exp1")} == {*runs, *untrained}
    assert [run.name for run in found.nulls["exp1"]] == [
        name
        for cell in cells
        for name in (*(u for u in untrained if u.startswith(cell)), *(f"{cell}/{n}" for n in NULLS))
    ]
    pairs = [f"{c}/{s}/{run}" for c in ("baby", "baby-f") for s in ("20K", "60K") for run in PACKED]
    assert sorted(run.name for run in found.filtered("exp2")) == sorted(pairs)
    assert sorted(found.perplexities("exp2")) == sorted(f"R/perplexity/{p}.json" for p in pairs)
    assert found.filtered("exp1") == found.perplexities("exp1") == []


def test_perplexities_are_read_where_they_are_asked_for(inputs: Make) -> None:
    assert inputs(filtering={"perplexity": False}).perplexities("exp2") == []


def page_of_exp1() -> list[str]:
    """What the page of exp1 shows: two cells of baby-f, each with two runs."""
    cells = [f"baby-f/{size}" for size in ("20K", "60K")]
    made = [f"{cell}/{run}" for cell in cells for run in PACKED]
    nulls = [
        f"{cell}/{run}"
        for cell in cells
        for run in (*(name.replace("packed", "untrained") for name in PACKED), *NULLS)
    ]
    parsers = ("stanza", "spacy")
    top = "R/statistics/exp1"
    return [
        f"{top}/accuracy.parquet", f"{top}/rules/shares.parquet",
        "R/quality/exp1/posh/quality.json",
        *(f"{top}/measures/{suite}/measures.parquet"
          for suite in ("filler-gap", "choices", "completions")),
        f"{top}/curves/curves_mean.parquet", f"{top}/models/paper/diagnostics.json",
        *(f"R/evidence/baby/{parser}.parquet" for parser in parsers),
        *(f"R/parsers/{parser}/evaluation.json" for parser in parsers),
        *(f"R/recall/{parser}.parquet" for parser in parsers),
        *(f"R/tokens/{cell}/statistics.json" for cell in cells),
        *(f"R/tokenizers/{cell}/sweep.json" for cell in cells),
        *(f"R/collateral/{cell}/collateral.parquet" for cell in cells),
        "R/audit/baby-f/60K/statistics.json",
        *(f"R/models/{run}/statistics.json" for run in (*made, *nulls)),
    ]  # fmt: skip


def test_a_page_shows_all_that_was_made_for_it_and_nothing_else(inputs: Make) -> None:
    assert inputs().report("exp1") == page_of_exp1()
    assert "R/statistics/exp2/deltas/deltas.parquet" in inputs().report("exp2")


def test_a_page_shows_nothing_that_is_not_asked_for(inputs: Make, written: dict[str, Any]) -> None:
    bare = inputs(
        evidence=written["evidence"] | {"gold": []},
        tokenizer=written["tokenizer"] | {"sweep": []},
        suites=[written["suites"][2]], models=[], audit={},
    )  # fmt: skip
    left = [
        path for path in page_of_exp1()
        if not any(word in path for word in
                   ("accuracy", "shares", "quality", "curves", "filler-gap", "completions",
                    "recall", "sweep", "models/paper", "audit"))
    ]  # fmt: skip
    assert bare.report("exp1") == left
    assert not any("parse" in path or "evidence" in path for path in plain_wiki(bare))


def plain_wiki(found: Inputs) -> list[str]:
    """What is shown of a target without filters."""
    found.grid.targets["exp1"] = [
        run for run in found.grid.targets["exp2"] if run.condition == "wiki"
    ]
    return found.report("exp1")


def test_a_pretrained_model_is_a_folder_or_an_id(inputs: Make, tmp_path: Path) -> None:
    for name in ("mine/b.bin", "mine/a.json", "mine/deep/c.bin", "there/a.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = inputs(
        pretrained=[{"name": n, "model": m} for n, m in (("mine", "mine"), ("hub", "owner/name"))]
    )
    mine, hub = (
        Run("pretrained", "given", name, "pretrained", "none", 0) for name in ("mine", "hub")
    )
    assert found.given_model(mine) == found.model_place(mine) == tmp_path / "mine"
    assert found.model(mine) == ["mine/a.json", "mine/b.bin"]
    assert (found.given_model(hub), found.model_place(hub), found.model(hub)) == (
        None, "owner/name", [],
    )  # fmt: skip
    there = Pretrained(name="there", model=str(tmp_path / "there"))
    assert model_folder(found.grid, there) == tmp_path / "there"


def test_the_words_that_a_filter_looks_for_are_inputs(inputs: Make) -> None:
    found = inputs()
    each = {word: found.word_lists([word]) for word in ("npi-only", "binding", "passive")}
    assert each["binding"] == []
    assert each["npi-only"] and all(Path(path).is_file() for path in each["npi-only"])
    assert found.word_lists(each) == [*each["npi-only"], *each["passive"]]
