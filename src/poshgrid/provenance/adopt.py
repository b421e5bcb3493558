"""Early cutoff: a costly stage takes over its last outputs if nothing that decides them changed.

Snakemake runs a job again whenever a job before it runs, even if that job wrote the same bytes. It
also deletes the outputs of a job whose end it did not see. So stages that are ``costly`` keep their
last outputs, manifest included, as hard links in a hidden folder beside them, which no rule
declares. If the stage starts again with the same spec, code and content of its inputs, it checks
the digests of what was kept and links it back. That takes seconds.

Only the last outputs are kept, so a link costs no disk space while they are in place. Where a file
system has no hard links, nothing is kept. Two jobs that make the same output run one after the
other, and the second takes over what the first made.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from poshgrid import logs, verification
from poshgrid.errors import PoshgridError
from poshgrid.files import atomic, clear, discard, sync
from poshgrid.provenance import lock

_LAST = "last"
_MANIFEST = "manifest"  # no suffix: it must not be found as a manifest of results
_OUTPUTS = "outputs"

log = logs.get(__name__)


def folder_of(manifest: Path) -> Path:
    """Return the hidden folder in which a stage's last outputs are kept.

    It lies outside the folder of the outputs, whose files the next stage reads.
    """
    outputs = manifest.parent
    if manifest.name != verification.MANIFEST:
        outputs = outputs / manifest.name.removesuffix(verification.SUFFIX)
    return outputs.absolute().with_name(f".{outputs.name}.finished")


@contextmanager
def held(manifest: Path) -> Iterator[Path]:
    """Yield the folder of a stage's last outputs, once no other job makes them.

    Args:
        manifest: of the stage; it need not exist.

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
    """Keep what a stage has written. A failure is a warning: the outputs themselves are safe.

    Args:
        folder: what :func:`held` yields.
        manifest: just written.
    """
    outputs = verification.recorded(manifest, verification.state(manifest)).outputs
    try:
        clear(*folder.glob(f".{_LAST}.*"))  # of killed jobs
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
    """Link kept outputs back if they are what a stage would make; otherwise drop them.

    Args:
        folder: what :func:`held` yields.
        manifest: where the stage's manifest goes.
        spec: the slice of the configuration.
        code: fingerprint of the code.
        inputs: file -> digest.

    Returns:
        Whether all outputs are in their places.

    Raises:
        PoshgridError: an output cannot be written.
    """
    last = folder / _LAST
    if not last.is_dir():
        return False
    try:
        content = verification.read(last / _MANIFEST)
        outputs: dict[str, str] = content["outputs"]
        before = verification.from_folder(content["inputs"], content["path"], content["cwd"])
        now = verification.from_folder(inputs, str(manifest.absolute()), str(Path.cwd()))
        read = {name: verification.located(manifest, name) for name in before.keys() - now.keys()}
        now |= {
            name: verification.sha256(path) for name, path in read.items() if path.is_file()
        }  # what the stage read besides
        same = {
            "manifest": verification.SEAL in content,
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
    manifest.unlink(missing_ok=True)  # until everything that it lists is there
    for name in sorted(outputs):
        _put(last / _OUTPUTS / name, manifest.parent / name)
    _put(last / _MANIFEST, manifest)
    log.info(
        "%s: taken over from %s on %s: same spec, code and inputs",
        manifest, content["started"], content["host"],
    )  # fmt: skip
    return True


def _put(path: Path, to: Path) -> None:
    """Link a kept file to its place, with the time of now: Snakemake compares times."""
    with atomic(to, lasting=True) as temporary:
        os.link(path, temporary)
        os.utime(temporary)
