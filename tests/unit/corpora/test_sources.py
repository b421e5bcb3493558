"""The manifest of sources, the page about it, and what a configuration finds of them."""

from __future__ import annotations

import re

import pytest
import yaml

from poshgrid import plugins, resources
from poshgrid.config import Portion, Source
from poshgrid.corpora import catalogue
from poshgrid.corpora.catalogue import READERS, Manifest, manifest, status
from poshgrid.errors import PoshgridError
from poshgrid.grid import configfile

ENTRIES = manifest().sources
FORMATS = [(entry.name, form) for entry in ENTRIES for form in entry.formats]
NAMES = [
    "childes", "opensubtitles", "bnc", "switchboard", "tinystories", "gutenberg",
    "simple-wikipedia", "wikipedia", "babylm", "posh-bench",
]  # fmt: skip


# ---- the manifest -------------------------------------------------------------------------------


def test_all_sources_of_the_paper_are_there(root):
    assert [entry.name for entry in ENTRIES] == NAMES
    paper = configfile.load(root / "config" / "config.yaml")
    assert {source.name for source in paper.sources} <= set(NAMES)


def test_downloads_are_encrypted_and_from_the_publisher():
    hosts = {
        "opensubtitles": "object.pouta.csc.fi",
        "tinystories": "huggingface.co",
        "gutenberg": "gutenberg.pglaf.org",
        "simple-wikipedia": "dumps.wikimedia.org",
        "wikipedia": "dumps.wikimedia.org",
        "babylm": "osf.io",
        "posh-bench": "files.osf.io",
    }
    found = {
        (entry.name, item.url.removeprefix("https://").split("/")[0])
        for entry in ENTRIES
        for item in entry.downloads
    }
    assert found == set(hosts.items())


@pytest.mark.parametrize(("name", "form"), FORMATS, ids=lambda v: getattr(v, "reader", v))
def test_the_reader_finds_what_the_manifest_says_it_takes(tmp_path, name, form):
    reader = plugins.load(READERS, form.reader)
    put(tmp_path / form.path / form.example)
    put(tmp_path / form.path / "notes.pdf")
    found = reader.files(tmp_path / form.path, plugins.options(READERS, form.reader, {}))
    assert found == [tmp_path / form.path / form.example]


FETCHED = [
    (entry, files)
    for entry in ENTRIES
    if entry.downloads
    for files in [
        [item.file for item in entry.downloads if item.default],
        *([item.file] for item in entry.downloads if not item.default),
    ]
    if not any(item.unpack for item in entry.downloads)
]


@pytest.mark.parametrize(
    ("entry", "files"), FETCHED, ids=lambda v: v[0] if isinstance(v, list) else v.name
)
def test_the_reader_finds_what_is_fetched(tmp_path, entry, files):
    """And nothing of a download that is under way."""
    form = entry.formats[0]
    folder = tmp_path / form.path
    for file in files:
        put(folder / file)
        put(folder / f"other-{file}.part")
        put(folder / f"other-{file}.part.tag")
    found = plugins.load(READERS, form.reader).files(
        folder, plugins.options(READERS, form.reader, {})
    )
    assert sorted(path.name for path in found) == sorted(files)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"access": "restricted"}, "wikipedia: restricted, so there is nothing to download"),
        ({"access": "maybe"}, r"sources\.7\.access: "),
        ({"name": "babylm"}, "name 'babylm' is given twice"),
        ({"homepage": "ftp://x.org/"}, r"sources\.7\.homepage: "),
        ({"colour": "red"}, r"sources\.7\.colour: Extra inputs"),
        ({"formats": []}, r"sources\.7\.formats: "),
        ({"formats": [{"reader": "text", "path": "../x", "files": "f", "example": "a"}]},
         r"sources\.7\.formats\.0\.path: '\.\./x' is no path below a folder"),
        ({"formats": [{"reader": "text", "path": "bnc", "files": "f", "example": "a"}]},
         "path 'bnc' is given twice"),
        ({"downloads": [{"url": "https://a.org/a", "file": "../a", "sha256": None}]},
         r"downloads\.0\.file: "),
        ({"downloads": [{"url": "https://a.org/a", "file": "a", "sha256": "abc"}]},
         r"downloads\.0\.sha256: "),
        ({"downloads": [{"url": "https://a.org/a", "file": "a"}]}, r"downloads\.0\.sha256: "),
        ({"downloads": [{"url": "https://a.org/a", "file": "a", "sha256": None}] * 2},
         "two downloads are named a"),
        ({"downloads": [{"url": "https://a.org/a", "file": "a", "sha256": None,
                         "default": False}]}, "none of its downloads is a default"),
    ],
)  # fmt: skip
def test_a_wrong_manifest_is_refused_in_one_line(tmp_path, change, message):
    data = yaml.safe_load(resources.path("sources.yaml").read_text(encoding="utf-8"))
    data["sources"][NAMES.index("wikipedia")].update(change)
    path = tmp_path / "sources.yaml"
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    with pytest.raises(PoshgridError, match=message) as caught:
        manifest(path)
    assert "sources.yaml: " in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"sources: [", b"\xff\xfe\xff", None])
def test_an_unreadable_manifest_is_refused_in_one_line(tmp_path, content):
    path = tmp_path / "sources.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(PoshgridError, match=r"sources\.yaml: cannot read \(.*restore") as caught:
        manifest(path)
    assert "\n" not in str(caught.value)


# ---- the page -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page(root):
    return (root / "docs" / "sources.md").read_text(encoding="utf-8")


def sections(page):
    """Name of each section -> its text in one line."""
    parts = re.split(r"^## (.+)\n", page, flags=re.M)[1:]
    return {
        name: " ".join(text.split()) for name, text in zip(parts[::2], parts[1::2], strict=True)
    }


def test_the_page_has_the_sources_in_order(page):
    assert list(sections(page)) == NAMES


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_the_page_says_what_the_manifest_says(page, entry):
    text = sections(page)[entry.name]
    assert f"{entry.title}. <{entry.homepage}>" in text
    assert f"- licence: {entry.licence} (<{entry.licence_url}>)" in text
    assert ("- access: restricted. " in text) == (entry.access == "restricted")
    assert (f"`poshgrid fetch {entry.name}`" in text) == bool(entry.downloads)
    for url in re.findall(r"https?://[^\s)]+", entry.get):
        assert url.rstrip(",;") in text
    for item in entry.downloads:
        if entry.name != "gutenberg":  # twenty books of one form
            assert f"`{item.file}`" in text or f"`--file {item.file}`" in text
        assert (f"--file {item.file}`" in text) == (not item.default)
    row = "| {} | {} | {} | {} |".format(
        entry.name,
        entry.access,
        ", ".join(f"`{form.reader}`" for form in entry.formats),
        ", ".join(f"`{form.path}`" for form in entry.formats),
    )
    assert row in page


def test_the_page_names_no_other_address(page):
    """No address that the manifest does not have."""
    known = resources.path("sources.yaml").read_text(encoding="utf-8")
    for url in re.findall(r"<(https?://[^>]+)>", page):
        assert url in known, url


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
    found = status(
        config(
            {"name": "gutenberg", "reader": "gutenberg", "path": "gutenberg"},
            {"name": "childes", "reader": "childes-db", "path": "childes-db"},
            {"name": "toy", "reader": "toy", "path": "."},
            {"name": "idle", "reader": "text", "path": "nowhere"},
        )
    )
    assert [(s.name, s.state, s.files) for s in found] == [
        ("gutenberg", "found", 2),
        ("childes", "missing, restricted", 0),
        ("toy", "found", 2),
    ]
    assert found[0].size == 2000
    assert (found[0].problem, found[0].remedy) == (None, None)
    assert "childes-db: holds no .csv file" in found[1].problem
    assert "TalkBank account" in found[1].remedy
    assert f"into {tmp_path / 'childes-db'};" in found[1].remedy


def test_the_options_of_a_source_decide_what_is_found(config, tmp_path):
    put(tmp_path / "t" / "a.train")
    source = {"name": "t", "reader": "text", "path": "t"}
    assert status(config(source))[0].state == "missing"
    assert status(config({**source, "options": {"suffix": ".train"}}))[0].files == 1


@pytest.mark.parametrize(
    ("source", "remedy"),
    [
        (("gutenberg", "gutenberg", "gutenberg"), "run: poshgrid fetch gutenberg --data DATA"),
        # another name: known by its reader
        (("books", "gutenberg", "gutenberg"), "run: poshgrid fetch gutenberg --data DATA"),
        (("books", "gutenberg", "corpora/books"),
         "run: poshgrid fetch gutenberg --data DATA --folder corpora/books"),
        (("books", "gutenberg", "books/pg11.txt"),
         "run: poshgrid fetch gutenberg --data DATA; then set path: gutenberg"),
        # a reader that does not take what is fetched
        (("tinystories", "text", "stories"),
         "run: poshgrid fetch tinystories --data DATA; then set reader: tinystories, path: "
         "tinystories"),
        (("wiki", "wikipedia-sentences", "w"),
         "put the files (tables of sentences (.csv)) into DATA/w, or run: poshgrid fetch "
         "wikipedia --data DATA; then set reader: wikipedia-dump, path: wikipedia"),
        # a source that nobody knows
        (("mine", "text", "m"),
         "put the files of the reader text into DATA/m; see docs/sources.md"),
    ],
)  # fmt: skip
def test_the_remedy_fits_the_configuration(config, tmp_path, source, remedy):
    (found,) = status(config(dict(zip(("name", "reader", "path"), source, strict=True))))
    assert found.remedy == remedy.replace("DATA", str(tmp_path))
    assert not found.restricted


def test_a_restricted_source_in_plain_text_is_told_of_its_reader(config, tmp_path):
    (found,) = status(config({"name": "bnc", "reader": "text", "path": "b"}))
    assert found.restricted
    assert "BNC User Licence" in found.remedy
    assert f"into {tmp_path / 'b'} (the reader bnc-xml takes them" in found.remedy


def test_a_reader_that_two_sources_share_tells_nothing():
    known = manifest()
    shared = Source.model_construct(name="w", reader="wikipedia-dump", path="w", options={})
    assert known.match(shared) is None
    named = Source.model_construct(name="wikipedia", reader="text", path="w", options={})
    assert known.match(named).name == "wikipedia"


def test_a_folder_that_may_not_be_read_is_a_status(config, tmp_path, monkeypatch):
    def refuse(path, options):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(plugins.load(READERS, "text"), "files", refuse)
    (found,) = status(config({"name": "mine", "reader": "text", "path": "m"}))
    assert found.problem == f"{tmp_path / 'm'}: cannot read: Permission denied"


def test_an_unknown_source_is_answered_with_the_nearest():
    with pytest.raises(PoshgridError, match="unknown source 'bcn'; did you mean 'bnc'"):
        manifest().entry("bcn")


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (2_250_000, "2.2 MB"), (7.1e12, "7100.0 GB")],
)
def test_sizes_are_readable(size, text):
    assert catalogue.bytes_(size) == text


def test_the_manifest_is_a_plain_mapping():
    """What the file says is what is used: nothing is lost on the way."""
    data = yaml.safe_load(resources.path("sources.yaml").read_text(encoding="utf-8"))
    assert Manifest.model_validate(data).model_dump(exclude_unset=True, mode="json") == data
