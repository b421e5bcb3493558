"""Files and folders that are whole and on the disk before they get their names."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from poshgrid import files
from poshgrid.files import aside, cannot_write, clear, sync
from poshgrid.files import system_reason as reason
from poshgrid.verification import sha256

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["aside", "cannot_write", "clear", "discard", "placed", "reason", "write_tensors",
           "write_text"]  # fmt: skip


def placed(final: Path) -> AbstractContextManager[Path]:
    """Return a context with a hidden path beside ``final``; see :func:`poshgrid.files.atomic`."""
    return files.atomic(final, lasting=True)


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


def discard(folder: Path) -> None:
    """Remove a folder; nobody finds half of it under its name."""
    with suppress(OSError):
        folder.rename(aside(folder))
    clear(aside(folder))
