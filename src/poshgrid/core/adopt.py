"""Early cutoff: a costly stage reuses its last outputs if nothing that determines them has changed.

Snakemake reruns a job whenever an earlier job reruns, even if that job wrote the same bytes. It
also deletes the outputs of a job whose end it did not see. Stages that are ``costly`` therefore
keep their last outputs, including the manifest, as hard links in a hidden folder next to them,
which no rule declares. If the stage starts again with the same spec, code and contents of its
inputs, it checks the digests of the kept files and links them back. That takes seconds.

Only the last outputs are kept, so the links need no disk space while the outputs exist. On file
systems without hard links nothing is kept. Two jobs that make the same output run one after the
other, and the second reuses the outputs of the first.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from poshgrid.core import lock, logs, verification
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import atomic, clear, discard, sync

_LAST = "last"
_MANIFEST = "manifest"  # no suffix, so that it is not taken for a manifest of results
_OUTPUTS = "outputs"

log = logs.get(__name__)


def folder_of(manifest: Path) -> Path:
    """Return the hidden folder in which a stage's last outputs are kept.

    It is outside the folder of the outputs, whose files the next stage reads.
    """
    outputs = manifest.parent
    return outputs.absolute().with_name(f".{outputs.name}.finished")


@contextmanager
def held(manifest: Path) -> Iterator[Path]:
    """Yield the folder of a stage's last outputs; wait while another job makes the same output.

    Args:
        manifest: manifest of the stage; it need not exist.

    Raises:
        PoshgridError: the folder cannot be written.
    """
    folder = folder_of(manifest)
    with lock.held(folder, "making this"):
        try:
            yield folder
        finally:
            if not (folder / _LAST).is_dir():
                discard(folder)


def keep(folder: Path, manifest: Path) -> None:
    """Keep the outputs of a stage. If that fails, only warn: the outputs themselves are safe.

    Args:
        folder: folder from :func:`held`.
        manifest: the stage's new manifest.
    """
    outputs = verification.parsed(manifest, verification.state(manifest)).outputs
    try:
        clear(*folder.glob(f".{_LAST}.*"))  # leftovers of killed jobs
        with atomic(folder / _LAST, lasting=True) as temporary:
            temporary.mkdir()
            os.link(manifest, temporary / _MANIFEST)
            for name in sorted(outputs):
                path = temporary / _OUTPUTS / name
                path.parent.mkdir(parents=True, exist_ok=True)
                os.link(manifest.parent / name, path)
            for name, *_ in os.walk(temporary):
                sync(Path(name))
        sync(folder.parent)
    except (PoshgridError, OSError) as error:
        log.warning("%s: not kept: %s", manifest, error)


def take(
    folder: Path, manifest: Path, *, spec: object, code: str, inputs: Mapping[str, str]
) -> bool:
    """Link kept outputs back if the stage would make the same; otherwise delete them.

    Args:
        folder: folder from :func:`held`.
        manifest: path of the stage's manifest.
        spec: the slice of the configuration.
        code: fingerprint of the code.
        inputs: file -> digest.

    Returns:
        Whether all outputs have been linked back.

    Raises:
        PoshgridError: an output cannot be written.
    """
    last = folder / _LAST
    if not last.is_dir():
        return False
    try:
        content = verification.read(last / _MANIFEST)
        outputs: dict[str, str] = content["outputs"]
        before: dict[str, str] = content["inputs"]
        now = {verification.relative(manifest, path): digest for path, digest in inputs.items()}
        read = {name: verification.located(manifest, name) for name in before.keys() - now.keys()}
        now |= {
            name: verification.sha256(path) for name, path in read.items() if path.is_file()
        }  # further files that the stage read
        same = {
            "spec": content["spec"] == spec,
            "code": content["code"] == code,
            "inputs": verification.same_inputs(before, now),
        }
        changed = [name for name in same if not same[name]]
        changed += [
            name
            for name, digest in sorted(outputs.items() if not changed else ())
            if verification.sha256(last / _OUTPUTS / name) != digest
        ]
    except (PoshgridError, OSError, KeyError, TypeError) as error:
        changed = [str(error)]
    if changed:
        log.info("%s: its last outputs are not used: changed: %s", manifest, ", ".join(changed))
        discard(last)
        return False
    manifest.unlink(missing_ok=True)  # written last, when all files in it exist
    for name in sorted(outputs):
        _put(last / _OUTPUTS / name, manifest.parent / name)
    _put(last / _MANIFEST, manifest)
    log.info(
        "%s: reused from %s on %s: same spec, code and inputs",
        manifest, content["started"], content["host"],
    )  # fmt: skip
    return True


def _put(path: Path, to: Path) -> None:
    """Link a kept file to its path, with the present time, because Snakemake compares times."""
    with atomic(to, lasting=True) as temporary:
        os.link(path, temporary)
        os.utime(temporary)
