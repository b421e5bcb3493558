"""Resumable checkpoints: safetensors and JSON, renamed into place, the last two kept.

They lie in a folder that no rule declares (Snakemake deletes the declared outputs of a failed job),
one folder for each run, named by the fingerprint of all that decides its weights. A lock keeps a
second job, e.g. one that outlived a killed workflow, from training the same run at the same time.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poshgrid import logs
from poshgrid.errors import PoshgridError
from poshgrid.files import atomic, sha256, write_json

if TYPE_CHECKING:
    from torch import Tensor

log = logs.get(__name__)

KEPT = 2
STATE = "state.json"


class Checkpoints:
    """The checkpoints of one run.

    Args:
        folder: of all runs.
        fingerprint: of this run.
    """

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self.fingerprint = fingerprint
        self.folder = Path(folder) / fingerprint

    def save(self, step: int, tensors: dict[str, dict[str, Tensor]], state: dict[str, Any]) -> None:
        """Write the checkpoint of a step and drop all but the newest :data:`KEPT`.

        Args:
            step: steps taken so far.
            tensors: file stem -> name -> tensor.
            state: what JSON can hold; floats come back exactly.

        Raises:
            PoshgridError: the folder cannot be written.
        """
        from safetensors.torch import save_file

        final = self.folder / f"step-{step:09d}"
        temporary = self.folder / f".{final.name}.{os.getpid()}.tmp"
        try:
            shutil.rmtree(temporary, ignore_errors=True)
            temporary.mkdir(parents=True)
            digests = {}
            for stem, named in sorted(tensors.items()):
                path = temporary / f"{stem}.safetensors"
                save_file({name: t.detach().cpu().contiguous() for name, t in named.items()}, path)
                digests[path.name] = sha256(path)
            record = {
                "fingerprint": self.fingerprint, "step": step, "files": digests, "state": state
            }  # fmt: skip
            write_json(temporary / STATE, record)
            shutil.rmtree(final, ignore_errors=True)
            temporary.rename(final)
        except OSError as error:
            shutil.rmtree(temporary, ignore_errors=True)
            raise PoshgridError(
                f"{final}: cannot write: {error.strerror or error}; "
                "check the folder's permissions and the space left on the disk"
            ) from error
        for old in self._folders()[KEPT:]:
            shutil.rmtree(old, ignore_errors=True)

    def keep(self, step: int, weights: dict[str, Tensor]) -> None:
        """Put the weights of a step aside until the run is finished.

        Raises:
            PoshgridError: the folder cannot be written.
        """
        from safetensors.torch import save_file

        with atomic(self.folder / f"kept-{step:09d}.safetensors") as temporary:
            save_file({name: t.detach().cpu().contiguous() for name, t in weights.items()},
                      temporary)  # fmt: skip

    def kept(self, last: int) -> dict[int, dict[str, Tensor]]:
        """Return the weights put aside up to a step: step -> name -> tensor."""
        from safetensors.torch import load_file

        steps = {int(path.stem.partition("-")[2]): path
                 for path in sorted(self.folder.glob("kept-*.safetensors"))}  # fmt: skip
        return {step: load_file(path) for step, path in steps.items() if step <= last}

    def newest(self) -> tuple[dict[str, dict[str, Tensor]], dict[str, Any]] | None:
        """Return tensors and state of the newest sound checkpoint, or none.

        One that is damaged, or belongs to another run, is passed over with a warning.
        """
        for folder in self._folders():
            try:
                return self._read(folder)
            except _UnusableError as reason:
                log.warning("%s: not used: %s", folder, reason)
        return None

    def remove(self) -> None:
        """Remove the folder: the run is finished."""
        shutil.rmtree(self.folder, ignore_errors=True)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold this run's lock.

        Raises:
            PoshgridError: another job holds it, or the folder cannot be written.
        """
        path = self.folder / "lock"
        while True:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                stream = path.open("a+", encoding="utf-8")
            except FileNotFoundError:
                continue  # the job that held it has just removed the folder
            except OSError as error:
                raise PoshgridError(
                    f"{self.folder}: cannot write: {error.strerror or error}; "
                    "check the folder's permissions and the space left on the disk"
                ) from error
            with stream:
                try:
                    fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    stream.seek(0)
                    holder = stream.read().strip() or "another process"
                    raise PoshgridError(
                        f"{path}: {holder} is training this run; wait for it or end it"
                    ) from None
                except OSError as error:  # some network file systems have no locks
                    log.warning("%s: no lock: %s", path, error.strerror or error)
                if not _same_file(path, stream.fileno()):
                    continue  # removed between opening and locking
                stream.truncate(0)
                stream.write(f"process {os.getpid()} on {socket.gethostname()}\n")
                stream.flush()
                yield
                return

    def _folders(self) -> list[Path]:
        """Return the finished checkpoints, newest first."""
        return sorted(self.folder.glob("step-*"), reverse=True)

    def _read(self, folder: Path) -> tuple[dict[str, dict[str, Tensor]], dict[str, Any]]:
        from safetensors.torch import load_file

        try:
            record = json.loads((folder / STATE).read_text(encoding="utf-8"))
            fingerprint, files, state = record["fingerprint"], record["files"], record["state"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise _UnusableError(f"{STATE} cannot be read ({error})") from error
        if fingerprint != self.fingerprint:
            raise _UnusableError(f"it belongs to run {fingerprint}, not {self.fingerprint}")
        for name, expected in files.items():
            path = folder / name
            if not path.is_file():
                raise _UnusableError(f"{name} is missing")
            if sha256(path) != expected:
                raise _UnusableError(f"{name} is damaged: its digest is not the one recorded")
        return {Path(name).stem: load_file(folder / name) for name in files}, state


class _UnusableError(Exception):
    """Why a checkpoint is not used."""


def _same_file(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
