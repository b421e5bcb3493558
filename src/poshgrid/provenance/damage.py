"""Find the files of a results folder that are not what their stages wrote, and delete them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from poshgrid import verification
from poshgrid.errors import PoshgridError
from poshgrid.provenance import index
from poshgrid.verification import MANIFEST, SUFFIX, Recorded, sha256

Fault = Literal["missing", "changed", "outdated", "broken", "foreign", "unreadable"]
DELETED: tuple[Fault, ...] = ("missing", "changed", "outdated", "broken")
"""What is deleted. What cannot be read may be whole; what is foreign is somebody's."""


class Damage(NamedTuple):
    """A file that is not what its stage wrote.

    Attributes:
        path: the file, or a manifest.
        manifest: the manifest that lists it, or the same one.
        fault: of a file, or of a manifest by the index: it is gone, or its bytes differ; of a
            manifest: its stage read what is not there any more, it is not JSON, its seal is
            broken, or poshgrid did not write it; of either: the system cannot read it.
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

    A manifest is damaged, too, if an input of its stage has been written anew since, by manifest:
    what lies beside it was made of something else. Inputs outside the results may come and go.

    Raises:
        PoshgridError: there is no such folder, it has no manifest, or its index is broken.
    """
    if not results.is_dir():
        raise PoshgridError(
            f"{results}: no such folder; give the results folder of a configuration"
        )
    expected = dict(index.entries(results))
    manifests = sorted({*_manifests(results), *expected})
    if not manifests:
        raise PoshgridError(
            f"{results}: no manifest in it or below; give the results folder of a configuration"
        )
    for manifest in manifests:
        yield from _damaged(manifest, expected.get(manifest), results)


def unlisted(results: Path) -> list[Path]:
    """Return the manifests that the index of a results folder does not name.

    They are of an earlier version or were made elsewhere, or their entries are gone: nothing tells
    when one of them goes, or is written anew.

    Raises:
        PoshgridError: the index is broken.
    """
    expected = dict(index.entries(results))
    found = []
    for manifest in _manifests(results):
        with suppress(verification.NoManifestError, OSError):
            verification.recorded(manifest, verification.state(manifest))
            found += [] if manifest in expected else [manifest]
    return found


def _manifests(results: Path) -> list[Path]:
    return sorted([*results.rglob(MANIFEST), *results.rglob(f"*{SUFFIX}")])


def _damaged(manifest: Path, digest: str | None, results: Path) -> Iterator[Damage]:
    """Yield what is wrong with a manifest, or with the files that it lists.

    Args:
        manifest: of a stage.
        digest: by the index; none: it is not in it.
        results: the folder that it is in.
    """
    try:
        state = verification.state(manifest)
        recorded = verification.recorded(manifest, state)
        same = digest is None or sha256(manifest) == digest
    except verification.NoManifestError as problem:
        kind: Fault = "foreign" if problem.foreign and digest is None else "broken"
        yield Damage(manifest, manifest, kind, problem.what, state)
        return
    except FileNotFoundError:
        if digest is not None:
            yield Damage(manifest, manifest, "missing", "is gone")
        return  # or its job has begun anew
    except OSError as error:
        yield _unreadable(manifest, manifest, error)
        return
    if not same:
        what = f"{recorded.changed()}: the index has another digest"
        yield Damage(manifest, manifest, "changed", what, state)
        return
    words = {"missing": "is gone", "changed": recorded.changed()}
    for name, expected in sorted(recorded.outputs.items()):
        path = manifest.parent / name
        try:
            fault = _fault(path, manifest, expected)
        except OSError as error:
            yield _unreadable(path, manifest, error)
            continue
        if fault:
            yield Damage(path, manifest, fault, words[fault], state, expected)
    if other := outdated(recorded, results):
        yield Damage(manifest, manifest, "outdated", f"made of another {other}", state)


def outdated(recorded: Recorded, results: Path) -> str | None:
    """Return an input of a stage that has been written anew since, if there is one.

    Args:
        recorded: by its manifest.
        results: the folder that this is in.
    """
    inputs = sorted(recorded.inputs.items())
    return next((name for name, digest in inputs if _rewritten(name, digest, results)), None)


def _rewritten(name: str, digest: str, results: Path) -> bool:
    """Say whether a stage has written an input anew since it was read; damage is no such thing."""
    top = results.absolute()
    places = (folder / name for folder in (top, *top.parents))  # where the command may have run
    with suppress(verification.NoManifestError, OSError):  # told of where that file is looked at
        path = next((each for each in places if each.is_relative_to(top) and each.is_file()), None)
        owner = path and verification.nearest(path)
        if path and owner:
            wrote = verification.recorded(owner, verification.state(owner)).outputs
            return wrote.get(path.relative_to(owner.parent).as_posix(), digest) != digest
    return False


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
        if not same or _state(manifest) != same[0].state:
            continue
        for path in [*(damage.path for damage in same), manifest]:
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise PoshgridError(
                    f"{path}: cannot delete: {error.strerror}; check the folder's permissions"
                ) from error
        index.leave(manifest)
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


def _state(manifest: Path) -> tuple[int, ...] | None:
    """Return a manifest's state: none at all where it is gone; ``None``: it cannot be told."""
    try:
        return verification.state(manifest)
    except FileNotFoundError:
        return ()
    except OSError:
        return None


def _unreadable(path: Path, manifest: Path, error: OSError) -> Damage:
    what = f"cannot be read: {error.strerror or error}; it stays: check the disk"
    return Damage(path, manifest, "unreadable", what)
