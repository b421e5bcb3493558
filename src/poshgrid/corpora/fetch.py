"""Download free sources: resume, check, and move a file into place only when it is complete.

An unfinished file is called ``NAME.part``. ``NAME.part.tag`` records the server's version of the
file (its ETag or date). A later run requests the remaining bytes of *that* version (``Range`` with
``If-Range``, RFC 9110, sections 13.1.5 and 14.2). If the version has changed, or the server cannot
send a part of a file, the whole file is downloaded. A file with a known checksum needs no tag.
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

from poshgrid.core import files, logs
from poshgrid.core.errors import PoshgridError, check_known, reason
from poshgrid.core.verification import sha256
from poshgrid.corpora.catalogue import Download, Entry, Manifest, manifest

LOCK = "downloads.lock.json"
"""File in the data folder: address -> SHA-256 of the file at its first download."""
ATTEMPTS = 5
"""Attempts in a row without a new byte before a download fails."""
WAIT = 2.0
"""Seconds before the second attempt; doubled before each later one."""
_CHUNK = 1 << 16  # bytes; an incomplete chunk is not kept
_BUSY = {408, 425, 429, 500, 502, 503, 504}  # statuses after which another attempt may succeed
_LONGEST_WAIT = 120.0  # seconds
_ABSENT = {404, 410}
_TIMEOUT = 60.0  # seconds without a byte
_AGENT = "poshgrid (research corpus builder)"  # some publishers refuse requests without a name

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
    """Download the files of a free source; files that exist already are kept.

    A file is checked against the manifest's checksum. If the manifest has none, it is checked
    against the checksum of its first download, which is recorded in :data:`LOCK`.

    Args:
        name: the source, as in ``resources/sources.yaml``.
        data: the data folder.
        folder: folder for the files, relative to ``data``; default: the path in the manifest.
        only: names of the files to download; default: those that the manifest marks.
        words: how many words of a catalogue's texts to download; default: as the manifest says.
            Words are counted before cleaning, by white space. A text that the server does not have
            is skipped.
        known: the manifest; default: ``resources/sources.yaml``.

    Returns:
        The files, in the manifest's order.

    Raises:
        PoshgridError: no such source or file, the source cannot be downloaded freely, its catalogue
            holds too few words, or :func:`download` fails. Files that were complete before are
            kept.
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
            log.warning("%s: skipped", error)
            continue
        if counted:
            lacking -= len(paths[-1].read_text(encoding="utf-8", errors="replace").split())
            if lacking <= 0:
                break
    if lacking > 0:
        raise PoshgridError(
            f"{target_folder}: all texts of the catalogue are here, but hold {lacking:,} words "
            "too few; request fewer with --words"
        )
    return paths


def _fetch(item: Download, folder: Path, data: Path) -> Path:
    """Download a file into a folder, and record its checksum in the data folder's lock file."""
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
    """Return the downloads that were requested; raise if the source cannot be downloaded."""
    if not items:
        licence = f"{entry.access} ({entry.licence}), so " if entry.access == "restricted" else ""
        raise PoshgridError(f"{entry.name}: {licence}not fetched; {entry.get}; see docs/sources.md")
    for word in only or ():
        check_known(f"{entry.name}: no download", word, {item.file for item in items})
    return [item for item in items if (item.file in only if only else item.default)]


def download(item: Download, target: Path) -> Path:
    """Download one file; resume from ``TARGET.part`` if an earlier run was interrupted.

    Args:
        item: what to download.
        target: path of the file; a file that exists is only checked.

    Returns:
        ``target``.

    Raises:
        PoshgridError: no network, refused by the server, wrong checksum, or an existing file with
            another checksum. ``target`` itself is never incomplete; after a broken connection the
            ``.part`` file stays for the next run.
        OSError: a file cannot be written.
    """
    if target.exists():
        if item.sha256 and sha256(target) != item.sha256:
            raise PoshgridError(
                f"{target}: differs from {item.url} (another SHA-256); move it away and "
                f"run again; to keep your file, delete its line in {LOCK}"
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
        except OSError:  # a network disk without locks: continue without one
            log.debug("%s: the disk has no locks", part)
        _complete(item, stream, part)
        os.fsync(stream.fileno())
        checksum = sha256(part)
        if not _size(part) or checksum != (item.sha256 or checksum):
            _empty(stream, part)  # resuming cannot correct it
            raise PoshgridError(
                f"{item.url}: empty file or wrong checksum: SHA-256 is {checksum}, not "
                f"{item.sha256}; run again; if the publisher has changed the file, delete its line "
                f"in {LOCK}"
            )
        part.replace(target)
    _tag(part).unlink(missing_ok=True)
    log.info("%s: %s bytes", target, f"{_size(target):,}")
    return target


def _complete(item: Download, stream: IO[bytes], part: Path) -> None:
    """Download the rest of a file, over several connections if necessary."""
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
    """Request the missing bytes of a file once and append them.

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
        if status == 416 and span == f"bytes */{start}":  # the file is complete
            return
        if status == 416 or (status == 206 and not span.startswith(f"bytes {start}-")):
            _empty(stream, part)
            raise requests.ConnectionError("the server sent another range than requested")
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
        chunks = response.iter_content(_CHUNK)  # raises if bytes are missing
        for chunk in logs.progress(chunks, f"fetching {item.file} (64 KiB)"):
            stream.write(chunk)
    stream.flush()


def check_encrypted(*addresses: str) -> None:
    """Raise if a request is redirected from https to http, which anybody could alter.

    Args:
        addresses: the addresses of a request and its redirects, in order.

    Raises:
        PoshgridError: a redirect leaves https.
    """
    for address, target in itertools.pairwise(addresses):
        if address.startswith("https:") and target.startswith("http:"):
            raise PoshgridError(
                f"{address}: redirected to {target}, which is not encrypted; download it by hand "
                "if you trust it"
            )


def _tag(part: Path) -> Path:
    return part.with_name(part.name + ".tag")


def _note_version(part: Path, headers: Any) -> None:  # noqa: ANN401 - of requests
    """Record the server's version of a new file: its strong ETag, else its date."""
    etag = headers.get("ETag", "").strip()
    # Two files with the same weak ETag may differ, so If-Range must not use it.
    version = etag if etag.startswith('"') else headers.get("Last-Modified", "").strip()
    if version.isprintable() and version:
        files.write_text(_tag(part), version)


def _empty(stream: IO[bytes], part: Path) -> None:
    """Empty a partial file. Its tag is deleted first, so that no tag describes other bytes."""
    _tag(part).unlink(missing_ok=True)
    if _size(part):
        stream.truncate(0)


def _size(path: Path) -> int:
    return path.stat().st_size
