"""The manifest of every result: what made it, from what, where, and at what cost."""

from __future__ import annotations

import importlib.metadata
import platform
import resource
import socket
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from poshgrid.core import verification
from poshgrid.core.files import cannot_write, sync, write_json

PACKAGES = (
    "poshgrid", "snakemake", "torch", "transformers", "tokenizers", "stanza", "spacy", "polars",
    "bambi", "pymc", "nutpie", "arviz", "numpy", "scipy", "pulp",
)  # fmt: skip


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
