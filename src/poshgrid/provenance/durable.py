"""Files and folders that are whole and on the disk before they get their names."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from poshgrid.errors import PoshgridError
from poshgrid.files import sync
from poshgrid.verification import sha256

if TYPE_CHECKING:
    from torch import Tensor

REMEDY = (
    "check the folder's permissions and the space left on the disk, then run the same command "
    "again: it goes on from the last checkpoint"
)


@contextmanager
def placed(final: Path) -> Iterator[Path]:
    """Yield a hidden path beside ``final``, for a file or a folder; put it there if it succeeds.

    What is in its place is there until then, and comes back if the last rename fails.

    Raises:
        PoshgridError: it cannot be written; nothing is left of it.
    """
    from safetensors import SafetensorError  # no OSError, even if the disk is full

    temporary = final.with_name(f".{final.name}.{os.getpid()}.tmp")
    old = aside(final)
    clear(temporary, old)  # of a killed job that had the same number
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        sync(temporary)
        if final.is_dir():  # a folder, unlike a file, is not replaced by a rename
            final.rename(old)
        temporary.rename(final)
        sync(final.parent)
    except (OSError, SafetensorError) as error:
        raise cannot_write(final, error) from error
    finally:
        with suppress(OSError):
            if not final.exists():
                old.rename(final)
        clear(temporary, old)


def write_tensors(path: Path, named: Mapping[str, Tensor]) -> str:
    """Write tensors, have them on the disk, and return the file's digest."""
    from safetensors.torch import save_file

    save_file({name: tensor.detach().cpu().contiguous() for name, tensor in named.items()}, path)
    sync(path)
    return sha256(path)


def write_text(path: Path, text: str) -> None:
    """Write a text and see it onto the disk."""
    path.write_text(text, encoding="utf-8")
    sync(path)


def aside(path: Path) -> Path:
    """Return the hidden name that a folder has while it is removed."""
    return path.with_name(f".{path.name}.{os.getpid()}.old.tmp")


def clear(*paths: Path) -> None:
    """Remove files and folders that may be there."""
    for path in paths:
        with suppress(OSError):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()


def discard(folder: Path) -> None:
    """Remove a folder; nobody finds half of it under its name."""
    with suppress(OSError):
        folder.rename(aside(folder))
    clear(aside(folder))


def cannot_write(path: Path, error: Exception) -> PoshgridError:
    """Return the error that says why a path cannot be written, and what to do."""
    return PoshgridError(f"{path}: cannot write: {reason(error)}; {REMEDY}")


def reason(error: Exception) -> str:
    """Return what the system says; safetensors wraps it: ``... (os error 28)``."""
    wrapped = re.search(r"\(os error (\d+)\)", str(error))
    if wrapped:
        return os.strerror(int(wrapped[1]))
    return getattr(error, "strerror", None) or str(error).partition("\n")[0]
