"""Plug-ins of a study's own, in ``plugins/`` where it runs."""

import importlib
import sys

import pytest

from poshgrid.core import fingerprint, plugins
from poshgrid.core.errors import PoshgridError
from tests.unit.core.manifest_support import forget

FILTERS = "poshgrid.evidence.filters"
FILTER = '"""Mine."""\n\n\ndef paper(tree):\n    return None\n\n\nREADINGS = {"paper": paper}\n'


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A folder of filters of a study that runs here; what is imported of it is forgotten."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    packages = [importlib.import_module(name) for name in plugins.KINDS]
    for package in packages:
        monkeypatch.setattr(package, "__path__", list(package.__path__))
    before = set(sys.modules)
    folder = tmp_path / "plugins/evidence/filters"
    folder.mkdir(parents=True)
    yield folder
    for name in set(sys.modules) - before:
        if (sys.modules.pop(name).__file__ or "").startswith(str(tmp_path)):
            delattr(importlib.import_module(FILTERS), name.rpartition(".")[2])
    forget()


def digest(word):
    """As a new process finds it."""
    forget()
    return fingerprint.code(plugins.module_name(FILTERS, word))


def test_a_file_in_the_studys_folder_is_found_and_loaded(study):
    assert "my-own" not in plugins.names(FILTERS)
    (study / "my_own.py").write_text(FILTER)
    plugins.check()
    assert {"my-own", "binding"} <= set(plugins.names(FILTERS))
    assert plugins.load(FILTERS, "my-own").READINGS["paper"](None) is None


def test_its_digest_is_of_what_it_does_and_of_the_modules_beside_it(study):
    file, beside = study / "my_own.py", study / "_words.py"
    file.write_text(f"from ._words import WORDS\n{FILTER}")
    beside.write_text("WORDS = 1\n")
    first = digest("my-own")
    file.write_text(f"from ._words import WORDS  # a remark\n{FILTER}")
    assert digest("my-own") == first
    beside.write_text("WORDS = 2\n")
    second = digest("my-own")
    file.write_text(f"from ._words import WORDS\n{FILTER}\nADDED = 1\n")
    assert len({first, second, digest("my-own")}) == 3


@pytest.mark.parametrize(
    ("path", "text", "message"),
    [
        ("evidence/filters/broken.py", "def f(:\n", "broken.py:1: "),
        ("evidence/filters/binding.py", FILTER, "binding.py: poshgrid has"),
        ("evidence/lexical/broken.py", FILTER, "broken.py: not a folder of plug-ins"),
        ("evidence/filters/broken.py", "\nimport nowhere_at_all\n", "broken.py:2: ModuleNotFound"),
        ("evidence/filters/broken.py", "X = 1\n", "broken.py: a filter has READINGS"),
        ("evidence/filters/broken.py", "def f():\n    {}['x']\n\n\nf()\n", "broken.py:2: KeyError"),
    ],
)
def test_what_cannot_be_a_plug_in_is_one_line_that_names_the_file(study, path, text, message):
    file = study.parents[1] / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    with pytest.raises(PoshgridError) as caught:
        plugins.check()
        plugins.load(FILTERS, file.stem)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
