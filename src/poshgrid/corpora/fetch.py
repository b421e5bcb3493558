"""Downloading the free sources: resumed, checked, and in place only when they are complete.

A file grows as ``NAME.part``. Beside it, ``NAME.part.tag`` holds what the server called the version
that the part belongs to (its ETag or date). A later run asks for the rest of *that* version
(``Range`` with ``If-Range``, RFC 9110, sections 13.1.5 and 14.2); of any other version, or of a
server that cannot send a rest, it takes the whole. A file whose checksum is known needs no tag.
"""

from __future__ import annotations

import fcntl
import itertools
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import requests

from poshgrid import files, logs
from poshgrid.corpora.catalogue import Download, Entry, Manifest, manifest
from poshgrid.errors import PoshgridError, check_known, reason
from poshgrid.verification import sha256

LOCK = "downloads.lock.json"
"""File of the data folder: address -> SHA-256 of what was downloaded from it first."""
ATTEMPTS = 5
"""Attempts in a row that bring no new byte."""
WAIT = 2.0
"""Seconds before the second of them; doubled before each later one."""
_CHUNK = 1 << 16  # bytes; of one that was cut short nothing is kept
_BUSY = {408, 425, 429, 500, 502, 503, 504}  # the server may answer otherwise in a while
_LONGEST_WAIT = 120.0  # seconds
_ABSENT = {404, 410}
_TIMEOUT = 60.0  # seconds without a byte
_AGENT = "poshgrid (research corpus builder)"  # some publishers refuse the nameless

log = logs.get(__name__)


class AbsentError(PoshgridError):
    """The server has no such file."""


def fetch(
    name: str,
    data: str | Path,
    *,
    folder: str | None = None,
    only: list[str] | None = None,
    words: int | None = None,
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
        words: of texts from a catalogue: enough; default: as the manifest says. They are counted
            as they were downloaded, by white space; a text that is not there is passed over.
        known: the manifest, if not ``resources/sources.yaml``.

    Returns:
        The files, in the manifest's order.

    Raises:
        PoshgridError: no such source or download, it cannot be downloaded freely, its catalogue
            holds too few words, or :func:`download` fails. Files that were complete before stay.
    """
    entry = (known or manifest()).entry(name)
    target_folder = Path(data, folder or entry.formats[0].path)
    items, lacking = entry.downloads, 0
    if entry.catalogue:
        table = Download(url=entry.catalogue.url, file=entry.catalogue.file, sha256=None)
        items = tuple(entry.catalogue.downloads(_fetch(table, target_folder, Path(data))))
        lacking = 0 if only else words or entry.catalogue.words
    counted, paths, asked = bool(lacking), [], False
    for item in _chosen(entry, items, only):
        new = not Path(target_folder, item.file).exists()
        if new and asked:
            time.sleep(entry.pause)
        asked = asked or new
        try:
            paths.append(_fetch(item, target_folder, Path(data)))
        except AbsentError as error:
            if not counted:
                raise
            log.warning("%s: passed over", error)
            continue
        if counted:
            lacking -= len(paths[-1].read_text(encoding="utf-8", errors="replace").split())
            if lacking <= 0:
                break
    if lacking > 0:
        raise PoshgridError(
            f"{target_folder}: all texts of the catalogue are there, and hold {lacking:,} words "
            "too few; ask for less with --words"
        )
    return paths


def _fetch(item: Download, folder: Path, data: Path) -> Path:
    """Download a file into a folder, and note its checksum in the lock of the data folder."""
    lock, target = data / LOCK, folder / item.file
    new = not target.exists()
    first: dict[str, str] = files.read_json(lock) if lock.exists() else {}
    checksum = item.sha256 or first.get(item.url)
    download(item.model_copy(update={"sha256": checksum}), target)
    # A file that a user copied here may differ from the publisher's.
    if new and checksum is None:
        files.write_json(lock, dict(sorted({**first, item.url: sha256(target)}.items())))
    return target


def _chosen(entry: Entry, items: Sequence[Download], only: list[str] | None) -> list[Download]:
    """Return the downloads that are asked for; refuse what cannot be fetched."""
    if not items:
        licence = f"{entry.access} ({entry.licence}), so " if entry.access == "restricted" else ""
        raise PoshgridError(f"{entry.name}: {licence}not fetched; {entry.get}; see docs/sources.md")
    for word in only or ():
        check_known(f"{entry.name}: no download", word, {item.file for item in items})
    return [item for item in items if (item.file in only if only else item.default)]


def download(item: Download, target: Path) -> Path:
    """Download one file, going on from what an interrupted run left in ``TARGET.part``.

    Args:
        item: what to download.
        target: where it goes; a file that is there already is only checked.

    Returns:
        ``target``.

    Raises:
        PoshgridError: no network, refused by the server, wrong checksum, or the file that is there
            already has another checksum. ``target`` itself is never incomplete; after a broken
            connection the part stays, for the next run.
        OSError: a file cannot be written.
    """
    if target.exists():
        if item.sha256 and sha256(target) != item.sha256:
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
        _complete(item, stream, part)
        os.fsync(stream.fileno())
        checksum = sha256(part)
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


def _complete(item: Download, stream: IO[bytes], part: Path) -> None:
    """Bring a part to its full length, however many connections that takes."""
    failures = 0
    while True:
        before = _size(part)
        try:
            _append(item, stream, part)
            return
        except requests.RequestException as error:
            stream.flush()
            kept = _size(part)
            failures = 1 if kept > before else failures + 1
            if failures >= ATTEMPTS:
                raise PoshgridError(
                    f"{item.url}: no connection ({reason(error)}); check the network and the "
                    f"proxy, then run again ({kept:,} bytes are kept)"
                ) from error
            answer = error.response.headers if error.response is not None else {}
            after = answer.get("Retry-After", "")
            wait = float(after) if after.isdecimal() else WAIT * 2 ** (failures - 1)
            wait = min(wait, _LONGEST_WAIT)
            log.warning("%s: %s; again in %.0f s", item.url, reason(error), wait)
            time.sleep(wait)


def _append(item: Download, stream: IO[bytes], part: Path) -> None:
    """Ask once for what a part lacks and append it.

    Raises:
        requests.RequestException: the connection failed, or ended before the last byte.
        PoshgridError: no later attempt can help.
    """
    version = _tag(part).read_text("utf-8") if _tag(part).exists() else ""
    start = _size(part) if version or item.sha256 else 0
    headers = {"User-Agent": _AGENT, "Accept-Encoding": "identity"}
    if start:
        headers |= {"Range": f"bytes={start}-"} | ({"If-Range": version} if version else {})
    with requests.get(item.url, headers=headers, stream=True, timeout=_TIMEOUT) as response:
        check_encrypted(*(answer.url for answer in (*response.history, response)))
        status, span = response.status_code, response.headers.get("Content-Range", "")
        if status == 416 and span == f"bytes */{start}":  # nothing is lacking
            return
        if status == 416 or (status == 206 and not span.startswith(f"bytes {start}-")):
            _empty(stream, part)
            raise requests.ConnectionError("the server has another range than was asked for")
        if status in _BUSY:
            response.raise_for_status()
        page = response.headers.get("Content-Type", "").startswith("text/html")
        if page or not response.ok:
            kind = AbsentError if status in _ABSENT else PoshgridError
            answer = "with a web page" if page else f"{status} {response.reason}"
            raise kind(
                f"{item.url}: the server answers {answer}; download {item.file} by hand, see "
                "docs/sources.md"
            )
        if status == 200:
            _empty(stream, part)
            _note_version(part, response.headers)
        chunks = response.iter_content(_CHUNK)  # fewer bytes than the server promised: an error
        for chunk in logs.progress(chunks, f"fetching {item.file} (64 KiB)"):
            stream.write(chunk)
    stream.flush()


def check_encrypted(*addresses: str) -> None:
    """Raise if an address redirects from https to a connection that anybody may alter.

    Args:
        addresses: of a request and its redirects, in their order.

    Raises:
        PoshgridError: one does.
    """
    for address, target in itertools.pairwise(addresses):
        if address.startswith("https:") and target.startswith("http:"):
            raise PoshgridError(
                f"{address}: sent on to {target}, which is not encrypted; download it by hand if "
                "you trust it"
            )


def _tag(part: Path) -> Path:
    return part.with_name(part.name + ".tag")


def _note_version(part: Path, headers: Any) -> None:  # noqa: ANN401 - of requests
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
