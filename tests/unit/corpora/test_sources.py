"""The manifest of sources, the page about it, and what a configuration finds of them."""

from __future__ import annotations

import pytest

from poshgrid import plugins
from poshgrid.config import Portion, Source
from poshgrid.corpora.catalogue import READERS, manifest, status
from poshgrid.grid import configfile

ENTRIES = manifest().sources
FORMATS = [(entry.name, form) for entry in ENTRIES for form in entry.formats]
NAMES = [
    "childes", "opensubtitles", "bnc", "switchboard", "tinystories", "gutenberg",
    "simple-wikipedia", "wikipedia", "babylm", "posh-bench",
]  # fmt: skip


# ---- the manifest -------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "form"), FORMATS, ids=lambda v: getattr(v, "reader", v))
def test_the_reader_finds_what_the_manifest_says_it_takes(tmp_path, name, form):
    reader = plugins.load(READERS, form.reader)
    put(tmp_path / form.path / form.example)
    put(tmp_path / form.path / "notes.pdf")
    found = reader.files(tmp_path / form.path, plugins.options(READERS, form.reader, {}))
    assert found == [tmp_path / form.path / form.example]


def test_names_and_paths_are_given_once_and_lie_below_the_data_folder():
    paths = [form.path for _, form in FORMATS]
    files = [f"{entry.name}/{item.file}" for entry in ENTRIES for item in entry.downloads]
    for values in (NAMES, paths, files):
        assert len(set(values)) == len(values)
        assert not [value for value in values if value.startswith("/") or ".." in value]
    for entry in ENTRIES:
        assert not (entry.access == "restricted" and entry.downloads)
        assert not entry.downloads or any(item.default for item in entry.downloads)


# ---- the page -----------------------------------------------------------------------------------


# ---- what a configuration finds -----------------------------------------------------------------


def put(path, text="x"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture
def config(root, tmp_path):
    """The toy configuration with other sources, all of them used unless they are named ``idle``."""

    def build(*sources):
        base = configfile.load(root / "config" / "tiny.yaml")
        return base.model_copy(
            update={
                "data": str(tmp_path),
                "sources": [Source.model_validate(source) for source in sources],
                "bases": [
                    base.bases[0].model_copy(
                        update={
                            "sources": [
                                portion(s["name"], 0 if s["name"] == "idle" else 9) for s in sources
                            ]
                        }
                    )
                ],
            }
        )

    return build


def portion(name, words):
    return Portion(source=name, words={"10M": words})


def test_found_and_missing_are_told_apart(config, tmp_path):
    put(tmp_path / "gutenberg" / "pg11.txt", "x" * 1500)
    put(tmp_path / "gutenberg" / "pg12.txt", "x" * 500)
    put(tmp_path / "childes-db" / "notes.txt")
    put(tmp_path / "t" / "a.train")
    found = status(
        config(
            {"name": "gutenberg", "reader": "gutenberg", "path": "gutenberg"},
            {"name": "childes", "reader": "childes-db", "path": "childes-db"},
            {"name": "toy", "reader": "toy", "path": "."},
            {"name": "idle", "reader": "text", "path": "nowhere"},
            {"name": "t", "reader": "text", "path": "t", "options": {"suffix": ".train"}},
        )
    )
    assert [(s.name, s.found, s.restricted, s.files, s.size) for s in found if s.name != "toy"] == [
        ("gutenberg", True, False, 2, 2000),
        ("childes", False, True, 0, 0),
        ("t", True, False, 1, 1),
    ]
    assert (found[0].problem, found[0].remedy) == (None, None)
    assert str(tmp_path / "childes-db") in found[1].problem
    assert "TalkBank account" in found[1].remedy


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
