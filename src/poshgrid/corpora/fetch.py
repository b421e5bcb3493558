"""Downloading the free sources: resumed, checked, and in place only when they are complete.

A file grows as ``NAME.part``. Beside it, ``NAME.part.tag`` holds what the server called the version
that the part belongs to (its ETag or date). A later run asks for the rest of *that* version
(``Range`` with ``If-Range``, RFC 9110, sections 13.1.5 and 14.2); of any other version, or of a
server that cannot send a rest, it takes the whole. A file whose checksum is known needs no tag.
"""

from __future__ import annotations

import fcntl
import http.client
import os
import re
import shutil
import stat
import time
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any

from poshgrid import files, logs, verification
from poshgrid.corpora.catalogue import Download, Entry, Manifest, manifest
from poshgrid.corpora.textfile import unpacked_limit
from poshgrid.errors import PoshgridError, check_known, plain, reason

LOCK = "downloads.lock.json"
"""File of the data folder: address -> SHA-256 of what was downloaded from it first."""

_CHUNK = 1 << 20  # bytes
_BUSY = {408, 425, 429, 500, 502, 503, 504}  # the server may answer otherwise in a while
_LONGEST_WAIT = 120.0  # seconds
_RANGE = re.compile(r"bytes (?:(\d+)-\d+|\*)/(\d+)")
_AGENT = "poshgrid (research corpus builder; Python-urllib)"  # some publishers refuse the nameless

log = logs.get(__name__)


@dataclass(frozen=True)
class Patience:
    """How long a download waits and how often it tries."""

    attempts: int = 5  # in a row that bring no new byte
    wait: float = 2.0  # seconds before the second attempt; doubled before each later one
    timeout: float = 60.0  # seconds without a byte
    sleep: Callable[[float], None] = time.sleep


class _CutError(Exception):
    """The connection failed or ended early; another attempt may help."""

    def __init__(self, why: str, wait: float | None = None) -> None:
        super().__init__(why)
        self.wait = wait  # seconds that the server asks for


def fetch(
    name: str,
    data: str | Path,
    *,
    folder: str | None = None,
    only: list[str] | None = None,
    patience: Patience | None = None,
    known: Manifest | None = None,
) -> list[Path]:
    """Download a free source's files; those that are there already are left as they are.

    A file is checked against the manifest's checksum, or, where that has none, against that of its
    first download, which is kept in :data:`LOCK`.

    Args:
        name: the source, as in ``resources/sources.yaml``.
        data: the data folder.
        folder: where they go below it; default: the path that the manifest gives.
        only: names of the downloads to take; default: those that the manifest marks.
        patience: how often and how long is tried.
        known: the manifest, if not ``resources/sources.yaml``.

    Returns:
        The files, in the manifest's order.

    Raises:
        PoshgridError: no such source or download, it cannot be downloaded freely, or
            :func:`download` fails. Files that were complete before stay.
    """
    entry = (known or manifest()).entry(name)
    patience = patience or Patience()
    below = PurePosixPath(folder or entry.formats[0].path)
    if below.is_absolute() or ".." in below.parts:
        raise PoshgridError(f"--folder {folder}: not below the data folder; give a relative path")
    lock, paths, asked = Path(data, LOCK), [], False
    for item in _chosen(entry, only):
        target = Path(data, below, item.file)
        new = not target.exists()
        if new and asked:
            patience.sleep(entry.pause)
        asked = asked or new
        first: dict[str, str] = files.read_json(lock) if lock.exists() else {}
        checksum = item.sha256 or first.get(item.url)
        paths.append(download(item.model_copy(update={"sha256": checksum}), target, patience))
        # A file that a user copied here may differ from the publisher's.
        if new and checksum is None:
            files.write_json(lock, dict(sorted({**first, item.url: _sha256(target)}.items())))
        if item.unpack:
            unpack(target)
    return paths


def _chosen(entry: Entry, only: list[str] | None) -> list[Download]:
    """Return the downloads that are asked for; refuse what cannot be fetched."""
    if not entry.downloads:
        licence = f"{entry.access} ({entry.licence}), so " if entry.access == "restricted" else ""
        raise PoshgridError(f"{entry.name}: {licence}not fetched; {entry.get}; see docs/sources.md")
    for word in only or ():
        check_known(f"{entry.name}: no download", word, {item.file for item in entry.downloads})
    return [item for item in entry.downloads if (item.file in only if only else item.default)]


def download(item: Download, target: Path, patience: Patience | None = None) -> Path:
    """Download one file, going on from what an interrupted run left in ``TARGET.part``.

    Args:
        item: what to download.
        target: where it goes; a file that is there already is only checked.
        patience: how often and how long is tried.

    Returns:
        ``target``.

    Raises:
        PoshgridError: no network, refused by the server, wrong checksum, or the file that is there
            already has another checksum. ``target`` itself is never incomplete; after a broken
            connection the part stays, for the next run.
        OSError: a file cannot be written.
    """
    if target.exists():
        if item.sha256 and _sha256(target) != item.sha256:
            raise PoshgridError(
                f"{target}: another file than {item.url} (its SHA-256 differs); move it away and "
                f"run again; to take what is there, delete its line in {LOCK}"
            )
        log.info("%s: already there", target)
        return target
    part = target.with_name(target.name + ".part")
    target.parent.mkdir(parents=True, exist_ok=True)
    with part.open("ab") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise PoshgridError(
                f"{part}: another run is downloading it; wait for it, or end it and run again"
            ) from error
        except OSError:  # a network disk without locks: go on as if alone
            log.debug("%s: the disk has no locks", part)
        _complete(item, stream, part, patience or Patience())
        os.fsync(stream.fileno())
        checksum = _sha256(part)
        if not _size(part) or checksum != (item.sha256 or checksum):
            _empty(stream, part)  # no resuming corrects it
            raise PoshgridError(
                f"{item.url}: an empty file, or wrong checksum: SHA-256 is {checksum}, not "
                f"{item.sha256}; run again; if the publisher has changed the file, delete its line "
                f"in {LOCK}"
            )
        part.replace(target)
    _tag(part).unlink(missing_ok=True)
    log.info("%s: %s bytes", target, f"{_size(target):,}")
    return target


def _complete(item: Download, stream: IO[bytes], part: Path, patience: Patience) -> None:
    """Bring a part to its full length, however many connections that takes."""
    failures = 0
    while True:
        before = _size(part)
        try:
            _append(item, stream, part, patience.timeout)
            return
        except _CutError as cut:
            stream.flush()
            kept = _size(part)
            failures = 1 if kept > before else failures + 1
            if failures >= patience.attempts:
                raise PoshgridError(
                    f"{item.url}: {cut}; check the network and the proxy, then run again "
                    f"({kept:,} bytes are kept)"
                ) from cut
            wait = min(cut.wait or patience.wait * 2 ** (failures - 1), _LONGEST_WAIT)
            log.warning("%s: %s; again in %.0f s", item.url, cut, wait)
            patience.sleep(wait)


def _append(item: Download, stream: IO[bytes], part: Path, timeout: float) -> None:
    """Ask once for what a part lacks and append it.

    Raises:
        _CutError: the connection failed, or ended before the last byte.
        PoshgridError: no later attempt can help.
    """
    version = _tag(part).read_text("utf-8") if _tag(part).exists() else ""
    start = _size(part) if version or item.sha256 else 0
    headers = {"User-Agent": _AGENT, "Accept-Encoding": "identity"}
    if start:
        headers |= {"Range": f"bytes={start}-"} | ({"If-Range": version} if version else {})
    with _ask(item, headers, timeout) as response:
        span = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
        total = int(span[2]) if span else None
        if response.status == 416 and total == start:  # nothing is lacking
            return
        if response.headers.get("Content-Type", "").startswith("text/html"):
            raise PoshgridError(
                f"{item.url}: the answer is a web page, not {item.file}; open the address in a "
                "browser and see what it wants"
            )
        if response.status == 200:
            _empty(stream, part)
            _note_version(part, response.headers)
            length = response.headers.get("Content-Length", "")
            total = int(length) if length.isdecimal() else None
        elif not span or span[1] != str(start):
            _empty(stream, part)
            raise _CutError("the server sent another range than was asked for")
        chunks = iter(partial(_received, response), b"")
        for chunk in logs.progress(chunks, f"fetching {item.file} (MiB)"):
            stream.write(chunk)
    stream.flush()
    if total not in {None, _size(part)}:
        raise _CutError(f"the connection ended after {_size(part):,} of {total:,} bytes")


def _ask(item: Download, headers: dict[str, str], timeout: float) -> Any:  # noqa: ANN401
    """Return the server's answer (an ``http.client.HTTPResponse``; urllib's types say ``Any``).

    Raises:
        _CutError: no answer, or one that may be another in a while.
        PoshgridError: refused.
    """
    try:
        return _OPENER.open(urllib.request.Request(item.url, headers=headers), timeout=timeout)
    except urllib.error.HTTPError as error:
        if error.code == 416:  # no such range
            return error
        answer = f"the server answers {error.code} {error.reason}"
        if error.code in _BUSY:
            after = error.headers.get("Retry-After", "")
            raise _CutError(answer, float(after) if after.isdecimal() else None) from error
        raise PoshgridError(
            f"{item.url}: {answer}; download it by hand, see docs/sources.md"
        ) from error
    except (http.client.HTTPException, OSError) as error:
        raise _CutError(f"no connection ({reason(error)})") from error


def _received(response: Any) -> bytes:  # noqa: ANN401 - see _ask
    """Return the next bytes; a broken connection is a :class:`_CutError`, not an ``OSError``."""
    try:
        return bytes(response.read(_CHUNK))
    except (http.client.HTTPException, OSError) as error:
        raise _CutError(f"the connection broke ({reason(error)})") from error


class Redirect(urllib.request.HTTPRedirectHandler):
    """Follow redirects, but never from https to a connection that anybody may alter."""

    def redirect_request(self, req: urllib.request.Request, *answer: Any) -> Any:  # noqa: ANN401
        """Return the next request; the last argument is its address."""
        if req.full_url.startswith("https:") and not answer[-1].startswith("https:"):
            raise PoshgridError(
                f"{req.full_url}: sent on to {answer[-1]}, which is not encrypted; download it by "
                "hand if you trust it"
            )
        return super().redirect_request(req, *answer)


_OPENER = urllib.request.build_opener(Redirect)


def _tag(part: Path) -> Path:
    return part.with_name(part.name + ".tag")


def _note_version(part: Path, headers: Any) -> None:  # noqa: ANN401 - see _ask
    """Note the version that a new part belongs to: a strong ETag, else the date of the file."""
    etag = headers.get("ETag", "").strip()
    # A weak ETag may stand for other bytes; If-Range must not carry one.
    version = etag if etag.startswith('"') else headers.get("Last-Modified", "").strip()
    if version.isprintable() and version:
        files.write_text(_tag(part), version)


def _empty(stream: IO[bytes], part: Path) -> None:
    """Start a part anew. The tag goes first: a part without one is never taken for a version."""
    _tag(part).unlink(missing_ok=True)
    if _size(part):
        stream.truncate(0)


def _size(path: Path) -> int:
    return path.stat().st_size


_sha256 = verification.sha256


def unpack(archive: Path) -> list[Path]:
    """Write a zip's files beside it. Files that are there already stay as they are.

    Args:
        archive: a zip.

    Returns:
        The files, as the archive lists them.

    Raises:
        PoshgridError: the zip is broken, too large, or has a link or a file that lies outside of
            it. Nothing is written then, unless the zip is broken.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            members = {
                _inside(archive, entry): entry for entry in opened.infolist() if not entry.is_dir()
            }
            # zipfile unpacks no file to more than its entry says
            number = sum(entry.file_size for entry in opened.infolist())
            if number > unpacked_limit(archive):
                raise PoshgridError(
                    f"{archive}: unpacks to {number:,} bytes, as no text does; unpack it by hand "
                    "if you trust it"
                )
            for path, entry in members.items():
                if not os.path.lexists(path):
                    with files.atomic(path) as part, part.open("wb") as output:
                        shutil.copyfileobj(opened.open(entry), output)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as error:
        raise PoshgridError(
            f"{archive}: no zip that can be read ({reason(error)}); delete it and run again"
        ) from error
    log.info("%s: %d files unpacked", archive, len(members))
    return list(members)


def _inside(archive: Path, entry: zipfile.ZipInfo) -> Path:
    """Return where a file of a zip goes; refuse a link, and what would lie outside."""
    path = PurePosixPath(entry.filename.replace("\\", "/"))
    if ".." in path.parts or path.is_absolute() or stat.S_ISLNK(entry.external_attr >> 16):
        raise PoshgridError(
            f"{archive}: {plain(entry.filename)} is a link or lies outside of the archive; "
            "unpack it by hand, with care"
        )
    return archive.parent / path
