"""What jobs read from a hub is there before they start, and they ask for nothing more."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest
import yaml

from poshgrid.grid import configfile
from poshgrid.grid.inputs import Inputs
from poshgrid.planning import download


class Words(dict):
    """Wildcards as Snakemake has them: keys and attributes."""

    __getattr__ = dict.__getitem__


class Hub:
    """Stands in for ``huggingface_hub``'s function, and counts."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.closed: set[str] = set()

    def snapshot_download(self, name: str, **_: object) -> None:
        self.asked.append(name)
        if name in self.closed:
            raise OSError("We couldn't connect\nto the hub")


@pytest.fixture
def hub(monkeypatch) -> Hub:
    import huggingface_hub

    made = Hub()
    monkeypatch.setattr(huggingface_hub, "snapshot_download", made.snapshot_download)
    monkeypatch.setenv("HF_HUB_OFFLINE", "")
    return made


@pytest.fixture
def inputs(tmp_path) -> Inputs:
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump({
        "results": "results", "data": str(tmp_path / "data"), "regressions": [],
        "suites": [{"name": "pairs", "reader": "blimp", "path": "pairs"}],
        "pretrained": [{"name": "toy", "path": "someone/toy"},
                       {"name": "here", "path": str(tmp_path / "here")}],
    }))  # fmt: skip
    (tmp_path / "here").mkdir()
    config = configfile.load(path)
    return Inputs(configfile.validate(config.model_dump(mode="json"), [path]))


def planned(inputs: Inputs, *rules: str) -> SimpleNamespace:
    """Return a DAG whose jobs of these rules will run."""
    jobs = [("items", {"suite": "pairs"})]
    for run in inputs.grid.given_models:
        words = ("condition", "size", "model", "recipe", "bias", "seed")
        jobs.append(("score", {word: str(getattr(run, word)) for word in words}))
    found = [
        SimpleNamespace(rule=SimpleNamespace(name=rule), wildcards=Words(given))
        for rule, given in jobs
        if rule in rules
    ]
    return SimpleNamespace(needrun_jobs=lambda: found)


def test_models_are_downloaded_and_folders_are_not(hub, inputs):
    download.ahead(planned(inputs, "items"), inputs)
    assert (hub.asked, os.environ["HF_HUB_OFFLINE"]) == ([], "")
    download.ahead(planned(inputs, "items", "score"), inputs)
    assert hub.asked == ["someone/toy"]
    assert os.environ["HF_HUB_OFFLINE"] == "1"


def test_what_cannot_be_had_is_told_and_left_to_its_job(hub, inputs, caplog):
    hub.closed = {"someone/toy"}
    download.ahead(planned(inputs, "items", "score"), inputs)
    assert os.environ["HF_HUB_OFFLINE"] == ""
    assert "hf download someone/toy" in caplog.text
