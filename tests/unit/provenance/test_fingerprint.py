"""Code digests: what changes them and what does not."""

from __future__ import annotations

import pytest

from poshgrid.provenance import fingerprint


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

    def digest():
        for cached in (fingerprint.imports, fingerprint._tree, fingerprint._parse):
            cached.cache_clear()
        return fingerprint.code("poshgrid.a")

    yield tmp_path, digest
    for cached in (fingerprint.imports, fingerprint._tree, fingerprint._parse):
        cached.cache_clear()


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_comments_docstrings_and_layout_change_nothing(package):
    folder, digest = package
    before = digest()
    edit(folder / "a.py", '"""G."""', '"""Another."""  # and a comment\n')
    edit(folder / "c.py", "X = 1", "# why\nX  =  1")
    assert digest() == before


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [("a.py", "f()", "f() + 1"), ("b.py", "c.X", "-c.X"), ("c.py", "X = 1", "X = 2")],
)
def test_a_change_anywhere_below_is_seen(package, module, old, new):
    folder, digest = package
    before = digest()
    edit(folder / module, old, new)
    assert digest() != before


def test_a_module_that_is_not_imported_is_not_seen(package):
    folder, digest = package
    before = digest()
    edit(folder / "d.py", "Y = 1", "Y = 2")
    assert digest() == before


def test_infrastructure_is_left_out():
    assert "poshgrid.config" in fingerprint.INFRASTRUCTURE
    assert all(
        fingerprint._file(name) is not None
        for name in fingerprint.INFRASTRUCTURE
        if name != "poshgrid.plan"
    )


def test_missing_module():
    with pytest.raises(FileNotFoundError, match=r"poshgrid\.nowhere"):
        fingerprint.code("poshgrid.nowhere")
