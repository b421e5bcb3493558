"""Exported models: the same weights, and a card that says what they are worth."""

import json
import shutil
from pathlib import Path

import huggingface_hub
import pytest
from huggingface_hub import ModelCard
from transformers import AutoModelForCausalLM, AutoTokenizer
from typer.testing import CliRunner

from poshgrid.cli import app
from poshgrid.config.runs import Run
from poshgrid.core import files, verification
from poshgrid.core.errors import PoshgridError
from poshgrid.models.training import masking
from poshgrid.models.training import train as training
from poshgrid.models.training.builder import TOKENIZER_FILES
from poshgrid.report.export import models
from tests.unit.models.training.training_support import equal
from tests.unit.report.export import small_results
from tests.unit.report.export.small_results import CELL, NAMES

NAME = NAMES[0].replace("/", "-")


def export(what, paths, output, *options):
    words = ["export", what, paths.results, "--output", str(output), *options]
    return CliRunner().invoke(app, words)


@pytest.fixture(scope="module")
def exported(paths, tmp_path_factory):
    output = tmp_path_factory.mktemp("exported")
    answer = export("models", paths, output, "--licence", "cc-by-4.0")
    assert answer.exception is None, answer.exception
    assert answer.stdout.split() == [
        str(output / "models" / run.replace("/", "-")) for run in NAMES
    ]  # the baseline is none of the models
    return output / "models" / NAME


def test_the_weights_are_the_runs_and_the_provenance_tells_nothing_of_the_machine(exported, opened):
    source = opened.model(NAMES[0])
    for name in ("model.safetensors", "config.json", "tokenizer.json", "training.jsonl"):
        assert (exported / name).read_bytes() == (source / name).read_bytes()
    text = (exported / "provenance.json").read_text(encoding="utf-8")
    manifest = files.read_json(source / "manifest.json")
    assert json.loads(text)["code"] == manifest["code"] == "c0de"
    weights = verification.sha256(exported / "model.safetensors")
    assert json.loads(text)["outputs"]["model.safetensors"] == weights
    assert {"host", "command"} <= set(manifest)
    assert manifest["host"] not in text
    assert str(Path(opened.paths.results).parent) not in text


def test_the_card_holds_the_runs_own_accuracies_corpora_and_licences(exported, opened):
    """Each accuracy is the mean of the run's judgements, not of its seeds."""
    card = ModelCard.load(exported / "README.md")
    judged = opened.table("judgements-posh").filter(recipe="small", seed=42).collect()
    own = {name: rows["correct"].mean() for (name,), rows in judged.group_by("phenomenon")}
    baseline = opened.table("accuracy").filter(recipe="untrained", phenomenon="order").collect()
    row = f"| posh | order | 25 | {100 * own['order']:.1f} | {100 * baseline['mean'][0]:.1f} |"
    assert row in card.text
    assert card.data.license == "cc-by-4.0"
    assert "1,234 words in 200 sentences" in card.text and "binding.paper" in card.text
    assert "| childes | 1,000 | [CC BY-NC-SA 3.0" in card.text


def test_a_folder_for_babylm_has_its_checkpoints_and_scores_the_first_word(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "milestone_steps", lambda *_: {"1M": 2, "10M": 4})
    small = small_results.build(tmp_path, checkpoints="babylm")
    answer = export("babylm", small, tmp_path, "--only", "seed=42")
    assert answer.exception is None, answer.exception
    folder, model = tmp_path / "babylm" / NAME, Path(small.model(NAMES[0]))
    checkpoints = {"chck_1M": "checkpoints/2", "chck_10M": "checkpoints/4"}
    assert {path.name for path in folder.iterdir() if path.is_dir()} == {*checkpoints}
    for name, step in checkpoints.items():
        loaded = AutoModelForCausalLM.from_pretrained(folder, subfolder=name)
        alone = AutoModelForCausalLM.from_pretrained(folder / name)
        kept = AutoModelForCausalLM.from_pretrained(model / step)
        for one, other in ((loaded, kept), (alone, kept)):
            assert equal(one.state_dict(), other.state_dict())
        tokenizer = AutoTokenizer.from_pretrained(folder, subfolder=name)
        plain = AutoTokenizer.from_pretrained(model)("The dog likes a cat.")["input_ids"]
        assert tokenizer("The dog likes a cat.")["input_ids"] == [tokenizer.bos_token_id, *plain]
    assert "| chck_10M | 4 |" in (folder / "README.md").read_text(encoding="utf-8")
    assert "babylm" in ModelCard.load(folder / "README.md").data.tags


@pytest.mark.parametrize("around", [None, False, True])
def test_texts_begin_with_one_boundary_whatever_a_model_learns(tmp_path, paths, around):
    """A hybrid model has a mask and no boundaries of its own; a masked one has both."""
    for name in TOKENIZER_FILES:
        shutil.copyfile(Path(paths.tokenizer(*CELL)) / name, tmp_path / name)
    plain = AutoTokenizer.from_pretrained(tmp_path)("The dog likes a cat.")["input_ids"]
    if around is not None:
        masking.add_mask(tmp_path, around=around)
    models._begin_texts(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    end = [tokenizer.bos_token_id] if around else []
    assert tokenizer("The dog likes a cat.")["input_ids"] == [tokenizer.bos_token_id, *plain, *end]


def test_a_damaged_model_is_not_exported(paths, tmp_path, opened):
    source = opened.model(NAMES[0]) / "model.safetensors"
    whole = source.read_bytes()
    source.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    try:
        answer = export("models", paths, tmp_path)
    finally:
        source.write_bytes(whole)
    assert str(answer.exception).startswith(f"{source}: ")
    assert not list(tmp_path.rglob("*.safetensors"))


def test_a_name_is_one_that_the_hub_takes_and_no_others(exported, opened):
    run = Run("baby-f", "10M", "gpt2-mini", "packed", "dyck+recency", 42)
    assert models.name_of(run) == "baby-f-10M-gpt2-mini-packed-dyck-recency-seed42"
    huggingface_hub.utils.validate_repo_id(f"lab/{models.name_of(run)}")
    # `a-b/c` and `a/b-c`: neither takes the other's folder
    record = exported / "provenance.json"
    before = record.read_bytes()
    files.write_json(record, json.loads(before) | {"run": "another/run"})
    runs = [run for run in opened.scored("posh") if run.name == NAMES[0]]
    try:
        with pytest.raises(PoshgridError, match=f"another/run and {NAMES[0]}"):
            models.export(opened, runs, exported.parent, target=None, licence=None)
    finally:
        record.write_bytes(before)


@pytest.mark.parametrize(
    ("what", "options", "key"),
    [("tables", ("--target", "exp2"), "unknown target 'exp2'"),
     ("models", ("--only", "recipe=untrained"), "--only"),
     ("babylm", (), "checkpoints: babylm")],
)  # fmt: skip
def test_what_cannot_be_exported_is_told(paths, tmp_path, what, options, key):
    answer = export(what, paths, tmp_path, *options)
    assert isinstance(answer.exception, PoshgridError) and key in str(answer.exception)
    assert not any(tmp_path.iterdir())
