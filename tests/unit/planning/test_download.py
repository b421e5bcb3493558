"""What jobs read from a hub is there before they start, and they ask for nothing more."""

import os
from types import SimpleNamespace

import huggingface_hub
import pytest

from poshgrid.config.runs import GIVEN, PRETRAINED, Run
from poshgrid.planning import download
from tests.jobs import of_run


@pytest.mark.parametrize("reachable", [True, False])
def test_models_are_downloaded_and_folders_are_not(monkeypatch, caplog, reachable):
    asked = []

    def snapshot_download(name, **_):
        asked.append(name)
        if not reachable:
            raise OSError("We couldn't connect\nto the hub")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    monkeypatch.setenv("HF_HUB_OFFLINE", "")
    runs = {name: Run(PRETRAINED, GIVEN, name, PRETRAINED, "none", 0) for name in ("toy", "here")}
    models = {
        run: SimpleNamespace(path=f"someone/{name}", revision=None) for name, run in runs.items()
    }
    inputs = SimpleNamespace(
        grid=SimpleNamespace(pretrained_runs=models),
        pretrained_folder=lambda run: "folder" if run == runs["here"] else None,
    )
    rule = SimpleNamespace(name="score")
    jobs = [SimpleNamespace(rule=rule, wildcards=of_run(run.name)) for run in runs.values()]
    download.ahead(SimpleNamespace(needrun_jobs=lambda: jobs), inputs)
    assert asked == ["someone/toy"]
    assert os.environ["HF_HUB_OFFLINE"] == ("1" if reachable else "")
    assert ("hf download someone/toy" in caplog.text) != reachable
