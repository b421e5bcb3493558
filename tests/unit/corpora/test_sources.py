"""The manifest of sources, the page about it, and what a configuration finds of them."""

from __future__ import annotations

import pytest

from poshgrid import plugins
from poshgrid.config import Portion, Source
from poshgrid.corpora.catalogue import READERS, manifest, status
from poshgrid.grid import configfile

ENTRIES = manifest().sources
FORMATS = [(entry.name, form) for entry in ENTRIES for form in entry.formats]
# ---- the manifest -------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "form"), FORMATS, ids=lambda v: getattr(v, "reader", v))
def test_the_reader_finds_what_the_manifest_says_it_takes(tmp_path, name, form):
    reader = plugins.load(READERS, form.reader)
    put(tmp_path / form.path / form.example)
    put(tmp_path / form.path / "notes.pdf")
    found = reader.files(tmp_path / form.path, plugins.options(READERS, form.reader, {}))
    assert found == [tmp_path / form.path / form.example]


def test_no_restricted_source_is_downloaded():
    for entry in ENTRIES:
        assert not (entry.access == "restricted" and entry.downloads)
        assert not entry.downloads or any(item.default for item in entry.downloads)


# ---- what a configuration finds -----------------------------------------------------------------


def put(path, text="x"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture
def config(root, tmp_path):
    """The tiny configuration with other sources, all of them used but one that is named idle."""

    def build(*sources):
        base = configfile.load(root / "config" / "tiny.yaml")
        portions = [
            Portion(source=source["name"], words={"10M": 0 if source["name"] == "idle" else 9})
            for source in sources
        ]
        return base.model_copy(
            update={
                "data": str(tmp_path),
                "sources": [Source.model_validate(source) for source in sources],
                "bases": [base.bases[0].model_copy(update={"sources": portions})],
            }
        )

    return build


def test_found_and_missing_are_told_apart(config, tmp_path):
    put(tmp_path / "gutenberg" / "pg11.txt")
    put(tmp_path / "gutenberg" / "pg12.txt")
    put(tmp_path / "childes-db" / "notes.txt")
    found = status(
        config(
            {"name": "gutenberg", "reader": "gutenberg", "path": "gutenberg"},
            {"name": "childes", "reader": "childes-db", "path": "childes-db"},
            {"name": "idle", "reader": "text", "path": "nowhere"},
        )
    )
    assert [(source.name, source.found, source.restricted, source.files) for source in found] == [
        ("gutenberg", True, False, 2),
        ("childes", False, True, 0),
    ]
    assert (found[0].problem, found[0].remedy) == (None, None)
    assert str(tmp_path / "childes-db") in found[1].problem


@pytest.mark.parametrize(
    ("source", "remedy"),
    [
        (("gutenberg", "gutenberg", "gutenberg"), "run: poshgrid fetch gutenberg --data DATA"),
        # another name: known by its reader
        (("books", "gutenberg", "books/pg11.txt"),
         "run: poshgrid fetch gutenberg --data DATA; then set reader: gutenberg, path: gutenberg"),
        # a reader that does not take what is fetched
        (("tinystories", "text", "stories"),
         "run: poshgrid fetch tinystories --data DATA; then set reader: tinystories, path: "
         "tinystories"),
        # a source that nobody knows
        (("mine", "text", "m"),
         "put the files of the reader text into DATA/m; see docs/sources.md"),
    ],
)  # fmt: skip
def test_the_remedy_fits_the_configuration(config, tmp_path, source, remedy):
    (found,) = status(config(dict(zip(("name", "reader", "path"), source, strict=True))))
    assert found.remedy == remedy.replace("DATA", str(tmp_path))
