"""Finished outputs are kept until Snakemake knows that their job has ended, and taken over.

Snakemake deletes the outputs of a job whose end it has not seen: it was killed, the job ran on and
ended well, and the next start begins it anew. A training of days would be lost. So a stage that is
worth it links what it has made, manifest included, into ``finished/``, which no rule declares. The
same stage, begun anew with the same slice of the configuration, code and inputs, holds that to its
digests and puts it in place. At the end of a run the workflow drops what Snakemake has a record of.

A link takes no space; where a file system has none, files are copied. Of two jobs that make the
same output one waits, and takes over what the other has made.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from poshgrid import logs, verification
from poshgrid.errors import PoshgridError
from poshgrid.files import atomic, sync
from poshgrid.provenance import durable, index, lock
from poshgrid.verification import sha256

FOLDER = "finished"
_WHOLE = "whole"  # what is kept; what is being kept has a hidden name
_MANIFEST = "manifest"  # without its suffix: nobody takes it for a manifest of results
_OUTPUTS = "outputs"

log = logs.get(__name__)


@contextmanager
def held(manifest: Path) -> Iterator[Path | None]:
    """Hold the place where a stage's finished outputs are kept, once no other job makes them.

    Args:
        manifest: of the stage; it need not exist.

    Yields:
        The place; none: the manifest lies in no results folder with an index.

    Raises:
        PoshgridError: the place cannot be written.
    """
    results = index.root(manifest)
    if results is None:
        yield None
        return
    place = _place(results, manifest)
    with lock.held(place, "making this"):
        try:
            yield place
        finally:
            if not (place / _WHOLE).is_dir():
                durable.discard(place)


def keep(place: Path, manifest: Path) -> None:
    """Keep what a stage has written; that it cannot be is a warning, as nothing is lost yet.

    Args:
        place: what :func:`held` yields.
        manifest: just written.
    """
    outputs = verification.recorded(manifest, verification.state(manifest)).outputs
    files = {_MANIFEST: manifest}
    files |= {f"{_OUTPUTS}/{name}": manifest.parent / name for name in outputs}
    try:
        durable.clear(*place.glob(f".{_WHOLE}.*"))
        with durable.placed(place / _WHOLE) as temporary:
            temporary.mkdir()
            for name, path in sorted(files.items()):
                _link(path, temporary / name)
            for folder, *_ in os.walk(temporary):
                sync(Path(folder))
        sync(place.parent)
    except (PoshgridError, OSError) as error:
        log.warning("%s: not kept: %s", manifest, error)


def take(place: Path, manifest: Path, *, spec: object, code: str, inputs: dict[str, str]) -> bool:
    """Put kept outputs in their place if they are what a stage is asked for; else drop them.

    Args:
        place: what :func:`held` yields.
        manifest: where it goes.
        spec: the slice of the configuration.
        code: fingerprint of the code.
        inputs: file -> digest.

    Returns:
        Whether all is in its place.

    Raises:
        PoshgridError: the place cannot be written.
    """
    kept = place / _WHOLE
    if not kept.is_dir():
        return False
    try:
        content = verification.read(kept / _MANIFEST)
        reason = _unlike(content, {"spec": spec, "code": code, "inputs": inputs})
        outputs: dict[str, str] = {} if reason else content["outputs"]
        for name, digest in sorted(outputs.items()):
            if sha256(kept / _OUTPUTS / name) != digest:
                reason = f"{name} is not what was written"
    except (PoshgridError, OSError, KeyError) as error:
        reason = str(error)
    if reason:
        log.info("%s: what was kept of it is not used: %s", manifest, reason)
        durable.discard(kept)
        return False
    index.leave(manifest)
    manifest.unlink(missing_ok=True)  # until all that it lists is there
    for name in sorted(outputs):
        _put(kept / _OUTPUTS / name, manifest.parent / name)
    _put(kept / _MANIFEST, manifest)
    index.enter(manifest)
    log.info(
        "%s: made before (%s, on %s) and taken over; nothing is made again",
        manifest, content["started"], content["host"],
    )  # fmt: skip
    return True


def recorded(dag: Any) -> list[str]:  # noqa: ANN401 - Snakemake's
    """Return the outputs of the jobs that Snakemake need not run again."""
    jobs = (job for job in dag.jobs if dag.noneedrun_finished(job))
    return [str(path) for job in jobs for path in job.output]


def forget(results: str | Path, outputs: Iterable[str | Path]) -> None:
    """Drop what is kept of jobs whose end Snakemake has recorded.

    Args:
        results: the results folder.
        outputs: of those jobs, their manifests among them.
    """
    top = Path(results).absolute()
    if not (top / FOLDER).is_dir():
        return
    for path in map(Path, outputs):
        place = _place(top, path) if verification.is_manifest(path) else None
        if place is None or not place.is_dir():
            continue
        with lock.at_once(place) as refused:
            if not refused:  # else a job of another workflow is at it
                durable.discard(place)


def _place(results: Path, manifest: Path) -> Path:
    name = manifest.absolute().relative_to(results).as_posix()
    return results / FOLDER / hashlib.sha256(name.encode()).hexdigest()[:16]


def _unlike(content: object, asked: dict[str, object]) -> str:
    """Return what a manifest says otherwise than a stage is asked for; "": nothing."""
    if not isinstance(content, dict) or verification.SEAL not in content:
        return "no manifest"
    other = [name for name, value in asked.items() if content.get(name) != value]
    return f"another {', '.join(other)}" if other else ""


def _link(path: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(path, to)
    except OSError:  # a file system without links, or one that has too many of this file
        shutil.copyfile(path, to)
        sync(to)


def _put(path: Path, to: Path) -> None:
    """Put a kept file in its place, as new: Snakemake compares times."""
    with atomic(to, lasting=True) as temporary:
        _link(path, temporary)
        os.utime(temporary)
