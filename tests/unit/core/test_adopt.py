"""The last outputs of a costly stage are taken over if spec, code and inputs are the same."""

from __future__ import annotations

import errno
import json
import os
import shutil
import threading
import time
from pathlib import Path

import pytest

from poshgrid.config import specs
from poshgrid.core import files, lock
from poshgrid.core.errors import PoshgridError
from poshgrid.core.manifest import faults
from poshgrid.stages.stage import Job, run
from poshgrid.stages.stage import Stage as Declared
from tests import jobs
from tests.unit.core.manifest_support import flip, text
from tests.unit.core.manifest_support import stage as made

SPEC = '{"model":{"name":"paper","formula":"p(correct, n) ~ 1"}}'
OTHER = SPEC.replace("paper", "other")


@pytest.fixture
def results(tmp_path: Path) -> Path:
    text(tmp_path / "results" / "corpora" / "words.txt")
    made(text(tmp_path / "results" / "tokens" / "facts.json", "[]").with_name("manifest.json"))
    return tmp_path / "results"


class Stage:
    """A stage of a results folder, which counts how often it was really run."""

    def __init__(self, results: Path) -> None:
        self.results, self.source = results, results / "corpora" / "words.txt"
        self.folder, self.times, self.ends = results / "models" / "a", 0, 0
        self.meanwhile = lambda: None

    @property
    def manifest(self) -> Path:
        return self.folder / "manifest.json"

    def make(self, _: object = None) -> dict[str, int]:
        self.times += 1
        self.meanwhile()
        files.read_json(self.results / "tokens" / "facts.json")  # no declared input
        text(self.folder / "model.bin", self.source.read_text() * 2)
        text(self.folder / "checkpoints" / "50" / "model.bin", "earlier")
        return {"words": 3}

    def __call__(self, spec: str = SPEC, code: str = "abc") -> None:
        class Made(Declared):
            Spec, outputs, costly = specs.RegressionSpec, ("model.bin",), True
            run, finished = staticmethod(self.make), staticmethod(self.end)

        job = jobs.text(self.folder, json.loads(spec), words=self.source, code=code)
        run(Made, job)

    def end(self, _: Job) -> None:
        assert self.manifest.exists()
        self.ends += 1

    def deleted_by_snakemake(self) -> None:
        """Delete what a rule declares, as Snakemake does before it begins a job anew."""
        (self.folder / "model.bin").unlink(missing_ok=True)
        self.manifest.unlink(missing_ok=True)

    def content(self) -> dict[str, bytes]:
        paths = sorted(path for path in self.folder.rglob("*") if path.is_file())
        return {path.relative_to(self.folder).as_posix(): path.read_bytes() for path in paths}


@pytest.fixture
def stage(results: Path) -> Stage:
    return Stage(results)


def kept(results: Path) -> list[Path]:
    return sorted(results.rglob(".*.finished"))


def test_what_is_finished_is_taken_over_to_the_byte(stage: Stage) -> None:
    stage()
    whole = stage.content()
    assert set(whole) == {"checkpoints/50/model.bin", "manifest.json", "model.bin"}
    shutil.rmtree(stage.folder)
    before = time.time_ns() - 10**7  # a file system's clock may be behind
    stage()
    assert (stage.times, stage.ends) == (1, 2)
    assert stage.content() == whole
    assert list(models(stage.results)) == []
    # New to Snakemake, which compares times
    assert all(path.stat().st_mtime_ns > before for path in stage.folder.rglob("*.*"))


def models(results: Path) -> list[str]:
    return [fault.line() for fault in faults(results / "models")]


def last(stage: Stage, name: str) -> Path:
    (path,) = stage.results.glob(f"models/.a.finished/last/{name}")
    return path


def without(stage: Stage, key: str) -> None:
    """Write the kept manifest anew without a key."""
    path = last(stage, "manifest")
    content = {name: value for name, value in json.loads(path.read_text()).items() if name != key}
    path.unlink()
    path.write_text(json.dumps(content))


FAULTS = {
    "spec": lambda stage: stage(spec=OTHER),
    "code": lambda stage: stage(code="def"),
    "input": lambda stage: text(stage.source, "other words"),
    "result that was read": lambda stage: made(
        text(stage.results / "tokens" / "facts.json", "[1]").with_name("manifest.json")
    ),
    "flipped": lambda stage: flip(last(stage, "outputs/model.bin")),
    "no outputs": lambda stage: without(stage, "outputs"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_not_what_is_asked_for_is_made_again(stage: Stage, fault: str) -> None:
    stage()
    stage.deleted_by_snakemake()
    FAULTS[fault](stage)
    if stage.times == 1:
        stage()
    assert stage.times == 2
    assert (stage.folder / "model.bin").read_text() == stage.source.read_text() * 2
    assert list(models(stage.results)) == []
    stage.deleted_by_snakemake()  # what was made anew is what is kept now
    stage.make = lambda _: pytest.fail("made a third time")
    manifest = json.loads(last(stage, "manifest").read_text())
    stage(spec=json.dumps(manifest["spec"]), code=manifest["code"])


def test_a_duplicate_waits_and_takes_over(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "PATIENCE", 0.01)
    second = Stage(stage.results)
    thread = threading.Thread(target=second)

    def meanwhile() -> None:
        thread.start()
        time.sleep(0.3)
        assert thread.is_alive()
        assert second.times == 0

    stage.meanwhile = meanwhile
    stage()
    thread.join(10)
    assert (stage.times, second.times, second.ends) == (1, 0, 1)
    assert list(models(stage.results)) == []


def test_a_stage_that_fails_keeps_nothing_and_loses_nothing(stage: Stage) -> None:
    def fail() -> None:
        raise PoshgridError("told to end")

    stage.meanwhile = fail
    with pytest.raises(PoshgridError):
        stage()
    assert (kept(stage.results), stage.ends) == ([], 0)


def test_results_that_were_moved_are_taken_over(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inputs are compared by their place in the results: the same words elsewhere do not count."""
    stage()
    stage.results.rename(tmp_path / "moved")
    monkeypatch.chdir(tmp_path)
    moved = Stage(Path("moved"))
    moved()
    assert moved.times == 0
    moved.source = text(Path("moved/corpora/others/words.txt"), "other words")
    moved()
    assert moved.times == 1


def test_what_cannot_be_kept_is_no_failure(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "link", full)
    stage()
    assert stage.ends == 1
    assert "not kept" in caplog.text
    assert "No space left" in caplog.text
    assert kept(stage.results) == []
