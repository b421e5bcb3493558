"""Find the files of a results folder that are not what their stages wrote, and delete them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from poshgrid import verification
from poshgrid.errors import PoshgridError
from poshgrid.verification import MANIFEST, SUFFIX, sha256

Fault = Literal["missing", "changed", "broken", "foreign", "unreadable"]
DELETED: tuple[Fault, ...] = ("missing", "changed", "broken")
"""What is deleted. What cannot be read may be whole; what is foreign is somebody's."""


@dataclass(frozen=True)
class Damage:
    """A file that is not what its stage wrote.

    Attributes:
        path: the file, or a manifest.
        manifest: the manifest that lists it, or the same one.
        fault: of a file: it is gone, or its bytes differ; of a manifest: it is no JSON, or JSON
            that no stage wrote; of either: the system cannot read it.
        what: that in words.
        state: of the manifest when it was read.
        digest: of the file, by the manifest.
    """

    path: Path
    manifest: Path
    fault: Fault
    what: str
    state: tuple[int, ...] = ()
    digest: str = ""

    def line(self) -> str:
        """Return what is wrong with which file."""
        beside = "" if self.path == self.manifest else f" ({self.manifest.name})"
        return f"{self.path}: {self.what}{beside}"


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
            state = verification.state(manifest)
            recorded = verification.recorded(manifest, state)
        except verification.NoManifestError as problem:
            fault = "foreign" if problem.foreign else "broken"
            yield Damage(manifest, manifest, fault, problem.what, state)
            continue
        except FileNotFoundError:
            continue  # its job has begun anew
        except OSError as error:
            yield _unreadable(manifest, manifest, error)
            continue
        words = {"missing": "is gone", "changed": recorded.changed()}
        for name, digest in sorted(recorded.outputs.items()):
            path = manifest.parent / name
            try:
                fault = _fault(path, manifest, digest)
            except OSError as error:
                yield _unreadable(path, manifest, error)
                continue
            if fault:
                yield Damage(path, manifest, fault, words[fault], state, digest)


def delete(found: Iterable[Damage]) -> list[Damage]:
    """Delete damaged files and their manifests: Snakemake runs the jobs that wrote them again.

    Every rule declares its manifest, not every file; a job runs again where either is missing.
    What is no longer as it was found stays: a job that writes it anew takes its manifest away
    first.

    Args:
        found: what :func:`damaged` yields; what is not :data:`DELETED` stays.

    Returns:
        What was deleted.

    Raises:
        PoshgridError: a file cannot be deleted.
    """
    # All are found before the first is deleted.
    wanted = [damage for damage in found if damage.fault in DELETED]
    deleted = []
    for manifest, group in itertools.groupby(wanted, key=lambda damage: damage.manifest):
        same = [damage for damage in group if _still(damage)]
        # Last of all: digests take long.
        if not same or not _stays(manifest, same[0].state):
            continue
        for path in [*(damage.path for damage in same), manifest]:
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise PoshgridError(
                    f"{path}: cannot delete: {error.strerror}; check the folder's permissions"
                ) from error
        deleted += same
    return deleted


def _fault(path: Path, manifest: Path, digest: str) -> Literal["missing", "changed"] | None:
    """Return what is wrong with a file that a manifest lists.

    Raises:
        OSError: it cannot be read.
    """
    if verification.nearest(path) != manifest:
        return None  # written while this stage ran, by one that has its own manifest
    if not path.is_file():
        return "missing"
    return "changed" if sha256(path) != digest else None


def _still(damage: Damage) -> bool:
    if damage.path == damage.manifest:
        return True
    try:
        return _fault(damage.path, damage.manifest, damage.digest) == damage.fault
    except OSError:
        return False


def _stays(manifest: Path, state: tuple[int, ...]) -> bool:
    try:
        return verification.state(manifest) == state
    except OSError:
        return False


def _unreadable(path: Path, manifest: Path, error: OSError) -> Damage:
    what = f"cannot be read: {error.strerror or error}; it stays: check the disk"
    return Damage(path, manifest, "unreadable", what)
