"""What files hold that no job writes decides, not their times."""

import json
import os

import pytest

from poshgrid.core import fingerprint, resources
from tests.unit.core.manifest_support import forget, spoil


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
