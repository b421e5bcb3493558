"""Whether files still hold the bytes that a stage wrote: truncated, flipped and edited ones do not.

A manifest records the SHA-256 digest of every file that its stage wrote (``outputs``), and one of
all that it says, that list among it (``seal``). Stages hold what they read to it, and ``poshgrid
verify`` all of a results folder (:mod:`poshgrid.provenance.verify`).
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

from poshgrid.errors import PoshgridError

MANIFEST = "manifest.json"
SUFFIX = f".{MANIFEST}"
SEAL = "seal"
DEPTH = 3
"""Folders above a file in which its manifest may lie: a model's checkpoints are the deepest."""

_READING: list[dict[str, str]] = []


class Recorded(NamedTuple):
    """What a manifest says of its stage.

    Attributes:
        outputs: name, seen from the manifest's folder -> digest.
        stage: the command.
        inputs: name, as the command was given it -> digest.
        editable: names of outputs that people may edit.
        path: where the manifest was written, absolute; "": an earlier version did not record it.
        cwd: folder in which the command ran.
    """

    outputs: dict[str, str]
    stage: str
    inputs: dict[str, str]
    editable: tuple[str, ...]
    path: str
    cwd: str

    def changed(self) -> str:
        """Return what is wrong with a file of other bytes."""
        return f"not the bytes that {self.stage} wrote"


def sealed(content: dict[str, Any]) -> str:
    """Return the text of a manifest, with its seal.

    Args:
        content: what it says.
    """
    if SEAL in content:
        raise ValueError(f"{SEAL!r} is the manifest's own")
    plain = json.loads(json_text(content))  # as it will be read: keys are texts
    return json_text(plain | {SEAL: _seal(plain)})


def json_text(value: object) -> str:
    """Return indented JSON with sorted keys: the same value gives the same text."""
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _seal(content: dict[str, Any]) -> str:
    """Return the digest of what a manifest says besides."""
    return hashlib.sha256(_bytes(content)).hexdigest()


def _bytes(content: dict[str, Any]) -> bytes:
    return json_text(content).encode("utf-8", "surrogatepass")


class NoManifestError(PoshgridError):
    """A file with a manifest's name that is none.

    Attributes:
        what: why.
        foreign: whether it is JSON that poshgrid did not write; otherwise it is not JSON.
    """

    def __init__(self, manifest: Path, what: str, *, foreign: bool = False) -> None:
        super().__init__(f"{manifest}: {what}")
        self.what, self.foreign = what, foreign


def outputs(manifest: Path, editable: Iterable[str] = ()) -> tuple[dict[str, str], list[str]]:
    """Return name -> digest of the files that a stage has written, and names of editable ones.

    ``manifest.json`` lists what lies in its folder and in folders below, ``{name}.manifest.json``
    the files ``{name}.*`` beside it; what has a nearer manifest belongs to that one.

    Args:
        manifest: the manifest's path; it need not exist yet.
        editable: patterns of names that people may edit: they get no digest.
    """
    digests, others = {}, []
    for path in _written(manifest):
        name = path.relative_to(manifest.parent).as_posix()
        if any(path.match(pattern) for pattern in editable):
            others.append(name)
        else:
            digests[name] = sha256(path)
    return digests, others


@contextmanager
def reading() -> Iterator[dict[str, str]]:
    """Collect path -> digest of the results of other stages that are checked inside the block."""
    read: dict[str, str] = {}
    _READING.append(read)
    try:
        yield read
    finally:
        _READING.remove(read)


def check(paths: Iterable[str | os.PathLike[str]]) -> dict[str, str]:
    """Compare files with their manifests; return path -> digest of those that are there.

    Files without a manifest of ours, or whose manifest lists no outputs, are digested and pass:
    those are the sources, models given by path, and results of earlier versions. Manifests
    themselves are left out: they hold times.

    Raises:
        PoshgridError: a file does not hold the bytes that its stage wrote, or is a device.
    """
    digests = {}
    for path in sorted(map(Path, paths)):
        if not path.is_file():
            if path.exists() and not path.is_dir():  # to read it might never end
                raise PoshgridError(f"{path}: a device or a pipe, not a file; put the file there")
            continue
        if is_manifest(path) and _is_ours(path):
            continue
        digest = digests[str(path)] = _digest(path)
        owner = nearest(path)
        if owner is None:
            continue
        name = path.relative_to(owner.parent).as_posix()
        try:
            known = _recorded(owner)
        except NoManifestError as error:
            if error.foreign:  # a corpus may have a file of that name
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
        recorded(manifest, state(manifest))
    except (NoManifestError, OSError):
        return False
    return True


def written(path: Path) -> str | None:
    """Return the digest of a file by its own manifest; None: there is no such file, or no manifest.

    Raises:
        NoManifestError: the manifest is none.
        OSError: the manifest cannot be read.
    """
    owner = nearest(path) if path.is_file() else None
    if owner is None:
        return None
    return recorded(owner, state(owner)).outputs.get(path.relative_to(owner.parent).as_posix())


def from_folder(inputs: Mapping[str, str], path: str, cwd: str) -> dict[str, str]:
    """Return a stage's inputs with their names seen from its manifest's folder.

    Names of files in the same results folder stay the same when that is moved as a whole.

    Args:
        inputs: name -> digest.
        path: the manifest, absolute.
        cwd: folder in which the names are paths.
    """
    folder = os.path.dirname(path)  # noqa: PTH120 - links stay
    return {
        os.path.relpath(os.path.join(cwd, name), folder): digest  # noqa: PTH118
        for name, digest in inputs.items()
    }


def reads(manifest: str | Path, inputs: Iterable[str], results: str) -> list[str]:
    """Return those inputs of a job that lie in its results, as seen from its manifest."""
    top, folder = os.path.abspath(results), Path(manifest).parent  # noqa: PTH100 - links stay
    paths = [os.path.abspath(path) for path in inputs]  # noqa: PTH100
    return sorted(os.path.relpath(path, folder) for path in paths if Path(path).is_relative_to(top))


def located(manifest: Path, name: str) -> Path:
    """Return the path of a file whose name is seen from a manifest's folder; links stay."""
    return Path(os.path.normpath(manifest.parent / name))


def same_inputs(before: Mapping[str, str], now: Mapping[str, str]) -> bool:
    """Say whether two runs of a stage read the same content.

    A file that only one of them names lies outside the results, and may have been moved: corpus
    names and digests of such files are compared.

    Args:
        before: what :func:`from_folder` returned of the earlier run.
        now: the same of this run.
    """
    common = before.keys() & now.keys()
    moved = [
        sorted((PurePosixPath(name).name, inputs[name]) for name in inputs.keys() - common)
        for inputs in (before, now)
    ]
    return moved[0] == moved[1] and all(before[name] == now[name] for name in common)


def unchanged(digests: dict[str, str]) -> None:
    """Refuse what was made of files that changed while they were read.

    Files that still have their size and time are not digested again; one that was replaced by the
    same bytes passes: jobs that a killed Snakemake has left write their results again.

    Args:
        digests: what :func:`check` returned before.

    Raises:
        PoshgridError: a file was written, replaced or deleted since.
    """
    for path, digest in digests.items():
        if not Path(path).is_file() or _digest(Path(path)) != digest:
            raise PoshgridError(f"{path}: changed while it was read; run again once it stays")


def _written(manifest: Path) -> Iterator[Path]:
    """Yield the files that belong to a manifest; hidden ones are temporary."""
    folder = manifest.parent
    candidates: Iterable[Path]
    if manifest.name == MANIFEST:
        candidates = _below(folder)
    else:
        stem = manifest.name.removesuffix(SUFFIX)
        candidates = sorted(path for path in folder.glob("*") if path.name.startswith(f"{stem}."))
    for path in candidates:
        if path.is_file() and not is_manifest(path) and nearest(path, manifest) == manifest:
            yield path


def _below(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if not path.is_dir():
            yield path
        elif not (path / MANIFEST).exists():
            yield from _below(path)


def is_manifest(path: Path) -> bool:
    """Say whether a path has a manifest's name."""
    return path.name == MANIFEST or path.name.endswith(SUFFIX)


def nearest(path: Path, coming: Path | None = None) -> Path | None:
    """Return the manifest that a file belongs to: the one beside it, or one of a folder above.

    Args:
        path: the file.
        coming: a manifest that is about to be written.
    """
    if is_manifest(path):
        return None
    parts = path.name.split(".")
    beside = [path.with_name(".".join(parts[:n]) + SUFFIX) for n in range(len(parts) - 1, 0, -1)]
    above = [folder / MANIFEST for folder in list(path.parents)[:DEPTH]]
    return next((path for path in (*beside, *above) if path == coming or path.is_file()), None)


def _recorded(manifest: Path) -> Recorded:
    try:
        return recorded(manifest, state(manifest))
    except OSError as error:
        raise PoshgridError(
            f"{manifest}: cannot be read: {error.strerror or error}; check the disk, then run again"
        ) from error


def read(manifest: Path) -> Any:  # noqa: ANN401 - JSON is what it is
    """Return what a manifest says; of an earlier version, or not a stage's, it has no seal.

    Raises:
        NoManifestError: it is no file, no JSON, or its seal is broken.
        OSError: it cannot be read.
    """
    if manifest.exists() and not manifest.is_file():  # to read a device might never end
        raise NoManifestError(manifest, "not a manifest: no file; move it away, then run again")
    written = manifest.read_bytes()
    try:
        content = json.loads(written)
    except ValueError as error:
        raise NoManifestError(
            manifest, "not a manifest: no JSON; move it away, then run again"
        ) from error
    if isinstance(content, dict) and SEAL in content:
        plain = {key: value for key, value in content.items() if key != SEAL}
        # To the byte: JSON has several ways of saying the same
        if content[SEAL] != _seal(plain) or _bytes(content) != written:
            raise NoManifestError(
                manifest,
                "not the manifest that its stage wrote: its seal is broken; run poshgrid verify "
                "--delete on the results, then run again",
            )
    return content


@functools.lru_cache(maxsize=4096)
def recorded(manifest: Path, _: tuple[int, ...]) -> Recorded:
    """Read a manifest, once for as long as it stays the same.

    Args:
        manifest: the file.
        _: its :func:`state`.

    Raises:
        NoManifestError: it is none.
        OSError: it cannot be read.
    """
    content = read(manifest)
    try:
        command = content.get("command") or []
        outputs = dict(content.get("outputs") or {})
        inputs = dict(content.get("inputs") or {})
        editable = tuple(content.get("editable") or ())
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
    path, cwd = (str(content.get(name) or "") for name in ("path", "cwd"))
    return Recorded(outputs, stage, inputs, editable, path, cwd)


def _inside(name: str) -> bool:
    """Say whether a name is of a file in the manifest's folder, or below."""
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts


def _digest(path: Path) -> str:
    return _sha256(path, state(path))


@functools.lru_cache(maxsize=65536)
def _sha256(path: Path, _: tuple[int, ...]) -> str:
    """Digest a file once for as long as it stays the same."""
    return sha256(path)


def state(path: Path) -> tuple[int, ...]:
    """Return what changes when a file is written or replaced."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns, status.st_ino


def sha256(path: str | os.PathLike[str]) -> str:
    """Return the hexadecimal SHA-256 digest of a file's bytes."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
