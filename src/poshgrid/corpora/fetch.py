"""Downloading the free sources: checked, and in place only when they are complete."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import IO

from poshgrid import files, logs, verification
from poshgrid.corpora.catalogue import Download, Entry, Manifest, manifest
from poshgrid.corpora.textfile import Budget
from poshgrid.corpora.transfer import Patience, complete, remove, size
from poshgrid.errors import PoshgridError, check_known, plain

LOCK = "downloads.lock.json"
"""File of the data folder: address -> SHA-256 of what was downloaded from it first."""

MOST_FILES = 100_000
"""Files that an archive may unpack to."""

LARGEST = 100_000_000_000
"""Bytes that an archive may unpack to."""

log = logs.get(__name__)


class WrongChecksumError(PoshgridError):
    """A file is another one than was expected."""


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

    A file is held to the manifest's checksum, or, where that has none, to that of its first
    download, which is kept in :data:`LOCK`.

    Args:
        name: the source, as in ``resources/sources.yaml``.
        data: the data folder.
        folder: where they go below it; none: the path that the manifest gives.
        only: names of the downloads to take; none: those that the manifest marks as default.
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
    chosen = _chosen(entry, only)
    below = PurePosixPath(folder or entry.folder)
    if below.is_absolute() or ".." in below.parts:
        raise PoshgridError(f"--folder {folder}: not below the data folder; give a relative path")
    found: list[Path] = []
    asked = False
    lock = Path(data) / LOCK
    for item in chosen:
        target = Path(data) / below / item.file
        new = not target.exists()
        if new:
            if asked and entry.pause:
                patience.sleep(entry.pause)
            asked = True
        first = _recorded(lock).get(item.url)
        try:
            known_sum = item.sha256 or first
            found.append(download(item.model_copy(update={"sha256": known_sum}), target, patience))
        except WrongChecksumError as error:
            if item.sha256:
                raise
            raise PoshgridError(
                f"{error}; {lock} has the checksum of the first download: to take another file, "
                "delete its line there"
            ) from error
        if new and known_sum is None:
            # A file that was put there by hand says nothing of what the publisher has.
            _record(lock, item.url, verification.sha256(target))
        if item.unpack:
            unpack(target)
    return found


def unpack(archive: Path) -> list[Path]:
    """Write a zip's files beside it. Files that are there already stay as they are.

    A folder of the archive's own name around all of it is left out, and so is what is hidden.

    Args:
        archive: a zip.

    Returns:
        The files, as the archive lists them.

    Raises:
        PoshgridError: the zip is broken, too large, or has a link or a file that lies outside of
            it; another file has the place of one of its files; or there is no space.
    """
    try:
        with zipfile.ZipFile(archive) as held:
            members = _members(held, archive)
            for target, member in members.items():
                if not target.exists():
                    with files.atomic(target) as part, part.open("wb") as output:
                        shutil.copyfileobj(held.open(member), output)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as error:
        raise PoshgridError(
            f"{archive}: no zip that can be read ({error}); delete it and run again"
        ) from error
    except OSError as error:
        raise PoshgridError(
            f"{error.filename or archive}: cannot write: {error.strerror or error}; free space or "
            "correct the folder's permissions and run again"
        ) from error
    log.info("%s: %d files unpacked", archive, len(members))
    return list(members)


def _members(held: zipfile.ZipFile, archive: Path) -> dict[Path, zipfile.ZipInfo]:
    """Return where each file of a zip goes. zipfile unpacks no file to more than it declares.

    Raises:
        PoshgridError: as :func:`unpack`.
    """
    entries = [entry for entry in held.infolist() if not entry.is_dir()]
    unpacked = sum(entry.file_size for entry in entries)
    if len(entries) > MOST_FILES or unpacked > LARGEST:
        raise PoshgridError(
            f"{archive}: unpacks to {len(entries):,} files and {unpacked:,} bytes, as no corpus "
            "does; unpack it by hand if you trust it"
        )
    Budget(archive).take(unpacked)
    members: dict[Path, zipfile.ZipInfo] = {}
    for entry in entries:
        path = PurePosixPath(entry.filename.replace("\\", "/"))
        parts = path.parts[1:] if path.parts[:1] == (archive.stem,) else path.parts
        if not parts or any(_hidden(part) for part in parts):
            continue
        if ".." in parts or path.is_absolute() or stat.S_ISLNK(entry.external_attr >> 16):
            raise PoshgridError(
                f"{archive}: {plain(entry.filename)} is a link or lies outside of the archive; "
                "unpack it by hand, with care"
            )
        target = archive.parent.joinpath(*parts)
        if target in members or (os.path.lexists(target) and not _same(target, entry)):
            raise PoshgridError(
                f"{target}: another file than that of {archive.name}; move it away and run again"
            )
        members[target] = entry
    return members


def _same(path: Path, entry: zipfile.ZipInfo) -> bool:
    """Say whether a file has the content of a zip's file, by length and CRC-32."""
    if not path.is_file() or path.stat().st_size != entry.file_size:
        return False
    checksum = 0
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            checksum = zlib.crc32(block, checksum)
    return checksum == entry.CRC


def _hidden(part: str) -> bool:
    return part == "__MACOSX" or (part.startswith(".") and part != "..")


def _recorded(lock: Path) -> dict[str, str]:
    """Return address -> SHA-256 of what was downloaded from it first."""
    return dict(files.read_json(lock)) if lock.exists() else {}


def _record(lock: Path, url: str, checksum: str) -> None:
    """Keep the checksum of a first download; two runs at once keep both of theirs."""
    with lock.with_name(f".{lock.name}.lock").open("a") as guard:
        try:
            fcntl.flock(guard, fcntl.LOCK_EX)
        except OSError:
            log.debug("%s: the disk has no locks", lock)
        files.write_json(lock, dict(sorted({**_recorded(lock), url: checksum}.items())))


def download(item: Download, target: Path, patience: Patience | None = None) -> Path:
    """Download one file, going on from what an interrupted run left in ``TARGET.part``.

    Args:
        item: what to download.
        target: where it goes; a file that is there already is only checked.
        patience: how often and how long is tried.

    Returns:
        ``target``.

    Raises:
        PoshgridError: no network, refused by the server, wrong checksum, no space, or the file
            that is there already has another checksum. ``target`` itself is never incomplete;
            after a broken connection the part stays, for the next run.
    """
    patience = patience or Patience()
    if target.exists():
        if item.sha256 and verification.sha256(target) != item.sha256:
            raise WrongChecksumError(
                f"{target}: another file than {item.url} (its SHA-256 differs); move it away and "
                "run again"
            )
        log.info("%s: already there", target)
        return target
    part = target.with_name(target.name + ".part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with part.open("ab") as stream:
            _lock(stream, part)
            try:
                if target.exists():  # another run finished it while we came here
                    return target
                complete(item, stream, part, patience)
                stream.flush()
                os.fsync(stream.fileno())
                _check(item, part)
                part.replace(target)
            finally:
                if not size(part):  # nothing came, or it is in place: leave nothing
                    remove(part)
    except OSError as error:
        kept = size(part)
        raise PoshgridError(
            f"{error.filename or part}: cannot write: {error.strerror or error}; free space or "
            f"mend the folder's permissions and run again ({kept:,} bytes are kept)"
        ) from error
    log.info("%s: %s bytes", target, f"{target.stat().st_size:,}")
    return target


def _chosen(entry: Entry, only: list[str] | None) -> list[Download]:
    """Return the downloads that are asked for; refuse what cannot be fetched."""
    if entry.access == "restricted":
        raise PoshgridError(
            f"{entry.name}: restricted ({entry.licence}), so it is not fetched; {entry.get}; "
            "see docs/sources.md"
        )
    if not entry.downloads:
        raise PoshgridError(f"{entry.name}: not fetched; {entry.get}; see docs/sources.md")
    if not only:
        return [item for item in entry.downloads if item.default]
    names = {item.file for item in entry.downloads}
    for word in only:
        check_known(f"{entry.name}: no download", word, names)
    return [item for item in entry.downloads if item.file in only]


def _check(item: Download, part: Path) -> None:
    """Hold a complete part to its checksum; remove it if it differs: no resuming mends it.

    Raises:
        PoshgridError: empty, or another checksum.
    """
    length = size(part)
    found = verification.sha256(part)
    if length and item.sha256 in {None, found}:
        return
    remove(part)
    if not length:
        raise PoshgridError(f"{item.url}: the server sent an empty file; try again later")
    raise WrongChecksumError(
        f"{item.url}: wrong checksum: SHA-256 is {found}, not {item.sha256}; the download is "
        "removed; run again, and if it stays wrong the publisher has changed the file"
    )


def _lock(stream: IO[bytes], part: Path) -> None:
    """Keep two runs from writing one part.

    Raises:
        PoshgridError: another run holds it.
    """
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise PoshgridError(
            f"{part}: another run is downloading it; wait for it, or end it and run again"
        ) from error
    except OSError:  # a network disk without locks: go on as if alone
        log.debug("%s: the disk has no locks", part)
