"""The manifest of sources, and what a configuration finds of them."""

import pytest

from poshgrid import plugins
from poshgrid.config import Portion, Source
from poshgrid.corpora.catalogue import READERS, manifest, status
from poshgrid.grid import configfile
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


def statuses(root, data, *sources):
    """What is found of sources (name, reader, path), all of them used but one named idle."""
    config = configfile.load(root / "config" / "tiny.yaml")
    portions = [
        Portion(source=name, words={"10M": 0 if name == "idle" else 9}) for name, *_ in sources
    ]
    sources = [Source(name=name, reader=reader, path=path) for name, reader, path in sources]
    corpora = [config.corpora[0].model_copy(update={"sources": portions})]
    update = {"data": str(data), "sources": sources, "corpora": corpora}
    return status(config.model_copy(update=update))


def test_what_is_there_and_what_is_missing_are_told_apart(root, tmp_path):
    put(tmp_path, "gutenberg/pg11.txt", "x")
    put(tmp_path, "childes-db/notes.txt", "x")
    here, missing = statuses(
        root, tmp_path, ("gutenberg", "gutenberg", "gutenberg"),
        ("childes", "childes-db", "childes-db"), ("idle", "text", "nowhere"),
    )  # fmt: skip
    assert (here.name, here.restricted, here.files) == ("gutenberg", False, 1)
    assert (here.problem, here.remedy) == (None, None)
    assert (missing.name, missing.restricted) == ("childes", True)
    assert str(tmp_path / "childes-db") in missing.problem


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
def test_the_remedy_fits_the_configuration(root, tmp_path, source, remedy):
    (source,) = statuses(root, tmp_path, source)
    assert source.remedy == remedy.replace("DATA", str(tmp_path))
