"""Code digests: what changes them and what does not."""

import ast
import json

import pytest

from poshgrid.core import fingerprint
from poshgrid.stages import STAGES
from tests.unit.core.manifest_support import forget


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
    monkeypatch.setattr(fingerprint, "ALWAYS", ())
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
