"""The manifest of sources, and what a configuration finds of them."""

import pytest

from poshgrid.config import Source
from poshgrid.core import plugins
from poshgrid.corpora.catalogue import READERS, lacking, manifest
from tests.unit.corpora.reader_support import put

FORMATS = [
    (kind, form)
    for kind, entries in ((READERS, manifest().sources), (plugins.SUITES, manifest().suites))
    for entry in entries
    for form in entry.formats
]


@pytest.mark.parametrize(("kind", "form"), FORMATS, ids=lambda v: getattr(v, "reader", v))
def test_the_reader_finds_what_the_manifest_says_it_takes(tmp_path, kind, form):
    reader = plugins.load(kind, form.reader)
    put(tmp_path, f"{form.path}/{form.example}", "x")
    put(tmp_path, f"{form.path}/notes.pdf", "x")
    files = reader.files(tmp_path / form.path, plugins.options(kind, form.reader, {}))
    assert files[:1] == [tmp_path / form.path / form.example]


def missing(data, name, reader, path):
    return lacking(Source(name=name, reader=reader, path=path), str(data))


def test_what_is_there_and_what_is_missing_are_told_apart(tmp_path):
    put(tmp_path, "gutenberg/pg11.txt", "x")
    put(tmp_path, "childes-db/notes.txt", "x")
    assert missing(tmp_path, "gutenberg", "gutenberg", "gutenberg") is None
    problem, _ = missing(tmp_path, "childes", "childes-db", "childes-db")
    assert str(tmp_path / "childes-db") in problem and problem.endswith("(restricted)")


@pytest.mark.parametrize(
    ("source", "remedy"),
    [
        (("gutenberg", "gutenberg", "gutenberg"), "run: poshgrid fetch gutenberg --data DATA"),
        # a reader that does not take what is fetched
        (("tinystories", "text", "stories"),
         "run: poshgrid fetch tinystories --data DATA; then set reader: tinystories, path: "
         "tinystories"),
        # a source that nobody knows
        (("mine", "text", "m"),
         "put the files of the reader text into DATA/m; see docs/sources.md"),
    ],
)  # fmt: skip
def test_the_remedy_fits_the_configuration(tmp_path, source, remedy):
    assert missing(tmp_path, *source)[1] == remedy.replace("DATA", str(tmp_path))
