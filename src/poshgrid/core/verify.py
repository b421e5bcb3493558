"""Check the manifests of a results folder: which files are not as their stages wrote them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from poshgrid.core import verification
from poshgrid.core.errors import PoshgridError
from poshgrid.core.verification import Manifest, sha256

Kind = Literal["missing", "changed", "outdated", "broken", "moved", "foreign"]
DELETED: tuple[Kind, ...] = ("missing", "changed", "outdated", "broken", "moved")
"""Faults whose files are deleted. A foreign file may belong to a person."""
NO_RESULTS = ("arguments", "checkpoints", "logs")
"""Folders of a results folder that hold no results of stages."""


class Fault(NamedTuple):
    """A file that is not as its stage wrote it.

    Attributes:
        path: the file, or a manifest.
        manifest: the manifest that lists it, or the same one.
        kind: for a file: it is missing, or its bytes have changed; for a manifest: an input of its
            stage has been rewritten since or is gone, its JSON is broken, it was written elsewhere
            in the results, or poshgrid did not write it.
        what: the same in words.
    """

    path: Path
    manifest: Path
    kind: Kind
    what: str

    def line(self) -> str:
        """Return the message about the file."""
        owner = "" if self.path == self.manifest else f" ({self.manifest.name})"
        return f"{self.path}: {self.what}{owner}"


def faults(results: Path) -> Iterator[Fault]:
    """Yield the files of a results folder that are missing or not as their stages wrote them.

    Missing inputs from outside the results are not faults.

    Raises:
        PoshgridError: the folder does not exist, or has no manifest.
        OSError: a file cannot be read.
    """
    if not results.is_dir():
        raise PoshgridError(
            f"{results}: no such folder; give the results folder of a configuration"
        )
    paths = sorted(results.rglob(verification.MANIFEST))
    manifests = [path for path in paths if _is_result(path, results)]
    if not manifests:
        raise PoshgridError(
            f"{results}: no manifest in it or below; give the results folder of a configuration"
        )
    for manifest in manifests:
        yield from _of_manifest(manifest, results)


def _is_result(path: Path, results: Path) -> bool:
    """Return whether a manifest is of a stage's results."""
    parts = path.relative_to(results).parts
    return parts[0] not in NO_RESULTS and not any(part.startswith(".") for part in parts)


def _of_manifest(manifest: Path, results: Path) -> Iterator[Fault]:
    """Yield what is wrong with a manifest, or with the files that it lists."""
    try:
        known = verification.parsed(manifest, verification.state(manifest))
    except verification.NoManifestError as problem:
        yield Fault(manifest, manifest, "foreign" if problem.foreign else "broken", problem.what)
        return
    except FileNotFoundError:
        return  # its job has started again
    below = manifest.absolute().relative_to(results.absolute()).as_posix()
    if known.path and not f"/{known.path}".endswith(f"/{below}"):
        what = f"not the manifest that its stage wrote here: it is of {known.path}"
        yield Fault(manifest, manifest, "moved", what)
        return
    for name, digest in sorted(known.outputs.items()):
        path = manifest.parent / name
        if verification.nearest(path) != manifest:
            continue  # written by another stage, which has its own manifest
        if not path.is_file():
            yield Fault(path, manifest, "missing", "is gone")
        elif sha256(path) != digest:
            yield Fault(path, manifest, "changed", known.changed())
    if other := outdated(manifest, known):
        yield Fault(manifest, manifest, "outdated", f"made of another {other}")
    elif gone := _gone(manifest, known, results):
        yield Fault(manifest, manifest, "outdated", f"made of {gone}, which is gone")


def outdated(manifest: Path, known: Manifest) -> str | None:
    """Return an input of a stage that another stage has rewritten since, or None."""
    for name, digest in sorted(known.inputs.items()):
        path = verification.located(manifest, name)
        with suppress(verification.NoManifestError, OSError):  # reported for that manifest
            if verification.written(path) not in (None, digest):
                return str(path)
    return None


def _gone(manifest: Path, known: Manifest, results: Path) -> Path | None:
    """Return an input of a stage that was in the results and is there no more, or None.

    Snakemake does not miss a file if all that is made of it is there.
    """
    home = os.path.abspath(results)  # noqa: PTH100 - links stay
    inputs = (verification.located(manifest.absolute(), name) for name in sorted(known.inputs))
    return next((path for path in inputs if path.is_relative_to(home) and not path.exists()), None)


def delete(walked: Iterable[Fault]) -> list[Fault]:
    """Delete faulty files and their manifests, so that Snakemake runs their jobs again.

    Every rule declares its manifest, not every file.

    Args:
        walked: faults from :func:`faults`; only those in :data:`DELETED` are deleted.

    Returns:
        The faults whose files were deleted.

    Raises:
        OSError: a file cannot be deleted.
    """
    deleted = [fault for fault in walked if fault.kind in DELETED]
    for fault in deleted:
        fault.path.unlink(missing_ok=True)
        fault.manifest.unlink(missing_ok=True)
    return deleted
