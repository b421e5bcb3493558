"""Manifests: what they say, what differs from them, and what ``poshgrid verify`` deletes."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars
import pytest
from typer.testing import CliRunner, Result

from poshgrid.cli import app
from poshgrid.core import lock, manifest, verification
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import read_json, write_json
from poshgrid.core.manifest import delete, recorded
from poshgrid.core.manifest import faults as walk
from poshgrid.core.verification import sha256
from tests.unit.core.manifest_support import flip, stage, text


def test_the_cost_is_that_of_the_job_and_of_processes_that_it_starts(monkeypatch, tmp_path):
    monkeypatch.setattr(manifest, "PACKAGES", ("numpy", "no-such-package", "polars"))
    code = "import time\nwhile time.process_time() < 0.5: pass"
    with recorded(tmp_path / "a.json"):
        subprocess.run([sys.executable, "-c", code], check=True)
        time.sleep(0.5)
    cost = read_json(tmp_path / "a.json")
    assert 0.5 <= cost["cpu_seconds"] < 2 and cost["wall_seconds"] >= 1
    assert cost["peak_memory_mb"] > 10
    assert cost["packages"] == {"numpy": np.__version__, "polars": polars.__version__}


def test_a_disk_that_cannot_take_what_was_written_leaves_no_manifest(monkeypatch, tmp_path):
    def full(path):
        raise OSError(errno.EDQUOT, "Disk quota exceeded", str(path))

    monkeypatch.setattr(manifest, "sync", full)
    with (
        pytest.raises(PoshgridError, match=r"table\.bin: cannot write: Disk quota exceeded; "),
        recorded(tmp_path / "manifest.json"),
    ):
        (tmp_path / "table.bin").write_text("one")
    assert not (tmp_path / "manifest.json").exists()


def replaced(path):
    """As a job that a killed Snakemake has left does: the same bytes, another file."""
    again = path.with_name("again")
    again.write_text(path.read_text())
    again.replace(path)


@pytest.mark.parametrize(
    ("change", "same"),
    [(lambda path: path.write_text("one"), False), (lambda path: path.unlink(), False),
     (replaced, True)],
)  # fmt: skip
def test_an_input_that_changes_while_it_is_read_leaves_no_manifest(tmp_path, change, same):
    source = tmp_path / "in" / "corpus.txt"
    source.parent.mkdir()
    source.write_text("one two three")
    try:
        with recorded(tmp_path / "manifest.json", inputs=[source]):
            change(source)
    except PoshgridError as error:
        assert "corpus.txt: changed while it was read" in str(error)
    assert (tmp_path / "manifest.json").exists() == same


def test_a_flipped_bit_is_refused_with_the_file_the_stage_and_the_remedy(tmp_path: Path) -> None:
    table = text(tmp_path / "model.bin")
    stage(tmp_path / "manifest.json")
    assert verification.check([table]) == {str(table): sha256(table)}
    flip(table)
    os.utime(table)
    with pytest.raises(PoshgridError) as caught:
        verification.check([table])
    message = str(caught.value)
    assert message.startswith(f"{table}: not the bytes that count wrote (manifest.json); ")
    assert "poshgrid verify --delete" in message
    assert "\n" not in message


def test_files_without_a_manifest_and_of_earlier_versions_pass(tmp_path: Path) -> None:
    source = text(tmp_path / "source.txt")
    old = text(tmp_path / "old" / "table.bin")
    write_json(tmp_path / "old" / "manifest.json", {"command": ["poshgrid", "mix"]})
    missing = tmp_path / "missing.bin"
    assert set(verification.check([source, old, missing])) == {str(source), str(old)}


@pytest.mark.parametrize(
    "content", ["[]", '{"outputs": 3}', '{"outputs": {"table.bin": 3}}', '{"command": 3}']
)
def test_a_file_of_a_corpus_may_have_the_name_of_a_manifest(tmp_path: Path, content: str) -> None:
    table = text(tmp_path / "table.bin")
    text(tmp_path / "manifest.json", content)
    assert set(verification.check([table])) == {str(table)}


@pytest.mark.parametrize("content", ["\x00", "", '{"command"'])
def test_a_manifest_that_is_none_is_refused_in_one_line(tmp_path: Path, content: str) -> None:
    table = text(tmp_path / "table.bin")
    text(tmp_path / "manifest.json", content)
    with pytest.raises(PoshgridError, match="not a manifest"):
        verification.check([table])


def faults(results: Path) -> dict[str, str]:
    return {fault.path.relative_to(results).as_posix(): fault.kind for fault in walk(results)}


def left(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.*"))


def test_delete_takes_damaged_files_and_their_manifest_and_nothing_else(tmp_path: Path) -> None:
    for name in ("a/x.bin", "a/y.bin", "a/z.bin", "b/z.bin", "c/table.bin"):
        text(tmp_path / name)
    for name in "abc":
        stage(tmp_path / name / "manifest.json")
    flip(tmp_path / "a" / "x.bin")
    flip(tmp_path / "a" / "z.bin")
    (tmp_path / "c" / "table.bin").unlink()
    text(tmp_path / "d" / "manifest.json", '{"outputs": ')
    assert faults(tmp_path) == {
        "a/x.bin": "changed", "a/z.bin": "changed", "c/table.bin": "missing",
        "d/manifest.json": "broken",
    }  # fmt: skip
    delete(walk(tmp_path))
    assert left(tmp_path) == ["a/y.bin", "b/manifest.json", "b/z.bin"]


def test_what_was_made_of_an_input_that_was_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By hand, or by a Snakemake that was told to look away: no file is other than it was written.

    ``c`` was made of ``b`` as it is; ``d`` has read nothing of the results, and what it read is
    gone.
    """
    results = tmp_path / "study" / "results"
    text(results / "a" / "x.bin"), text(results / "b" / "y.bin"), text(results / "c" / "z.bin")
    text(results / "d" / "z.bin"), text(tmp_path / "study" / "data.txt")
    monkeypatch.chdir(tmp_path / "study")  # where the commands run
    stage(results / "a" / "manifest.json")
    stage(results / "b" / "manifest.json", inputs=("results/a/x.bin",))
    stage(results / "c" / "manifest.json", inputs=(str(results / "b" / "y.bin"),))
    stage(results / "d" / "manifest.json", inputs=("data.txt",))
    text(tmp_path / "study" / "data.txt", "other")
    stage(results / "a" / "manifest.json")
    monkeypatch.chdir(tmp_path)
    relative = Path(os.path.relpath(results))
    assert faults(relative) == {}
    text(results / "a" / "x.bin", "one two four")
    assert faults(relative) == {"a/x.bin": "changed"}, "not written anew, but damaged"
    stage(results / "a" / "manifest.json")
    assert faults(relative) == {"b/manifest.json": "outdated"}
    (line,) = [fault.line() for fault in walk(relative)]
    assert line.endswith(f": made of another {relative / 'a/x.bin'}")
    delete(walk(relative))
    assert left(results) == ["a/manifest.json", "a/x.bin", "b/y.bin", "c/manifest.json", "c/z.bin",
                             "d/manifest.json", "d/z.bin"]  # fmt: skip


def test_what_was_made_of_a_result_that_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files from outside the results may be gone, also for somebody who stands in the results."""
    results = tmp_path / "results"
    text(results / "a" / "x.bin"), text(results / "b" / "y.bin"), text(results / "c" / "z.bin")
    text(tmp_path / "data.txt")
    stage(results / "a" / "manifest.json", inputs=(str(tmp_path / "data.txt"),))
    stage(results / "b" / "manifest.json", inputs=(str(results / "a" / "x.bin"),))
    stage(results / "c" / "manifest.json", inputs=(str(results / "b" / "y.bin"),))
    (tmp_path / "data.txt").unlink()
    monkeypatch.chdir(results)
    assert faults(results) == faults(Path()) == {}
    shutil.rmtree(results / "a")
    assert faults(results) == faults(Path()) == {"b/manifest.json": "outdated"}


@pytest.mark.parametrize("path", ["../../thesis.txt", "x/../../../thesis.txt", "{}/thesis.txt"])
def test_a_manifest_reaches_nothing_outside_its_folder(tmp_path: Path, path: str) -> None:
    text(tmp_path / "thesis.txt")
    manifest = tmp_path / "results" / "a" / "manifest.json"
    text(manifest.parent / "x" / "table.bin")
    text(manifest, json.dumps({"outputs": {path.format(tmp_path): "0"}}))
    text(tmp_path / "results" / "b" / "manifest.json", "[]")  # no stage wrote it
    before = left(tmp_path)
    assert faults(tmp_path / "results") == {
        "a/manifest.json": "foreign", "b/manifest.json": "foreign"
    }  # fmt: skip
    assert delete(walk(tmp_path / "results")) == []
    assert left(tmp_path) == before


def test_what_a_stage_below_wrote_is_held_to_its_own_manifest(tmp_path: Path) -> None:
    """The stage above ended while the one below had yet to write its manifest."""
    table = text(tmp_path / "z" / "table.bin", "half")
    stage(text(tmp_path / "own.bin").with_name("manifest.json"))
    stage(text(table, "whole").with_name("manifest.json"))
    assert faults(tmp_path) == {}
    flip(table)
    (fault,) = walk(tmp_path)
    assert (fault.path, fault.manifest) == (table, table.with_name("manifest.json"))


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A results folder with a flipped bit, in a working folder that is the present one."""
    monkeypatch.chdir(tmp_path)
    stage(text(tmp_path / "results" / "a" / "table.bin").with_name("manifest.json"))
    flip(tmp_path / "results" / "a" / "table.bin")
    return tmp_path / "results"


def command(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["verify", *arguments])


def test_what_people_may_edit_and_what_no_manifest_lists_is_no_fault(tmp_path: Path) -> None:
    text(tmp_path / "c" / "sheet.csv"), text(tmp_path / "logs" / "train.log")
    stage(tmp_path / "c" / "manifest.json", editable=("*.csv",))
    text(tmp_path / "c" / "sheet.csv", "filled in"), text(tmp_path / "c" / "own.txt")
    assert faults(tmp_path) == {}


def test_a_folder_that_another_runs_was_copied_over_is_found(tmp_path: Path) -> None:
    for name in ("a", "b"):
        stage(text(tmp_path / "old" / "models" / name / "table.bin", name).parent / "manifest.json")
    shutil.copytree(tmp_path / "old", tmp_path / "new")
    assert faults(tmp_path / "new") == {}, "results may be moved as a whole"
    shutil.copytree(tmp_path / "old/models/b", tmp_path / "new/models/a", dirs_exist_ok=True)
    assert faults(tmp_path / "new") == {"models/a/manifest.json": "moved"}
    assert faults(tmp_path / "new" / "models" / "a") == {}, "seen alone, it has no place"


def test_the_command_says_what_it_deleted_and_what_it_left(results: Path) -> None:
    text(results / "b" / "manifest.json", "[]")
    assert command("results").exit_code == 1
    assert left(results) == ["a/manifest.json", "a/table.bin", "b/manifest.json"]
    answer = command("results", "--delete")
    assert "deleted 1" in answer.stdout
    assert "1 not deleted, results/b/manifest.json first" in str(answer.exception)
    assert set(left(results)) - {".owner", ".owner.lock"} == {"b/manifest.json"}


def test_nothing_is_deleted_while_a_workflow_runs_on_the_results(results: Path) -> None:
    release = lock.own(results)
    refused = command("results/a", "--delete").exception
    assert isinstance(refused, PoshgridError) and str(os.getpid()) in str(refused)
    assert "a/table.bin" in left(results)
    release()
    assert command("results/a", "--delete").exit_code == 0
    assert "a/table.bin" not in left(results)
