"""Digests of code and of files that no job writes: what changes them and what does not."""

import ast
import json
import os

import pytest

from poshgrid.core import fingerprint, resources
from poshgrid.stages import STAGES
from tests.unit.core.manifest_support import forget, spoil


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of three modules: a imports b, b imports c inside a function."""
    (tmp_path / "a.py").write_text(
        '"""A."""\nfrom poshgrid.b import f\n\ndef g():\n    """G."""\n    return f()\n'
    )
    (tmp_path / "b.py").write_text("def f():\n    from poshgrid import c\n    return c.X\n")
    (tmp_path / "c.py").write_text("X = 1\n")
    (tmp_path / "d.py").write_text("Y = 1\n")
    (tmp_path / "__init__.py").write_text("")
    monkeypatch.setattr(fingerprint, "ROOT", tmp_path)
    monkeypatch.setattr(fingerprint, "RUN_BY_ALL", ())
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def digest():
        """As a new process finds it."""
        forget()
        return fingerprint.code("poshgrid.a")

    yield tmp_path, digest
    forget()


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("module", "old", "new", "seen"),
    [("a.py", "f()", "f() + 1", True), ("b.py", "c.X", "-c.X", True),
     ("c.py", "X = 1", "X = 2", True), ("d.py", "Y = 1", "Y = 2", False),  # nobody imports it
     ("a.py", '"""G."""', '"""Another."""  # and a comment\n', False),
     ("c.py", "X = 1", '# why\nX  =  1\n"""What it is."""', False)],
)  # fmt: skip
def test_a_change_of_code_anywhere_below_is_seen(package, module, old, new, seen):
    folder, digest = package
    before = digest()
    edit(folder / module, old, new)
    assert (digest() != before) == seen


def test_infrastructure_and_other_packages_are_not_followed(package):
    """What of a configuration matters to a job, the job is given."""
    folder, digest = package
    (folder / "core").mkdir()
    (folder / "core/__init__.py").touch()
    (folder / "core/logs.py").write_text("Z = 1\n")
    edit(
        folder / "b.py",
        "def f",
        "import numpy\nimport poshgrid.core.logs\nfrom . import d\n\ndef f",
    )
    before = digest()
    edit(folder / "core/logs.py", "Z = 1", "Z = 2")
    assert digest() == before
    edit(folder / "b.py", "import poshgrid.core.logs", "import poshgrid.d")
    after = digest()
    edit(folder / "d.py", "Y = 1", "Y = 2")
    assert len({before, after, digest()}) == 3


def test_what_was_found_is_kept_until_a_module_changes(package):
    folder, digest = package
    before = digest()
    (file,) = (folder / "cache/poshgrid").iterdir()
    kept = json.loads(file.read_text())
    assert before in kept.values()
    file.write_text(json.dumps(kept | {k: "planted" for k in kept if kept[k] == before}))
    assert digest() == "planted"  # nothing was parsed
    edit(folder / "c.py", "X = 1", "X = 2")
    changed = digest()
    assert changed not in (before, "planted")
    edit(folder / "b.py", "from poshgrid import c", "from poshgrid import d as c")
    assert digest() not in (before, "planted", changed)


def test_packages_are_digested_and_what_type_checkers_alone_import_is_not(package):
    folder, digest = package
    (folder / "room").mkdir()
    for name in ("__init__", "e"):
        (folder / f"room/{name}.py").write_text("Z = 1\n")
    checked = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from poshgrid import d\n"
    (folder / "b.py").write_text(f"{checked}from poshgrid.room import e\ndef f(): ...\n")
    before = digest()
    names = ["poshgrid.a", "poshgrid.b", "poshgrid.room", "poshgrid.room.e"]
    assert fingerprint.closure("poshgrid.a") == names
    edit(folder / "d.py", "Y = 1", "Y = 2")
    assert digest() == before
    edit(folder / "room/__init__.py", "Z = 1", "Z = 2")
    assert digest() != before


HARMLESS = {"SHARED", "SMALLEST"}
"""The name of a folder, and a limit that only an error mentions."""


def test_no_constant_that_decides_a_result_is_outside_the_digests():
    """Only what is in a spec may come from a module that no digest covers."""
    modules = fingerprint.closure(*{stage.module for stage in STAGES.values()})
    taken = {
        alias.name
        for module in modules
        for node in ast.walk(ast.parse(fingerprint.source(module)))
        if isinstance(node, ast.ImportFrom) and fingerprint.exempt(node.module or "")
        for alias in node.names
        if alias.name.isupper()
    }
    assert taken <= HARMLESS


@pytest.fixture
def digest(tmp_path, monkeypatch):
    """A function of paths, as a new process finds it; files are older than a moment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(fingerprint, "_FRESH", -1.0)

    def digest(*paths):
        forget()
        return fingerprint.content(paths)

    yield digest
    forget()


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("The dog sleeps.\n")
    os.utime(path, (1.5e9, 1.5e9))
    return path


def test_what_a_file_holds_decides_and_not_its_time(digest, corpus):
    before = digest("corpus.txt")
    assert len(before) == 32
    os.utime(corpus, (1e9, 1e9))
    assert digest("corpus.txt") == before
    corpus.write_text("The cat sleeps.\n")  # of the same size
    os.utime(corpus, (1e9, 1e9))
    assert digest("corpus.txt") != before


def test_data_may_be_moved_as_a_whole(digest, tmp_path):
    for name, content in (("a/x", "1"), ("b/x", "2")):
        (tmp_path / "data" / name).parent.mkdir(parents=True)
        (tmp_path / "data" / name).write_text(content)
    shipped = str(resources.path("speeds.yaml"))  # of the package, which stays where it is
    before = digest("data/a/x", "data/b/x", shipped)
    assert before != digest("data/a/x", "data/b/x")
    (tmp_path / "data").rename(tmp_path / "moved")
    assert digest(str(tmp_path / "moved/a/x"), "moved/b/x", shipped) == before
    assert digest("moved/b/x", shipped, "moved/a/x", "moved/a/x") == before  # the order is nothing
    (tmp_path / "moved/a").rename(tmp_path / "moved/c")
    assert digest("moved/b/x", "moved/c/x", shipped) != before


def test_what_is_not_there_counts_as_nothing(digest, tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "own.txt").write_text("1")
    os.mkfifo(tmp_path / "pipe")
    nothing = ("results", "gone", "pipe")
    assert digest(*nothing) == ""
    assert digest("own.txt", *nothing) == digest("own.txt") != ""


def test_a_file_is_read_once_for_as_long_as_it_stays(digest, corpus, tmp_path, monkeypatch):
    before = digest("corpus.txt")
    monkeypatch.setattr(fingerprint, "sha256", lambda path: pytest.fail(f"{path} was read again"))
    assert digest("corpus.txt") == before
    (kept,) = (tmp_path / "cache/poshgrid").iterdir()
    assert list(json.loads(kept.read_text())) == [str(corpus)]


def test_a_file_that_has_just_changed_is_read_again(digest, corpus, monkeypatch, tmp_path):
    """Its times may not tell of the next change."""
    monkeypatch.setattr(fingerprint, "_FRESH", 1e12)
    digest("corpus.txt")
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("kept", ["[]", None])
def test_without_a_cache_the_digest_is_the_same(digest, corpus, tmp_path, kept):
    before = digest("corpus.txt")
    (file,) = (tmp_path / "cache/poshgrid").iterdir()
    spoil(file, kept)
    assert digest("corpus.txt") == before
