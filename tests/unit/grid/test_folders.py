"""Checkpoint folders: which are stale, and that no others are deleted."""

from __future__ import annotations

import fcntl
import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from poshgrid.cli import app
from poshgrid.config.runs import Run
from poshgrid.errors import PoshgridError
from poshgrid.files import write_json
from poshgrid.grid import configfile, folders
from poshgrid.grid.grid import Grid
from poshgrid.training import identity

RUN = "baby-f/20K/gpt2-tiny/sentence/recency/seed42"
OTHER = "baby-f/20K/gpt2-tiny/sentence/none/seed42"
MACHINE = {"torch": "2.0", "transformers": "5", "numpy": "2", "device": "cuda"}


@pytest.fixture
def site(root, tmp_path, monkeypatch):
    """The tiny grid with a results folder of its own, and the tokens of one cell."""
    monkeypatch.chdir(root)
    return Site(tmp_path)


class Site:
    def __init__(self, top):
        self.results, self.top = top / "results", top / "results/checkpoints"
        loaded = configfile.load("studies/posh-bench/toy.yaml")
        self.grid = Grid(loaded.model_copy(update={"results": str(self.results)}))
        self.tokens("one")

    def tokens(self, digest):
        facts = self.results / "tokens/baby-f/20K/statistics.json"
        write_json(facts, {"train": {"sha256": digest}})

    def decisive(self, name):
        spec = self.grid.train_spec(Run.parse(name))
        path = self.results / "tokens/baby-f/20K/statistics.json"
        return identity.of_run(spec, json.loads(path.read_text())) | MACHINE

    def folder(self, name, *, changed=None, note=True, model=None):
        """Make the checkpoints of a run as training does."""
        decisive = self.decisive(name) | (changed or {})
        made = self.top / identity.digits(decisive)
        (made / "step-000000005").mkdir(parents=True)
        (made / "step-000000005/weights.safetensors").write_bytes(b"0" * 1_000)
        (made / "lock").write_text("process 7 on node3\n")
        if note:
            identity.write(made, model or self.results / "models" / name, decisive)
        return made

    def lives(self):
        return {each.path.name: each.life for each in folders.folders(self.grid)}

    def command(self, *arguments, told=None):
        given = [
            "checkpoints",
            "studies/posh-bench/toy.yaml",
            "--results",
            str(self.results),
            *arguments,
        ]
        return CliRunner().invoke(app, given, input=told)


def test_a_run_of_the_grid_goes_on_from_its_own(site):
    made = site.folder(RUN)
    (found,) = folders.folders(site.grid)
    assert (found.path, found.run, found.life) == (made, RUN, "current")
    assert found.size == sum(file.stat().st_size for file in made.rglob("*") if file.is_file())


@pytest.mark.parametrize(
    ("kind", "why"),
    [("spec", "learner, regimen or bias"), ("tokens", "text"), ("distances", "trees"),
     ("code", "code")],
)  # fmt: skip
def test_what_has_changed_is_told(site, kind, why):
    site.folder(RUN, changed={kind: "another"})
    (found,) = folders.folders(site.grid)
    assert found.life == "stale" and why in found.why


def test_a_change_of_one_bias_makes_its_own_stale(site):
    mine, other = site.folder(RUN), site.folder(OTHER)
    changed = site.grid.config.model_dump()
    changed["biases"]["recency"] = {"decay": 0.7}
    site.grid = Grid(type(site.grid.config).model_validate(changed))
    assert site.lives() == {mine.name: "stale", other.name: "current"}
    site.grid = Grid(site.grid.config.model_copy(update={"only": "seed=53"}))
    assert site.lives() == {mine.name: "stale", other.name: "current"}


def test_new_tokens_make_checkpoints_stale_and_missing_ones_tell_nothing(site):
    made = site.folder(RUN)
    site.tokens("two")
    assert site.lives() == {made.name: "stale"}
    (site.results / "tokens/baby-f/20K/statistics.json").unlink()
    assert site.lives() == {made.name: "unknown"}


def test_what_no_run_has_is_stale(site):
    others = {
        site.folder(RUN, changed={"torch": "1"}, note=False): "of an earlier version",
        site.folder(RUN, model=site.results / "elsewhere"): "no run of this configuration",
    }
    half = site.top / f".{'a' * 16}.77.old.tmp"
    half.mkdir()
    (site.top / "notes of mine").mkdir()
    found = {each.path: (each.life, each.why) for each in folders.folders(site.grid)}
    others[half] = "half removed"
    assert found == {path: ("stale", why) for path, why in others.items()}


def test_a_note_that_cannot_be_read_is_no_reason_to_delete(site):
    made = site.folder(RUN)
    (made / identity.NOTE).write_text("{")
    assert site.lives() == {made.name: "unknown"}


def test_a_living_job_keeps_its_folder_whatever_it_is(site):
    stale = site.folder(RUN, changed={"code": "old"})
    holder = subprocess.Popen(
        [sys.executable, "-c",
         f"import fcntl; f = open({str(stale / 'lock')!r}, 'r+b');"
         "fcntl.flock(f, fcntl.LOCK_EX); print(flush=True); input()"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        holder.stdout.readline()
        (found,) = folders.folders(site.grid)
        assert found.life == "locked" and "process 7 on node3" in found.why
        assert folders.chosen([found], None) == []
        with pytest.raises(PoshgridError, match="is training this run; end that job first"):
            folders.chosen([found], stale.name)
        # It was free when it was looked at, and is not any more.
        done, said = folders.delete([folders.Folder(stale, RUN, "stale", "", 0)])
        assert done == 0 and "left alone" in said[0] and (stale / identity.NOTE).is_file()
    finally:
        holder.communicate(b"\n")
    assert site.lives() == {stale.name: "stale"}


def test_without_locks_nothing_is_certain(site, monkeypatch):
    made = site.folder(RUN, changed={"code": "old"})

    def none(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", none)
    (found,) = folders.folders(site.grid)
    assert (found.life, found.why) == ("unknown", "no lock: Operation not supported")
    assert site.command("--delete", "--yes").exit_code == 0 and made.is_dir()
    assert site.command("--delete", "--yes", "--folder", made.name).exit_code == 0
    assert not made.exists()


def test_the_command_deletes_what_is_stale_and_asks_before(site):
    stale, current = site.folder(RUN, changed={"code": "old"}), site.folder(OTHER)
    listed = site.command()
    assert f"{stale.name} stale" in listed.output and "1 stale" in listed.output
    assert f"{current.name} current" in listed.output and OTHER in listed.output
    assert "nothing deleted" in site.command("--delete", told="n\n").output and stale.is_dir()
    assert "deleted 1 folders" in site.command("--delete", told="y\n").output
    assert [path.name for path in site.top.iterdir()] == [current.name]
    assert "nothing is certainly stale" in site.command("--delete").output
    wrong = site.command("--folder", "abc")
    assert isinstance(wrong.exception, PoshgridError) and current.name in str(wrong.exception)
    site.command("--delete", "--yes", "--folder", current.name)
    assert list(site.top.iterdir()) == []
    assert "no checkpoints in" in site.command().output
