"""Exported models: the same weights, and a card that says what they are worth."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import create_autospec

import huggingface_hub
import pytest
from huggingface_hub import ModelCard
from typer.testing import CliRunner

from poshgrid import files, verification
from poshgrid.cli import app
from poshgrid.config.runs import Run
from poshgrid.errors import PoshgridError
from poshgrid.export import models
from tests.unit.analysis.small_results import NAMES

NAME = NAMES[0].replace("/", "-")


@pytest.fixture(scope="module")
def exported(paths, tmp_path_factory):
    output = tmp_path_factory.mktemp("exported")
    options = ["--output", str(output), "--licence", "cc-by-4.0"]
    answer = CliRunner().invoke(app, ["export", "models", paths.results, *options])
    assert answer.exception is None, answer.exception
    assert answer.stdout.split() == [
        str(output / "models" / run.replace("/", "-")) for run in NAMES
    ]  # the null is none of the models
    return output / "models" / NAME


@pytest.fixture
def card(exported):
    return ModelCard.load(exported / "README.md")


def test_the_weights_and_the_tokenizer_are_the_runs(exported, opened):
    source = opened.model(NAMES[0])
    for name in ("model.safetensors", "config.json", "tokenizer.json", "training.jsonl"):
        assert (exported / name).read_bytes() == (source / name).read_bytes()


def test_the_card_holds_the_runs_own_accuracies(card, opened):
    """Each is the mean of the run's judgements, not of its seeds."""
    judged = opened.judgements().filter(regimen="small", seed=42).collect()
    own = {name: rows["correct"].mean() for (name,), rows in judged.group_by("phenomenon")}
    told = {each.dataset_config: each.metric_value for each in card.data.eval_results}
    assert told == pytest.approx(own, abs=1e-6)
    assert {e.metric_type for e in card.data.eval_results} == {"accuracy"}
    null = opened.accuracy().filter(regimen="untrained", phenomenon="order").collect()
    assert f"| posh | order | 25 | {100 * own['order']:.1f} | {100 * null['mean'][0]:.1f} |" in (
        card.text
    )


def test_the_card_names_corpora_and_licences(card):
    assert card.data.license == "cc-by-4.0"
    assert "1,234 words in 200 sentences: condition baby-f at size 1K, of base baby" in card.text
    assert "took sentences out: binding.paper. Some were put back: binding." in card.text
    assert "| childes | 1,000 | [CC BY-NC-SA 3.0" in card.text


def test_the_card_says_that_toy_text_is_no_childs(card, paths, opened, tmp_path):
    assert "Toy text" not in card.text
    manifest = Path(paths.source("childes")).with_name("manifest.json")
    files.write_json(manifest, {"settings": {"source": {"reader": "toy"}}})
    try:
        runs = [run for run in opened.names if run.name == NAMES[0]]
        (folder,) = models.export(opened, runs, tmp_path, target=None, licence=None)
    finally:
        manifest.unlink()
    assert "**Toy text** (childes)" in (folder / "README.md").read_text(encoding="utf-8")


def test_the_provenance_tells_nothing_of_the_machine(exported, opened):
    told = (exported / "provenance.json").read_text(encoding="utf-8")
    manifest = files.read_json(opened.model(NAMES[0]) / "manifest.json")
    assert json.loads(told)["code"] == manifest["code"] == "c0de"
    weights = verification.sha256(exported / "model.safetensors")
    assert json.loads(told)["outputs"]["model.safetensors"] == weights
    assert {"host", "command"} <= set(manifest)
    assert manifest["host"] not in told
    assert str(Path(opened.paths.results).parent) not in told


def test_a_damaged_model_is_not_exported(paths, tmp_path, opened):
    source = opened.model(NAMES[0]) / "model.safetensors"
    whole = source.read_bytes()
    source.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    try:
        words = ["export", "models", paths.results, "--output", str(tmp_path / "out")]
        answer = CliRunner().invoke(app, words)
    finally:
        source.write_bytes(whole)
    assert str(answer.exception).startswith(f"{source}: not the bytes that")
    assert not list((tmp_path / "out").rglob("*.safetensors"))


def test_only_trained_models_are_exported(opened):
    for kept in ({"regimen": {"untrained"}}, {"seed": {"99"}}):
        with pytest.raises(PoshgridError, match="no trained model to export; see --only"):
            models.chosen(opened, kept)


def test_a_name_is_one_that_the_hub_takes():
    run = Run("baby-f", "10M", "gpt2-mini", "packed", "dyck+recency", 42)
    assert models.name_of(run) == "baby-f-10M-gpt2-mini-packed-dyck-recency-seed42"
    huggingface_hub.utils.validate_repo_id(f"lab/{models.name_of(run)}")


@pytest.fixture
def hub(monkeypatch):
    """Stand in for the hub: calls are held to the library's own signatures."""
    api = create_autospec(huggingface_hub.HfApi, instance=True)
    api.upload_folder.return_value = SimpleNamespace(commit_url="https://hub/commit/1")
    monkeypatch.setattr(huggingface_hub, "HfApi", lambda: api)
    return api


def send(paths, tmp_path, *options):
    arguments = ["export", "models", paths.results, "--output", str(tmp_path), "--upload", "lab"]
    return CliRunner().invoke(app, [*arguments, "--only", "seed=42", *options])


def test_two_runs_with_one_name_are_told_apart(exported, opened, tmp_path):
    """`a-b/c` and `a/b-c`: neither takes the other's folder."""
    told = exported / "provenance.json"
    before = told.read_bytes()
    content = json.loads(before)
    assert content["run"] == NAMES[0]
    files.write_json(told, content | {"run": "another/run"})
    runs = [run for run in opened.scored("posh") if run.name == NAMES[0]]
    try:
        with pytest.raises(PoshgridError, match=f"the name of another/run and of {NAMES[0]}"):
            models.export(opened, runs, exported.parent, target=None, licence=None)
    finally:
        told.write_bytes(before)


@pytest.mark.parametrize(("options", "private"), [((), True), (("--public",), False)])
def test_what_is_uploaded(paths, tmp_path, hub, options, private):
    answer = send(paths, tmp_path, *options)
    assert answer.exception is None, answer.exception
    hub.create_repo.assert_called_once_with(
        f"lab/{NAME}", repo_type="model", private=private, exist_ok=True
    )
    (call,) = hub.upload_folder.call_args_list
    assert call.kwargs["repo_id"] == f"lab/{NAME}"
    assert call.kwargs["folder_path"] == tmp_path / "models" / NAME
    assert answer.stdout.splitlines()[-1] == "https://hub/commit/1"


def test_an_upload_that_fails_is_one_line(paths, tmp_path, hub):
    hub.create_repo.side_effect = RuntimeError("401 Client Error\nno token")
    error = send(paths, tmp_path).exception
    assert isinstance(error, PoshgridError)
    assert "hf auth login" in str(error)
    assert "\n" not in str(error)
