"""Downloads against a local server that does what real ones do on a bad day."""

from __future__ import annotations

import hashlib
import json
import random
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from poshgrid.core.errors import PoshgridError
from poshgrid.corpora import fetch as fetching
from poshgrid.corpora.catalogue import Download, Manifest
from poshgrid.corpora.fetch import LOCK, check_encrypted, download, fetch

BODY = random.Random(7).randbytes(3_000_000)  # more than two chunks
SHA = hashlib.sha256(BODY).hexdigest()
CUT = 20 * (1 << 16)  # bytes, in whole chunks
OTHER = random.Random(8).randbytes(2_500_000)


class Server(ThreadingHTTPServer):
    """One file, and a script of faults: what each request, in turn, meets."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.body = BODY
        self.etag: str | None = '"v1"'
        self.script: list[tuple] = []  # ("cut", bytes), ("status", code, header)
        self.seen: list[dict[str, str]] = []

    def url(self, path: str = "/file.bin") -> str:
        return f"http://127.0.0.1:{self.server_address[1]}{path}"

    def ranges_asked(self) -> list[str | None]:
        return [headers.get("Range") for headers in self.seen]


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *args) -> None:
        pass

    def do_GET(self) -> None:
        server = self.server
        server.seen.append(dict(self.headers))
        kind, *more = server.script.pop(0) if server.script else ("none",)
        if kind == "status":
            self.answer(more[0], b"no", dict(more[1:]))
            return
        if kind == "page":
            self.answer(200, b"<html>log in</html>", {"Content-Type": "text/html"})
            return
        code, body, headers = 200, server.body, {"ETag": server.etag} if server.etag else {}
        asked = self.headers.get("Range")
        if asked and self.headers.get("If-Range") in {None, server.etag}:
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
            if start >= len(body):
                self.answer(416, b"", {"Content-Range": f"bytes */{len(body)}"})
                return
            start += more[0] if kind == "shift" else 0
            headers["Content-Range"] = f"bytes {start}-{len(body) - 1}/{len(body)}"
            code, body = 206, body[start:]
        self.answer(code, body[: more[0]] if kind == "cut" else body, headers, len(body))

    def answer(self, code, body, headers, promised=None) -> None:
        self.send_response(code)
        for name, value in {"Content-Type": "application/octet-stream", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if promised is None else promised))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    running = Server()
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield running
    running.shutdown()
    thread.join()
    running.server_close()


@pytest.fixture
def naps(monkeypatch):
    """Seconds that were waited."""
    seconds = []
    monkeypatch.setattr(fetching.time, "sleep", seconds.append)
    return seconds


def item(server, sha256=None, path="/file.bin") -> Download:
    return Download(url=server.url(path), file="file.bin", sha256=sha256)


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("sha256", [None, SHA])
def test_a_file_comes_whole_and_alone_and_once(server, tmp_path, naps, sha256):
    target = tmp_path / "new" / "folder" / "file.bin"
    for _ in range(2):  # what is there is not asked for
        assert download(item(server, sha256), target) == target
        assert target.read_bytes() == BODY
        assert left(target.parent) == ["file.bin"]
    assert (len(server.seen), naps) == (1, [])


BUSY = [("status", 503), ("status", 429, ("Retry-After", "17"))]


@pytest.mark.parametrize(
    ("etag", "sha256", "script", "starts", "waits"),
    [
        # Cut off, it goes on at the byte; each attempt brings something, so the wait does not grow
        ('"v1"', None, [("cut", CUT), ("cut", CUT // 2)], [CUT, CUT * 3 // 2], [2, 2]),
        ('"v1"', None, [("cut", CUT), ("shift", 5)], [CUT, None], [2, 4]),  # no such range
        (None, SHA, [("cut", CUT)], [CUT], [2]),  # a checksum stands in for a version
        (None, None, [("cut", CUT)], [None], [2]),
        ('W/"v1"', None, [("cut", CUT)], [None], [2]),
        ('"v1"', None, BUSY, [None, None], [2, 17]),  # as late as the server says
    ],
)
def test_it_goes_on_at_the_byte_if_that_is_of_the_same_version(
    server, tmp_path, naps, etag, sha256, script, starts, waits
):
    server.script, server.etag = list(script), etag
    target = download(item(server, sha256), tmp_path / "file.bin")
    assert target.read_bytes() == BODY
    ranges = [None if start is None else f"bytes={start}-" for start in starts]
    assert server.ranges_asked() == [None, *ranges]
    versions = [headers.get("If-Range") for headers in server.seen]
    assert versions == [etag if asked and etag else None for asked in server.ranges_asked()]
    assert naps == waits


@pytest.mark.parametrize(("body", "etag"), [(BODY, '"v1"'), (OTHER, '"v2"')])
def test_a_later_run_goes_on_and_splices_no_two_versions(server, tmp_path, naps, body, etag):
    server.script = [("cut", CUT), *[("cut", 0)] * 4]
    with pytest.raises(PoshgridError, match=f"{CUT:,} bytes are kept"):
        download(item(server), tmp_path / "file.bin")
    assert naps == [2, 4, 8, 16]  # twice as long each time
    server.body, server.etag = body, etag
    download(item(server), tmp_path / "file.bin")
    assert server.ranges_asked()[-1] == f"bytes={CUT}-"
    assert (tmp_path / "file.bin").read_bytes() == body
    assert left(tmp_path) == ["file.bin"]


@pytest.mark.parametrize(("extra", "asked"), [(b"", 1), (b"too long", 2)])
def test_a_part_as_long_as_the_file(server, tmp_path, naps, extra, asked):
    """Killed after the last byte: nothing is lacking. Longer than the file: it is no part of it."""
    (tmp_path / "file.bin.part").write_bytes(BODY + extra)
    (tmp_path / "file.bin.part.tag").write_text('"v1"')
    target = download(item(server), tmp_path / "file.bin")
    assert len(server.seen) == asked
    assert target.read_bytes() == BODY


def test_a_redirect_out_of_encryption_is_refused():
    check_encrypted("http://a.org/a.gz", "https://a.org/a.gz", "https://x.org/a.gz")
    with pytest.raises(PoshgridError, match=r"a\.gz: redirected to http://x\.org/a\.gz, which"):
        check_encrypted("https://a.org/a.gz", "http://x.org/a.gz")


@pytest.mark.parametrize("fault", [("status", 404), ("page",)])
def test_a_refusal_is_final_and_costs_no_part(server, tmp_path, naps, fault):
    server.script = [("cut", CUT), fault]
    with pytest.raises(PoshgridError) as caught:
        download(item(server), tmp_path / "file.bin")
    assert server.url() in str(caught.value) and "\n" not in str(caught.value)
    assert (tmp_path / "file.bin.part").read_bytes() == BODY[:CUT]
    assert (len(server.seen), naps) == (2, [2])


@pytest.mark.parametrize("body", [OTHER, b""])
def test_a_wrong_checksum_or_an_empty_file_is_no_file(server, tmp_path, naps, body):
    server.body = body
    with pytest.raises(PoshgridError, match="wrong checksum"):
        download(item(server, SHA if body else None), tmp_path / "file.bin")
    assert not (tmp_path / "file.bin").exists()
    server.body = BODY
    assert download(item(server, SHA), tmp_path / "file.bin").read_bytes() == BODY


# ---- sources ------------------------------------------------------------------------------------


@pytest.fixture
def known(server):
    def entry(name, **changes):
        return {
            "name": name, "title": name, "homepage": "https://a.org/", "licence": "CC0",
            "licence_url": "https://a.org/", "access": "free", "get": "ask at a.org",
            "formats": [{"reader": "text", "path": name, "example": "a.txt"}], **changes,
        }  # fmt: skip

    files = [
        {"url": server.url(f"/{name}"), "file": name, "sha256": None, "default": name != "c.txt"}
        for name in ("a.txt", "b.txt", "c.txt")
    ]
    books, calls = entry("books", downloads=files, pause=1.5), entry("calls", access="restricted")
    return Manifest.model_validate({"sources": [books, calls]})


def test_the_defaults_of_a_source_are_fetched_with_pauses(server, known, tmp_path, naps):
    (tmp_path / "books").mkdir()
    (tmp_path / "books" / "a.txt").write_bytes(b"mine")
    paths = fetch("books", tmp_path, known=known)
    assert paths == [tmp_path / "books" / name for name in ("a.txt", "b.txt")]
    assert (len(server.seen), naps) == (1, [])  # what is there needs no request, so no pause
    fetch("books", tmp_path, folder="x/y", known=known)
    assert left(tmp_path / "x" / "y") == ["a.txt", "b.txt"]
    assert naps == [1.5]


def test_a_suite_is_fetched_by_the_names_of_its_files(server, known, tmp_path):
    entry = known.sources[0].model_dump(exclude={"downloads"}) | {
        "name": "pairs", "files": {"url": server.url("/at/{name}.tsv"), "names": ["a", "b"]},
    }  # fmt: skip
    listed = Manifest.model_validate({"sources": known.sources, "suites": [entry]})
    paths = fetch("pairs", tmp_path, known=listed)
    assert paths == [tmp_path / "books" / name for name in ("a.tsv", "b.tsv")]
    lock = json.loads((tmp_path / LOCK).read_text())
    assert lock == {server.url(f"/at/{name}.tsv"): SHA for name in "ab"}


CATALOGUE = (
    "Text#,Type,Language,Title,Authors,LoCC\n"
    + "1,Text,en,Alice,Carroll,PR; PZ\n2,Sound,en,Tom,Twain,PZ\n3,Text,fr,Zazie,Queneau,PZ\n"
    + "4,Text,en,ALICE,Carroll,PZ\n5,Text,en,Gone,Nobody,PZ\n6,Text,en,Heidi,Spyri,PZ\n"
    + "7,Text,en,Trees,Somebody,QK; PZX\n8,Text,en,Kim,Kipling,PZ\n"
)


@pytest.mark.parametrize(
    ("options", "numbers"),
    [({}, [1, 6]), ({"words": 4}, [1]), ({"only": ["pg8.txt"]}, [8])],
)
def test_a_catalogue_is_followed_until_the_words_are_enough(
    server, known, tmp_path, naps, options, numbers
):
    """Each work once, in the catalogue's order; what the server lacks is skipped."""
    entry = known.sources[0].model_dump() | {
        "downloads": (),
        "catalogue": {
            "url": server.url("/list"), "file": "list.csv", "number": "Text#",
            "where": {"Type": "Text", "Language": "en", "LoCC": "(.*; )?PZ(;.*)?"},
            "work": ("Title", "Authors"), "link": server.url("/pg{number}.txt"), "words": 5,
        },
    }  # fmt: skip
    books = Manifest.model_validate({"sources": [entry]})
    folder = tmp_path / "books"
    folder.mkdir()
    (folder / "list.csv").write_text(CATALOGUE)
    server.body = b"four words a book"
    server.script = [("none",), ("status", 404)]
    paths = fetch("books", tmp_path, known=books, **options)
    assert paths == [folder / f"pg{number}.txt" for number in numbers]
    if not options:
        assert len(server.seen) == 3 and naps == [1.5, 1.5]
        with pytest.raises(PoshgridError, match="hold 84 words too few; request fewer"):
            fetch("books", tmp_path, known=books, words=100)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("bokks", {}, "unknown source or suite 'bokks'; did you mean 'books'"),
        ("calls", {}, r"calls: restricted \(CC0\), so not fetched; ask at a\.org"),
    ],
)
def test_what_cannot_be_fetched_is_named(server, known, tmp_path, name, options, message):
    with pytest.raises(PoshgridError, match=message):
        fetch(name, tmp_path, known=known, **options)
    assert (server.seen, left(tmp_path)) == ([], [])


def test_a_first_download_is_remembered_and_another_one_refused(server, known, tmp_path):
    """The publisher's checksum is not known: what came first counts, and is no matter of trust."""

    def again():
        return fetch("books", tmp_path, only=["c.txt"], known=known)

    (target,) = again()
    lock, whole = tmp_path / LOCK, target.read_bytes()
    assert json.loads(lock.read_text()) == {server.url("/c.txt"): SHA}
    target.unlink()
    assert again()[0].read_bytes() == whole  # the same once more is taken
    target.write_bytes(whole[:-1] + b"!")  # a file that was changed here
    with pytest.raises(PoshgridError, match=r"differs from .* delete its line in"):
        again()
    # another file at the publisher: as if the first had been other bytes
    target.unlink()
    lock.write_text(json.dumps({server.url("/c.txt"): "0" * 64}))
    with pytest.raises(PoshgridError, match=r"wrong checksum: .* delete its line in"):
        again()
    assert not target.exists()
