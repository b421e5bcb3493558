"""Downloads against a local server that does what real ones do on a bad day."""

from __future__ import annotations

import fcntl
import hashlib
import json
import random
import shutil
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from poshgrid.config.runs import SPLITS
from poshgrid.corpora import transfer
from poshgrid.corpora.catalogue import Download, Manifest
from poshgrid.corpora.fetch import LOCK, download, fetch, unpack
from poshgrid.corpora.transfer import Patience
from poshgrid.errors import PoshgridError

BODY = random.Random(7).randbytes(3_000_000)  # more than two chunks
SHA = hashlib.sha256(BODY).hexdigest()
OTHER = random.Random(8).randbytes(2_500_000)


class Server(ThreadingHTTPServer):
    """One file, and a script of faults: what each request, in turn, meets."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.body = BODY
        self.etag: str | None = '"v1"'
        self.ranges = True
        self.script: list[tuple] = []  # ("cut", bytes) | ("status", code, headers)
        self.awake = threading.Event()
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
        fault = server.script.pop(0) if server.script else ("none",)
        if self.path == "/moved":
            self.answer(302, b"", {"Location": "/file.bin"})
        elif fault[0] == "status":
            self.answer(fault[1], b"no", fault[2] if len(fault) > 2 else {})
        elif fault[0] == "page":
            self.answer(200, b"<html>log in</html>", {"Content-Type": "text/html"})
        elif fault[0] == "hang":
            server.awake.wait(10)
        elif fault[0] == "chunked":  # no length is told; the stream ends within a piece
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.send_header("ETag", server.etag)
            self.end_headers()
            self.wfile.write(b"%x\r\n" % len(server.body) + server.body[: fault[1]])
        else:
            self.give(fault)

    def give(self, fault) -> None:
        server = self.server
        code, body, headers = 200, server.body, {}
        if server.etag:
            headers["ETag"] = server.etag
        asked = self.headers.get("Range")
        fresh = self.headers.get("If-Range") in {None, server.etag}
        if asked and server.ranges and fresh:
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
            if start >= len(body):
                self.answer(416, b"", {"Content-Range": f"bytes */{len(body)}"})
                return
            start += fault[1] if fault[0] == "shift" else 0
            headers["Content-Range"] = f"bytes {start}-{len(body) - 1}/{len(body)}"
            code, body = 206, body[start:]
        elif fault[0] == "shift":
            raise AssertionError("only a range can be shifted")
        sent = body[: fault[1]] if fault[0] == "cut" else body
        self.answer(code, sent, headers, promised=len(body))

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
    running.awake.set()
    running.shutdown()
    thread.join()
    running.server_close()


@pytest.fixture
def naps():
    return []


@pytest.fixture
def patience(naps):
    return Patience(attempts=3, wait=2, timeout=5, sleep=naps.append)


def item(server, sha256=None, path="/file.bin") -> Download:
    return Download(url=server.url(path), file="file.bin", sha256=sha256)


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# ---- what goes well -----------------------------------------------------------------------------


@pytest.mark.parametrize("sha256", [None, SHA])
def test_a_file_comes_whole_and_alone(server, tmp_path, patience, naps, sha256):
    target = tmp_path / "new" / "folder" / "file.bin"
    assert download(item(server, sha256), target, patience) == target
    assert target.read_bytes() == BODY
    assert left(target.parent) == ["file.bin"]
    assert naps == []
    assert server.seen[0]["User-Agent"].startswith("poshgrid/")
    assert server.seen[0]["Accept-Encoding"] == "identity"


def test_what_is_there_is_not_asked_for(server, tmp_path, patience):
    target = tmp_path / "file.bin"
    target.write_bytes(BODY)
    download(item(server, SHA), target, patience)
    download(item(server), target, patience)
    assert server.seen == []


def test_another_file_in_the_place_is_left_and_named(server, tmp_path, patience):
    target = tmp_path / "file.bin"
    target.write_bytes(b"mine")
    with pytest.raises(PoshgridError, match=r"file\.bin: another file than http.*move it away"):
        download(item(server, SHA), target, patience)
    assert target.read_bytes() == b"mine"


# ---- connections that break ---------------------------------------------------------------------


def test_cut_half_way_it_goes_on_at_the_byte(server, tmp_path, patience, naps):
    server.script = [("cut", 1_200_000), ("cut", 700_001)]
    target = download(item(server), tmp_path / "file.bin", patience)
    assert target.read_bytes() == BODY
    assert server.ranges_asked() == [None, "bytes=1200000-", "bytes=1900001-"]
    assert [headers.get("If-Range") for headers in server.seen] == [None, '"v1"', '"v1"']
    assert naps == [2, 2]  # each attempt brought something, so the wait did not grow


def test_a_later_run_goes_on_where_an_earlier_one_gave_up(server, tmp_path, patience, naps):
    server.script = [("cut", 1_000_000), ("cut", 0), ("cut", 0)]
    with pytest.raises(PoshgridError, match=r"ended after 1,000,000 of 3,000,000 bytes.*kept"):
        download(item(server), tmp_path / "file.bin", patience)
    assert left(tmp_path) == ["file.bin.part", "file.bin.part.tag"]
    assert naps == [2, 4]  # twice as long each time
    download(item(server), tmp_path / "file.bin", patience)
    assert server.ranges_asked()[-1] == "bytes=1000000-"
    assert (tmp_path / "file.bin").read_bytes() == BODY
    assert left(tmp_path) == ["file.bin"]


def test_a_stream_of_unknown_length_that_breaks_goes_on(server, tmp_path, patience):
    server.script = [("chunked", 1_500_000)]
    target = download(item(server), tmp_path / "file.bin", patience)
    _, again = server.ranges_asked()  # what of an unfinished piece is kept is the library's affair
    assert 1_000_000 < int(again.removeprefix("bytes=").removesuffix("-")) <= 1_500_000
    assert target.read_bytes() == BODY


def test_a_server_that_says_nothing_is_given_up_and_asked_again(server, tmp_path, naps):
    server.script = [("hang",)]
    patience = Patience(attempts=3, wait=2, timeout=0.3, sleep=naps.append)
    target = download(item(server), tmp_path / "file.bin", patience)
    assert target.read_bytes() == BODY
    assert (len(server.seen), naps) == (2, [2])


def test_a_server_that_ignores_ranges_sends_the_whole_again(server, tmp_path, patience):
    server.script, server.ranges = [("cut", 1_000_000)], False
    target = download(item(server), tmp_path / "file.bin", patience)
    assert server.ranges_asked() == [None, "bytes=1000000-"]
    assert target.read_bytes() == BODY


def test_two_versions_are_never_spliced(server, tmp_path, patience):
    server.script = [("cut", 1_000_000), ("cut", 0), ("cut", 0)]
    with pytest.raises(PoshgridError, match="1,000,000 bytes are kept"):
        download(item(server), tmp_path / "file.bin", patience)
    server.body, server.etag = OTHER, '"v2"'
    target = download(item(server), tmp_path / "file.bin", patience)
    assert server.ranges_asked()[-1] == "bytes=1000000-"
    assert target.read_bytes() == OTHER


@pytest.mark.parametrize("etag", [None, 'W/"v1"'])
def test_without_a_version_or_a_checksum_nothing_is_resumed(server, tmp_path, patience, etag):
    server.script, server.etag = [("cut", 1_000_000)], etag
    target = download(item(server), tmp_path / "file.bin", patience)
    assert server.ranges_asked() == [None, None]
    assert target.read_bytes() == BODY


def test_a_checksum_stands_in_for_a_version(server, tmp_path, patience):
    server.script, server.etag = [("cut", 1_000_000)], None
    target = download(item(server, SHA), tmp_path / "file.bin", patience)
    assert server.ranges_asked() == [None, "bytes=1000000-"]
    assert target.read_bytes() == BODY


def test_a_part_of_another_address_is_not_gone_on_with(server, tmp_path, patience):
    (tmp_path / "file.bin.part").write_bytes(OTHER[:1000])
    (tmp_path / "file.bin.part.tag").write_text('https://elsewhere.org/file.bin\n"v1"\n')
    target = download(item(server), tmp_path / "file.bin", patience)
    assert server.ranges_asked() == [None]
    assert target.read_bytes() == BODY


def test_a_range_that_begins_elsewhere_is_not_appended(server, tmp_path, patience):
    server.script = [("cut", 1_000_000), ("shift", 5)]
    target = download(item(server), tmp_path / "file.bin", patience)
    assert server.ranges_asked() == [None, "bytes=1000000-", None]
    assert target.read_bytes() == BODY


@pytest.mark.parametrize(("extra", "asked"), [(b"", 1), (b"too long", 2)])
def test_a_part_as_long_as_the_file(server, tmp_path, patience, extra, asked):
    """Killed after the last byte: nothing is lacking. Longer than the file: it is no part of it."""
    (tmp_path / "file.bin.part").write_bytes(BODY + extra)
    (tmp_path / "file.bin.part.tag").write_text(f'{server.url()}\n"v1"\n')
    target = download(item(server), tmp_path / "file.bin", patience)
    assert len(server.seen) == asked
    assert target.read_bytes() == BODY


def test_a_redirect_keeps_the_range(server, tmp_path, patience):
    server.script = [("none",), ("cut", 1_000_000)]
    target = download(item(server, path="/moved"), tmp_path / "file.bin", patience)
    assert server.ranges_asked() == [None, None, "bytes=1000000-", "bytes=1000000-"]
    assert target.read_bytes() == BODY


def test_a_redirect_out_of_encryption_is_refused():
    request = transfer.urllib.request.Request("https://publisher.org/a.gz")
    redirect = transfer._Redirect().redirect_request
    with pytest.raises(PoshgridError, match=r"a\.gz: sent on to http://x\.org/a\.gz, which is not"):
        redirect(request, None, 302, "Found", {}, "http://x.org/a.gz")
    assert redirect(request, None, 302, "Found", {}, "https://x.org/a.gz") is not None


# ---- servers that refuse ------------------------------------------------------------------------


@pytest.mark.parametrize("code", [429, 500, 503])
def test_a_busy_server_is_asked_again(server, tmp_path, patience, naps, code):
    server.script = [("status", code), ("status", code, {"Retry-After": "17"})]
    download(item(server), tmp_path / "file.bin", patience)
    assert naps == [2, 17]
    assert (tmp_path / "file.bin").read_bytes() == BODY


def test_a_server_that_stays_busy_is_left(server, tmp_path, patience, naps):
    server.script = [("status", 503)] * 9
    with pytest.raises(PoshgridError, match=r"file\.bin: the server answers 503 .*run again"):
        download(item(server), tmp_path / "file.bin", patience)
    assert len(server.seen) == 3
    assert naps == [2, 4]
    assert left(tmp_path) == []


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (("status", 404), r"answers 404 Not Found; the publisher has moved it"),
        (("status", 403), r"answers 403 Forbidden; .*by hand"),
        (("status", 401), r"answers 401 .*account"),
        (("page",), r"a web page, not file\.bin"),
    ],
)
def test_a_refusal_is_final_and_one_line(server, tmp_path, patience, naps, fault, message):
    server.script = [fault]
    with pytest.raises(PoshgridError, match=message) as caught:
        download(item(server), tmp_path / "file.bin", patience)
    assert server.url() in str(caught.value)
    assert "\n" not in str(caught.value)
    assert (len(server.seen), naps, left(tmp_path)) == (1, [], [])


def test_a_login_page_does_not_cost_the_part(server, tmp_path, patience):
    server.script = [("cut", 1_000_000), ("page",)]
    with pytest.raises(PoshgridError, match="a web page"):
        download(item(server), tmp_path / "file.bin", patience)
    assert (tmp_path / "file.bin.part").read_bytes() == BODY[:1_000_000]


@pytest.mark.parametrize("script", [[], [("cut", 1_000_000)]])
def test_a_wrong_checksum_leaves_nothing(server, tmp_path, patience, script):
    server.body, server.script = OTHER, script
    with pytest.raises(PoshgridError, match=f"wrong checksum: SHA-256 is .*, not {SHA}"):
        download(item(server, SHA), tmp_path / "file.bin", patience)
    assert left(tmp_path) == []


def test_an_empty_answer_is_no_file(server, tmp_path, patience):
    server.body = b""
    with pytest.raises(PoshgridError, match="sent an empty file"):
        download(item(server), tmp_path / "file.bin", patience)
    assert left(tmp_path) == []


def test_no_network(tmp_path, patience, naps, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    with socket.socket() as free:  # a port that nobody listens on
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        lost = Download(url=f"http://127.0.0.1:{port}/file.bin", file="file.bin", sha256=None)
        with pytest.raises(PoshgridError, match=r"no connection \(Connection refused\); check the"):
            download(lost, tmp_path / "file.bin", patience)
    assert naps == [2, 4]
    assert left(tmp_path) == []


def test_a_name_that_nobody_knows(tmp_path, patience, monkeypatch):
    def unknown(*args, **kwargs):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    lost = Download(url="http://nowhere.invalid/file.bin", file="file.bin", sha256=None)
    with pytest.raises(PoshgridError, match=r"no connection \(Name or service not known\).*that "):
        download(lost, tmp_path / "file.bin", patience)


# ---- disks --------------------------------------------------------------------------------------


def test_what_cannot_fit_is_refused_before_it_is_asked_to(server, tmp_path, patience, monkeypatch):
    usage = shutil.disk_usage(tmp_path)._replace(free=2_999_999)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with pytest.raises(PoshgridError, match="needs 3,000,000 more bytes and 2,999,999 are free"):
        download(item(server), tmp_path / "file.bin", patience)
    assert left(tmp_path) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is always full")
def test_a_disk_that_fills_up(server, tmp_path, patience, naps):
    (tmp_path / "file.bin.part").symlink_to("/dev/full")
    with pytest.raises(PoshgridError, match="cannot write: No space left on device; free space"):
        download(item(server), tmp_path / "file.bin", patience)
    assert len(server.seen) == 1  # no second attempt: the network is not at fault
    assert naps == []
    assert not (tmp_path / "file.bin").exists()


def test_a_folder_that_cannot_be_made(server, tmp_path, patience):
    (tmp_path / "data").write_text("a file")
    with pytest.raises(PoshgridError, match=r"data: cannot write: .*mend the folder"):
        download(item(server), tmp_path / "data" / "file.bin", patience)


def test_two_runs_do_not_write_one_part(server, tmp_path, patience):
    part = tmp_path / "file.bin.part"
    with part.open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(PoshgridError, match=r"file\.bin\.part: another run is downloading it"):
            download(item(server), tmp_path / "file.bin", patience)
        assert part.exists()  # the other run's
    download(item(server), tmp_path / "file.bin", patience)
    assert left(tmp_path) == ["file.bin"]


# ---- sources ------------------------------------------------------------------------------------


def entry(name, **changes):
    return {
        "name": name, "title": name, "homepage": "https://a.org/", "licence": "CC0",
        "licence_url": "https://a.org/", "access": "free", "get": "ask at a.org",
        "formats": [{"reader": "text", "path": name, "files": "text", "example": "a.txt"}],
        **changes,
    }  # fmt: skip


@pytest.fixture
def known(server):
    files = [
        {"url": server.url(f"/{name}"), "file": name, "sha256": None, "default": name != "c.txt"}
        for name in ("a.txt", "b.txt", "c.txt")
    ]
    return Manifest.model_validate(
        {
            "sources": [
                entry("books", downloads=files, pause=1.5),
                entry("calls", access="restricted", licence="an agreement"),
                entry("by-hand"),
            ]
        }
    )


def test_the_defaults_of_a_source_are_fetched_with_pauses(server, known, tmp_path, patience, naps):
    (tmp_path / "books").mkdir()
    (tmp_path / "books" / "a.txt").write_bytes(b"mine")
    found = fetch("books", tmp_path, patience=patience, known=known)
    assert found == [tmp_path / "books" / name for name in ("a.txt", "b.txt")]
    assert (len(server.seen), naps) == (1, [])  # what is there needs no request, so no pause
    fetch("books", tmp_path, folder="x/y", patience=patience, known=known)
    assert left(tmp_path / "x" / "y") == ["a.txt", "b.txt"]
    assert naps == [1.5]


def test_a_download_is_fetched_by_name(server, known, tmp_path, patience):
    assert fetch("books", tmp_path, only=["c.txt"], patience=patience, known=known) == [
        tmp_path / "books" / "c.txt"
    ]


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("bokks", {}, "unknown source 'bokks'; did you mean 'books'"),
        ("books", {"only": ["d.txt"]}, r"books: no download 'd\.txt'; did you mean"),
        ("books", {"folder": "../out"}, "not below the data folder"),
        ("books", {"folder": "/out"}, "not below the data folder"),
        ("calls", {}, r"calls: restricted \(an agreement\), so it is not fetched; ask at a\.org"),
        ("by-hand", {}, r"by-hand: not fetched; ask at a\.org"),
    ],
)
def test_what_cannot_be_fetched_is_said(server, known, tmp_path, patience, name, options, message):
    with pytest.raises(PoshgridError, match=message):
        fetch(name, tmp_path, patience=patience, known=known, **options)
    assert server.seen == []
    assert left(tmp_path) == []


def test_a_failure_keeps_what_was_complete(server, known, tmp_path, patience):
    server.script = [("none",), ("status", 404)]
    with pytest.raises(PoshgridError, match="404"):
        fetch("books", tmp_path, patience=patience, known=known)
    assert left(tmp_path / "books") == ["a.txt"]


def test_a_first_download_is_remembered_and_another_one_refused(server, known, tmp_path, patience):
    """The publisher's checksum is not known: what came first counts, and is no matter of trust."""
    target = tmp_path / "books" / "c.txt"
    fetch("books", tmp_path, only=["c.txt"], patience=patience, known=known)
    lock = tmp_path / LOCK
    assert json.loads(lock.read_text()) == {
        server.url("/c.txt"): hashlib.sha256(target.read_bytes()).hexdigest()
    }
    again = "delete its line there"
    # the same once more is taken
    target.unlink()
    fetch("books", tmp_path, only=["c.txt"], patience=patience, known=known)
    # a file that was changed here
    whole = target.read_bytes()
    target.write_bytes(whole[:-1] + b"!")
    with pytest.raises(PoshgridError, match=rf"another file .*{LOCK} has .*{again}"):
        fetch("books", tmp_path, only=["c.txt"], patience=patience, known=known)
    # another file at the publisher: as if the first had been other bytes
    target.unlink()
    lock.write_text(json.dumps({server.url("/c.txt"): "0" * 64}))
    with pytest.raises(PoshgridError, match=rf"wrong checksum: .*{LOCK} has .*{again}") as caught:
        fetch("books", tmp_path, only=["c.txt"], patience=patience, known=known)
    assert "\n" not in str(caught.value)
    assert not target.exists()
    lock.write_text("{}")
    fetch("books", tmp_path, only=["c.txt"], patience=patience, known=known)
    assert target.read_bytes() == whole


def test_a_file_put_there_by_hand_is_not_what_the_publisher_has(server, known, tmp_path, patience):
    (tmp_path / "books").mkdir()
    (tmp_path / "books" / "a.txt").write_bytes(b"mine")
    fetch("books", tmp_path, patience=patience, known=known)
    assert list(json.loads((tmp_path / LOCK).read_text())) == [server.url("/b.txt")]


def test_the_manifests_checksum_goes_before_that_of_the_first(server, known, tmp_path, patience):
    data = known.model_dump(mode="json")
    data["sources"][0]["downloads"][2]["sha256"] = "1" * 64
    (tmp_path / LOCK).write_text(json.dumps({server.url("/c.txt"): "0" * 64}))
    with pytest.raises(PoshgridError, match="not 1111") as caught:
        fetch("books", tmp_path, only=["c.txt"], patience=patience,
              known=Manifest.model_validate(data))  # fmt: skip
    assert LOCK not in str(caught.value)


# ---- archives ----------------------------------------------------------------------------------


def zipped(path, **members):
    import zipfile

    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(name.replace("__", "/"), text)
    return path


def test_an_archive_is_unpacked_beside_itself_without_its_own_folder(tmp_path):
    archive = zipped(
        tmp_path / "train_10M.zip",
        **{
            "train_10M__childes.train": "*MOT:\thi .\n", "train_10M__gutenberg.train": "A.\n",
            "train_10M__.DS_Store": "x", "MACOSX__childes.train": "other\n",
        },
    )  # fmt: skip
    found = unpack(archive)
    assert (tmp_path / "childes.train").read_text() == "*MOT:\thi .\n"
    assert sorted(path.relative_to(tmp_path).as_posix() for path in found) == [
        "MACOSX/childes.train", "childes.train", "gutenberg.train",
    ]  # fmt: skip
    assert not (tmp_path / ".DS_Store").exists()
    (tmp_path / "childes.train").unlink()
    assert unpack(archive) == found
    assert (tmp_path / "childes.train").read_text() == "*MOT:\thi .\n"


@pytest.mark.parametrize("mine", ["B.\n", "Mine.\n", None])
def test_a_file_of_the_users_is_never_written_over(tmp_path, mine):
    """As long as the archive's, longer, or a link: nothing is unpacked."""
    archive = zipped(tmp_path / "a.zip", first="1\n", own="A.\n")
    target = tmp_path / "own"
    if mine is None:
        target.symlink_to(tmp_path / "nowhere")
    else:
        target.write_text(mine)
    with pytest.raises(PoshgridError, match=r"own: another file than that of a\.zip; move it away"):
        unpack(archive)
    assert mine is None or target.read_text() == mine
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.zip", "own"]


def test_archives_have_limits(tmp_path, monkeypatch):
    import zipfile

    archive = zipped(tmp_path / "a.zip", a="x", b="y")
    for limit, most in (("MOST_FILES", 1), ("LARGEST", 1)):
        with monkeypatch.context() as patch:
            patch.setattr(f"poshgrid.corpora.fetch.{limit}", most)
            with pytest.raises(PoshgridError, match="unpacks to 2 files and 2 bytes"):
                unpack(archive)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("a.txt", b"0" * 150_000_000)
    with pytest.raises(PoshgridError, match="unpacks to more than 200 times its size"):
        unpack(tmp_path / "bomb.zip")
    with zipfile.ZipFile(tmp_path / "link.zip", "w") as linked:
        entry = zipfile.ZipInfo("a.txt")
        entry.external_attr = 0o120777 << 16
        linked.writestr(entry, "/etc/passwd")
    with pytest.raises(PoshgridError, match=r"a\.txt is a link"):
        unpack(tmp_path / "link.zip")
    with zipfile.ZipFile(tmp_path / "twice.zip", "w") as twice:
        twice.writestr("twice/a.txt", "1")
        twice.writestr("a.txt", "2")
    with pytest.raises(PoshgridError, match=r"a\.txt: another file than that of twice\.zip"):
        unpack(tmp_path / "twice.zip")
    assert not [path for path in tmp_path.iterdir() if path.suffix != ".zip"]


def test_the_layout_of_posh_bench_can_be_trained_on(tmp_path):
    """A stand-in of the authors' project, as their training code reads it; nobody has seen it."""
    from poshgrid.corpora import listing

    members = {
        f"baby__{size}__{split}__{size}.txt": f"{split} of {size}.\n"
        for size in ("10M", "10Mf")
        for split in SPLITS
    }
    archive = zipped(tmp_path / "posh-bench.zip", **members)
    unpack(archive)
    for name, size in (("baby/{size}f", "10Mf"), ("baby/{size}", "10M")):
        texts = listing.ready_files(tmp_path / listing.ready_place(name, "10M"))
        assert {s: path.read_text() for s, path in texts.items()} == {
            split: f"{split} of {size}.\n" for split in SPLITS
        }


@pytest.mark.parametrize("name", ["..__out.txt", "a__..__..__out.txt", "__etc__out.txt"])
def test_an_archive_that_leaves_its_folder_is_refused(tmp_path, name):
    (tmp_path / "in").mkdir()
    archive = zipped(tmp_path / "in" / "a.zip", **{name: "x"})
    with pytest.raises(PoshgridError, match="lies outside of the archive"):
        unpack(archive)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a.zip", "in"]


def test_what_is_no_archive_is_an_error_with_a_remedy(tmp_path):
    (tmp_path / "a.zip").write_text("<html>not found</html>")
    with pytest.raises(PoshgridError, match=r"a\.zip: no zip .* delete it and run again"):
        unpack(tmp_path / "a.zip")
