"""Whether files still hold the bytes that a stage wrote: truncated, flipped and edited ones do not.

A manifest records the SHA-256 digest of every file that its stage wrote (``outputs``). Stages hold
what they read to it, and ``poshgrid verify`` all of a results folder.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poshgrid.errors import PoshgridError
from poshgrid.files import sha256

MANIFEST = "manifest.json"
SUFFIX = f".{MANIFEST}"
DEPTH = 3
"""Folders above a file in which its manifest may lie: a model's checkpoints are the deepest."""


@dataclass(frozen=True)
class Damage:
    """A file that is not what its stage wrote.

    Attributes:
        path: the file.
        manifest: the manifest that lists it.
        stage: the command that wrote it.
        missing: whether it is gone; otherwise its bytes differ.
    """

    path: Path
    manifest: Path
    stage: str
    missing: bool

    def line(self) -> str:
        """Return what is wrong in words."""
        what = "is gone" if self.missing else f"not the bytes that {self.stage} wrote"
        return f"{self.path}: {what} ({self.manifest.name})"


def outputs(manifest: Path, leave_out: Iterable[str] = ()) -> dict[str, str]:
    """Return name -> digest of the files that a stage has written beside its manifest.

    ``manifest.json`` lists what lies in its folder and in folders below, ``{name}.manifest.json``
    the files ``{name}.*`` beside it; what has a nearer manifest belongs to that one.

    Args:
        manifest: the manifest's path; it need not exist yet.
        leave_out: patterns of names that people may edit.
    """
    return {
        path.relative_to(manifest.parent).as_posix(): sha256(path)
        for path in _written(manifest)
        if not any(path.match(pattern) for pattern in leave_out)
    }


def check(paths: Iterable[str | os.PathLike[str]]) -> dict[str, str]:
    """Hold files to their manifests; return path -> digest of those that are there.

    Files without a manifest, or whose manifest lists no outputs, are digested and pass: those are
    the sources, models given by path, and results of earlier versions.

    Raises:
        PoshgridError: a file does not hold the bytes that its stage wrote.
    """
    found = {}
    for path in sorted(map(Path, paths)):
        if not path.is_file():
            continue
        digest = found[str(path)] = _digest(path)
        owner = _owner(path)
        if owner is None:
            continue
        name = path.relative_to(owner.parent).as_posix()
        recorded = _recorded(owner)
        if recorded["outputs"].get(name, digest) != digest:
            damage = Damage(path, owner, recorded["stage"], missing=False)
            raise PoshgridError(
                f"{damage.line()}; run poshgrid verify --delete on the results, then run again"
            )
    return found


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


def damaged(results: Path) -> Iterator[Damage]:
    """Yield the files of a results folder that are gone or are not what their stages wrote.

    Raises:
        PoshgridError: there is no such folder.
    """
    if not results.is_dir():
        raise PoshgridError(
            f"{results}: no such folder; give the results folder of a configuration"
        )
    for manifest in sorted([*results.rglob(MANIFEST), *results.rglob(f"*{SUFFIX}")]):
        try:
            recorded = _recorded(manifest)
        except PoshgridError:
            yield Damage(manifest, manifest, "its stage", missing=False)
            continue
        for name, digest in sorted(recorded["outputs"].items()):
            path = manifest.parent / name
            if _owner(path) != manifest:
                continue  # written while this stage ran, by one that has its own manifest
            if not path.is_file():
                yield Damage(path, manifest, recorded["stage"], missing=True)
            elif sha256(path) != digest:
                yield Damage(path, manifest, recorded["stage"], missing=False)


def delete(found: Iterable[Damage]) -> None:
    """Delete damaged files and their manifests: Snakemake runs the jobs that wrote them again.

    Every rule declares its manifest, not every file; a job runs again where either is missing.

    Raises:
        PoshgridError: a file cannot be deleted.
    """
    for damage in list(found):  # all are found before the first is deleted
        for path in (damage.path, damage.manifest):
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise PoshgridError(
                    f"{path}: cannot delete: {error.strerror}; check the folder's permissions"
                ) from error


def _written(manifest: Path) -> Iterator[Path]:
    """Yield the files that belong to a manifest; hidden ones are temporary."""
    folder = manifest.parent
    if manifest.name == MANIFEST:
        candidates = _below(folder)
    else:
        stem = manifest.name.removesuffix(SUFFIX)
        candidates = sorted(path for path in folder.glob("*") if path.name.startswith(f"{stem}."))
    for path in candidates:
        if path.is_file() and not _is_manifest(path) and _nearest(path, manifest) == manifest:
            yield path


def _below(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if not path.is_dir():
            yield path
        elif not (path / MANIFEST).exists():
            yield from _below(path)


def _is_manifest(path: Path) -> bool:
    return path.name == MANIFEST or path.name.endswith(SUFFIX)


def _nearest(path: Path, coming: Path | None = None) -> Path | None:
    """Return the manifest that a file belongs to: the one beside it, or one of a folder above.

    Args:
        path: the file.
        coming: a manifest that is about to be written.
    """
    if _is_manifest(path):
        return None
    parts = path.name.split(".")
    beside = [path.with_name(".".join(parts[:n]) + SUFFIX) for n in range(len(parts) - 1, 0, -1)]
    above = [folder / MANIFEST for folder in list(path.parents)[:DEPTH]]
    return next((each for each in (*beside, *above) if each == coming or each.is_file()), None)


def _owner(path: Path) -> Path | None:
    return _nearest(path)


def _recorded(manifest: Path) -> dict[str, Any]:
    return _read(manifest, _state(manifest))


@functools.lru_cache(maxsize=4096)
def _read(manifest: Path, _: tuple[int, ...]) -> dict[str, Any]:
    """Read a manifest's outputs and stage."""
    try:
        content = json.loads(manifest.read_text(encoding="utf-8"))
        listed, command = content.get("outputs") or {}, content.get("command") or []
        stage = str(command[1]) if len(command) > 1 else "its stage"
        return {"outputs": dict(listed), "stage": stage}
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise PoshgridError(f"{manifest}: not a manifest; delete it and run again") from error


def _digest(path: Path) -> str:
    return _sha256(path, _state(path))


@functools.lru_cache(maxsize=65536)
def _sha256(path: Path, _: tuple[int, ...]) -> str:
    """Digest a file once for as long as it stays the same."""
    return sha256(path)


def _state(path: Path) -> tuple[int, ...]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns, found.st_ino
