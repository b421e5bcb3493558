"""The index of a results folder: which manifests there must be, each with its digest.

A manifest that was deleted leaves no trace of its own, nor does one that was written anew by hand.
``index/`` mirrors the results: a stage that ends well enters its manifest there, a stage that
begins takes its entry away. Each entry is a file, renamed into place, so that any number of jobs of
any number of workflows may end at once, and a killed one leaves no half of it. Its line is
``sha256sum``'s: in the results folder, ``find index -name '*.sha256' -exec cat {} + |
sha256sum --check`` holds all manifests to it.

The workflow makes the folder. A stage that is run by hand finds it above its output; outside
a results folder there is no index.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from poshgrid.errors import PoshgridError
from poshgrid.files import write_text
from poshgrid.verification import nearest, sha256

FOLDER = "index"
NOTE = "README.md"
SUFFIX = ".sha256"
_TEXT = """\
Which manifests there must be in this results folder: a file for each, written when its stage ended.
`poshgrid verify` holds the results to them. Without this folder it misses manifests that are gone.
"""
_LINE = re.compile(r"([0-9a-f]{64})  (.+)\n")


def begin(results: str | Path) -> None:
    """Make the index of a results folder, if it has none.

    Raises:
        PoshgridError: the folder cannot be written.
    """
    note = Path(results, FOLDER, NOTE)
    if not note.exists():
        write_text(note, _TEXT)


def root(path: Path) -> Path | None:
    """Return the results folder that a path lies in, absolute; none: it has no index."""
    parents = path.absolute().parents
    return next((folder for folder in parents if (folder / FOLDER / NOTE).is_file()), None)


def enter(manifest: Path) -> None:
    """Enter a manifest that has just been written.

    Raises:
        PoshgridError: the entry cannot be written.
    """
    entry = _entry(manifest)
    if entry is not None:
        results, path = entry
        name = manifest.absolute().relative_to(results).as_posix()
        write_text(path, f"{sha256(manifest)}  {name}\n", lasting=True)


def leave(manifest: Path) -> None:
    """Take a manifest's entry away: its stage begins anew, or it is to be made again."""
    entry = _entry(manifest)
    if entry is not None:
        with suppress(OSError):  # where the folder cannot be written, the stage says so
            entry[1].unlink()


def hold(paths: Iterable[str | os.PathLike[str]]) -> None:
    """Hold the manifests of files to the index: one that was copied here says what others wrote.

    Raises:
        PoshgridError: the index has another digest of a manifest.
    """
    for manifest in sorted({owner for path in paths if (owner := nearest(Path(path)))}):
        entry = _entry(manifest)
        with suppress(OSError):  # no entry: made elsewhere, or about to be written
            if entry and entry[1].read_text(encoding="utf-8")[:64] != sha256(manifest):
                raise PoshgridError(
                    f"{manifest}: not the manifest that its stage wrote here: the index has "
                    "another digest; run poshgrid verify --delete on the results, then run again"
                )


def entries(results: Path) -> Iterator[tuple[Path, str]]:
    """Yield the manifests that there must be in a folder of results, each with its digest.

    Args:
        results: a results folder or one in it; the paths begin with it.

    Raises:
        PoshgridError: an entry cannot be read, or is none.
    """
    top = root(results / "any")
    if top is None:
        return
    inside = results.absolute().relative_to(top)
    for path in sorted((top / FOLDER / inside).rglob(f"*{SUFFIX}")):
        try:
            line = _LINE.fullmatch(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            continue  # its stage has begun anew
        except (OSError, ValueError) as error:
            raise PoshgridError(f"{path}: cannot be read ({error}); check the disk") from error
        name = path.relative_to(top / FOLDER).as_posix().removesuffix(SUFFIX)
        if line is None or line[2] != name:
            raise PoshgridError(
                f"{path}: not an entry of the index; delete it, then run poshgrid verify again"
            )
        yield results / Path(name).relative_to(inside), line[1]


def _entry(manifest: Path) -> tuple[Path, Path] | None:
    results = root(manifest)
    if results is None:
        return None
    inside = manifest.absolute().relative_to(results)
    return results, results / FOLDER / inside.with_name(inside.name + SUFFIX)
