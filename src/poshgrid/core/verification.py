"""Check that files still have the bytes that a stage wrote, and were not truncated or edited.

A manifest records the SHA-256 digest of every file that its stage wrote (``outputs``). Stages check
their inputs against manifests, and ``poshgrid verify`` checks a whole results folder
(:func:`poshgrid.core.manifest.faults`).
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from poshgrid.core.errors import PoshgridError

MANIFEST = "manifest.json"
DEPTH = 3
"""How many folders above a file its manifest may be; a model's checkpoints are the deepest
files."""

_READING: list[dict[str, str]] = []


class Manifest(NamedTuple):
    """The contents of a manifest.

    Attributes:
        outputs: name, relative to the manifest's folder -> digest.
        stage: the command.
        inputs: name, relative to the manifest's folder -> digest.
        path: absolute path of the manifest when it was written; "" in earlier versions.
    """

    outputs: dict[str, str]
    stage: str
    inputs: dict[str, str]
    path: str

    def changed(self) -> str:
        """Return the error message for a file whose bytes are not those that the stage wrote."""
        return f"not the bytes that {self.stage} wrote"


class NoManifestError(PoshgridError):
    """A file has the name of a manifest but is not one.

    Attributes:
        what: the reason.
        foreign: true if it is JSON that poshgrid did not write; false if it is not JSON.
    """

    def __init__(self, manifest: Path, what: str, *, foreign: bool = False) -> None:
        super().__init__(f"{manifest}: {what}")
        self.what, self.foreign = what, foreign


def outputs(manifest: Path, editable: Iterable[str] = ()) -> tuple[dict[str, str], list[str]]:
    """Return name -> digest of the files that a stage has written, and the names of editable ones.

    It lists the files in its folder and in folders below; those with a nearer manifest belong to
    that one. Hidden files are temporary and left out.

    Args:
        manifest: the manifest's path; it need not exist yet.
        editable: patterns of names that people may edit: these get no digest.
    """
    digests, others = {}, []
    for path in _below(manifest.parent):
        name = path.relative_to(manifest.parent).as_posix()
        if any(path.match(pattern) for pattern in editable):
            others.append(name)
        else:
            digests[name] = sha256(path)
    return digests, others


@contextmanager
def reading() -> Iterator[dict[str, str]]:
    """Collect path -> digest of other stages' results that are checked inside the block."""
    read: dict[str, str] = {}
    _READING.append(read)
    try:
        yield read
    finally:
        _READING.remove(read)


def check(paths: Iterable[str | os.PathLike[str]]) -> dict[str, str]:
    """Compare files with their manifests; return path -> digest of the files that exist.

    Files without a poshgrid manifest, or whose manifest lists no outputs, only get a digest:
    sources, models given by path, and results of earlier versions. Manifests are left out, because
    they contain times.

    Raises:
        PoshgridError: a file does not have the bytes that its stage wrote, or is a device.
    """
    digests = {}
    for path in sorted(map(Path, paths)):
        if not path.is_file():
            if path.exists() and not path.is_dir():  # reading it might never end
                raise PoshgridError(f"{path}: a device or a pipe; replace it by a file")
            continue
        if path.name == MANIFEST and _is_ours(path):
            continue
        digest = digests[str(path)] = _digest(path)
        owner = nearest(path)
        if owner is None:
            continue
        name = path.relative_to(owner.parent).as_posix()
        try:
            known = _parsed(owner)
        except NoManifestError as error:
            if error.foreign:  # a corpus may have a file with that name
                continue
            raise
        if known.outputs.get(name, digest) != digest:
            raise PoshgridError(
                f"{path}: {known.changed()} ({owner.name}); run poshgrid verify --delete "
                "on the results, then run again"
            )
        if name in known.outputs:
            for read in _READING:
                read[str(path)] = digest
    return digests


def _is_ours(manifest: Path) -> bool:
    try:
        parsed(manifest, state(manifest))
    except (NoManifestError, OSError):
        return False
    return True


def written(path: Path) -> str | None:
    """Return a file's digest in its own manifest; None without such a file or manifest.

    Raises:
        NoManifestError: the manifest is invalid.
        OSError: the manifest cannot be read.
    """
    owner = nearest(path) if path.is_file() else None
    if owner is None:
        return None
    return parsed(owner, state(owner)).outputs.get(path.relative_to(owner.parent).as_posix())


def relative(manifest: str | Path, path: str | os.PathLike[str]) -> str:
    """Return a path relative to a manifest's folder, without resolving links.

    Paths of files in the same results folder do not change if the whole folder is moved.
    """
    return os.path.relpath(path, Path(manifest).parent)


def reads(manifest: str | Path, inputs: Iterable[str], results: str) -> list[str]:
    """Return a job's inputs inside its results folder, relative to its manifest's folder."""
    top = os.path.abspath(results)  # noqa: PTH100 - links stay
    inside = (path for path in inputs if Path(os.path.abspath(path)).is_relative_to(top))  # noqa: PTH100
    return sorted(relative(manifest, path) for path in inside)


def located(manifest: Path, name: str) -> Path:
    """Return the path of a name relative to a manifest's folder, without resolving links."""
    return Path(os.path.normpath(manifest.parent / name))


def same_inputs(before: Mapping[str, str], now: Mapping[str, str]) -> bool:
    """Return whether two runs of a stage read the same content.

    Files that only one of the runs names are outside the results, and may have been moved: only
    their names without folders and their digests are compared.

    Args:
        before: inputs of the earlier run: names, relative to its manifest's folder, and digests.
        now: the same for this run.
    """
    common = before.keys() & now.keys()
    moved = [
        sorted((PurePosixPath(name).name, inputs[name]) for name in inputs.keys() - common)
        for inputs in (before, now)
    ]
    return moved[0] == moved[1] and all(before[name] == now[name] for name in common)


def unchanged(digests: dict[str, str]) -> None:
    """Raise if files have changed while a stage read them.

    Files with the same size and time are not digested again. A file that was replaced by the same
    bytes is accepted, because jobs of a killed Snakemake write their results again.

    Args:
        digests: result of :func:`check` before.

    Raises:
        PoshgridError: a file was written, replaced or deleted since.
    """
    for path, digest in digests.items():
        if not Path(path).is_file() or _digest(Path(path)) != digest:
            raise PoshgridError(f"{path}: changed while it was read; run again when it is stable")


def _below(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name == MANIFEST:
            continue
        if path.is_file():
            yield path
        elif path.is_dir() and not (path / MANIFEST).exists():
            yield from _below(path)


def nearest(path: Path) -> Path | None:
    """Return the manifest that a file belongs to: next to it, or in a folder above."""
    if path.name == MANIFEST:
        return None
    above = (folder / MANIFEST for folder in list(path.parents)[:DEPTH])
    return next((manifest for manifest in above if manifest.is_file()), None)


def _parsed(manifest: Path) -> Manifest:
    try:
        return parsed(manifest, state(manifest))
    except OSError as error:
        raise PoshgridError(
            f"{manifest}: cannot be read: {error.strerror or error}; check the disk, then run again"
        ) from error


def read(manifest: Path) -> Any:  # noqa: ANN401 - JSON is what it is
    """Return the contents of a manifest.

    Raises:
        NoManifestError: it is not a file, or not JSON.
        OSError: it cannot be read.
    """
    if manifest.exists() and not manifest.is_file():  # reading a device might never end
        raise NoManifestError(manifest, "not a manifest: not a file; move it away, then run again")
    try:
        return json.loads(manifest.read_bytes())
    except ValueError as error:
        raise NoManifestError(
            manifest, "not a manifest: not JSON; move it away, then run again"
        ) from error


@functools.lru_cache(maxsize=4096)
def parsed(manifest: Path, _: tuple[int, ...]) -> Manifest:
    """Read a manifest, once for each state of the file.

    Args:
        manifest: the file.
        _: its :func:`state`.

    Raises:
        NoManifestError: it is invalid.
        OSError: it cannot be read.
    """
    content = read(manifest)
    try:
        command = content.get("command") or []
        outputs = dict(content.get("outputs") or {})
        inputs = dict(content.get("inputs") or {})
        stage = str(command[1]) if len(command) > 1 else "its stage"
        ours = all(isinstance(of, str) and _inside(name) for name, of in outputs.items())
    except (AttributeError, TypeError, ValueError):
        ours = False
    if not ours:
        raise NoManifestError(
            manifest,
            "not a manifest, though JSON: poshgrid did not write it",
            foreign=True,
        )
    return Manifest(outputs, stage, inputs, str(content.get("path") or ""))


def _inside(name: str) -> bool:
    """Return whether a name is that of a file in the manifest's folder or below."""
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts


def _digest(path: Path) -> str:
    return _sha256(path, state(path))


@functools.lru_cache(maxsize=65536)
def _sha256(path: Path, _: tuple[int, ...]) -> str:
    """Return the digest of a file, computed once for each state of the file."""
    return sha256(path)


def state(path: Path) -> tuple[int, ...]:
    """Return values that change when a file is written or replaced."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns, status.st_ino


def sha256(path: str | os.PathLike[str]) -> str:
    """Return the hexadecimal SHA-256 digest of a file's bytes."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
