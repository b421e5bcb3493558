"""The manifest of every result: what made it, from what, where, and at what cost.

:func:`recorded` writes it; :func:`faults` walks over a results folder and says which files are not
as their stages wrote them.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import resource
import socket
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

from poshgrid.core import verification
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import cannot_write, sync, write_json

PACKAGES = (
    "poshgrid", "snakemake", "torch", "transformers", "tokenizers", "stanza", "spacy", "polars",
    "bambi", "pymc", "nutpie", "arviz", "numpy", "scipy", "pulp",
)  # fmt: skip
Kind = Literal["missing", "changed", "outdated", "broken", "moved", "foreign"]
DELETED: tuple[Kind, ...] = ("missing", "changed", "outdated", "broken", "moved")
"""Faults whose files are deleted. A foreign file may belong to a person."""
NO_RESULTS = ("arguments", "checkpoints", "logs")
"""Folders of a results folder that hold no results of stages."""


@contextmanager
def recorded(
    path: str | Path,
    *,
    spec: object = None,
    code: str = "",
    inputs: Iterable[str | Path] = (),
    editable: Iterable[str] = (),
    reads: Iterable[str] = (),
) -> Iterator[dict[str, Any]]:
    """Time a job and write its manifest if it succeeds.

    The block may add entries to the dictionary that it receives (tokens per second, device,
    counts).

    Args:
        path: the manifest file, e.g. ``.../manifest.json``.
        spec: the slice of the config that the job read.
        code: fingerprint of the code (:func:`poshgrid.core.fingerprint.code`).
        inputs: files whose digests are recorded, together with the results of other stages that the
            block reads; missing files and folders are skipped.
        editable: patterns of files that people edit: their digests are not recorded.
        reads: the job's inputs inside the results (:func:`poshgrid.core.verification.reads`).

    Raises:
        PoshgridError: an input does not have the bytes that its stage wrote, or changed while the
            job ran, or the manifest cannot be written.
    """
    path = Path(path)
    with suppress(OSError):  # if the folder cannot be written, the stage reports it
        path.unlink()  # an earlier manifest does not describe the new files
    digests = verification.check(inputs)
    started, wall, cpu = datetime.now(UTC), time.monotonic(), _cpu()
    extra: dict[str, Any] = {}
    with verification.reading() as read:
        yield extra
    verification.unchanged(digests)
    peak = max(used.ru_maxrss for used in _usage())
    outputs, others = verification.outputs(path, editable)
    _on_disk(path, outputs)
    content = {
        "path": str(path.absolute()),
        "command": sys.argv,
        "spec": spec,
        "code": code,
        "inputs": {
            verification.relative(path, name): digest for name, digest in (read | digests).items()
        },
        "reads": list(reads),
        "outputs": outputs,
        "editable": others,
        "packages": _versions(),
        "python": platform.python_version(),
        "host": socket.gethostname(),
        "started": started.isoformat(timespec="seconds"),
        "wall_seconds": round(time.monotonic() - wall, 3),
        "cpu_seconds": round(_cpu() - cpu, 3),
        "peak_memory_mb": round(peak / 1024, 1),
        **_device(),
        **extra,
    }
    write_json(path, content, lasting=True)


def _usage() -> list[resource.struct_rusage]:
    """Return the resources used by this process and by its finished child processes."""
    return [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]


def _cpu() -> float:
    return sum(used.ru_utime + used.ru_stime for used in _usage())


def _on_disk(manifest: Path, outputs: Iterable[str]) -> None:
    """Force the files that a manifest will list to the disk.

    Raises:
        PoshgridError: the disk cannot be written.
    """
    files = [manifest.parent / name for name in sorted(outputs)]
    path = manifest
    try:
        for path in [*files, *sorted({file.parent for file in files})]:
            sync(path)
    except OSError as error:
        raise cannot_write(path, error) from error


def _device() -> dict[str, str]:
    """Return the device that this process has computed on, and the GPU's name.

    torch is not imported for this: without torch, or before its first tensor on the GPU, no GPU was
    used. A stage may override the entries.
    """
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return {"device": "cpu"}
    return {"device": "cuda", "gpu": torch.cuda.get_device_name()}


def _versions() -> dict[str, str]:
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


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
        elif verification.sha256(path) != digest:
            yield Fault(path, manifest, "changed", known.changed())
    if other := outdated(manifest, known):
        yield Fault(manifest, manifest, "outdated", f"made of another {other}")
    elif gone := _gone(manifest, known, results):
        yield Fault(manifest, manifest, "outdated", f"made of {gone}, which is gone")


def outdated(manifest: Path, known: verification.Manifest) -> str | None:
    """Return an input that has changed since it was used, because its stage ran again; or None."""
    for name, digest in sorted(known.inputs.items()):
        path = verification.located(manifest, name)
        with suppress(verification.NoManifestError, OSError):  # reported for that manifest
            if verification.written(path) not in (None, digest):
                return str(path)
    return None


def _gone(manifest: Path, known: verification.Manifest, results: Path) -> Path | None:
    """Return an input that was in the results folder and no longer exists there, or None.

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
