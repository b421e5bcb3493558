"""Resumable checkpoints: safetensors and JSON, renamed into place, the last two kept.

They hold named tensors of a model and its optimiser, which the functions at the end take out and
put back.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from poshgrid import logs
from poshgrid.errors import PoshgridError
from poshgrid.files import atomic, clear, discard, sync, system_reason
from poshgrid.verification import sha256

if TYPE_CHECKING:
    from transformers import PreTrainedModel

log = logs.get(__name__)

KEPT = 2
STATE = "state.json"


class Checkpoints:
    """The checkpoints of one run, in a folder of its name.

    No rule declares the folder: Snakemake deletes the declared outputs of a failed job.

    A checkpoint gets its name when it is whole and on the disk; only then are older ones dropped.
    What has a hidden name is half-written, or half-removed, and goes with the folder. One job at a
    time makes a model (:func:`poshgrid.provenance.adopt.held`), so the folder has no lock.

    Args:
        folder: of this run.
        fingerprint: of all that decides its weights. Checkpoints of another one are not used.
    """

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self.folder, self.fingerprint = Path(folder), fingerprint
        self._kept: dict[str, str] = {}  # file put aside -> digest

    def part(self, name: str) -> Checkpoints:
        """Return the checkpoints of a part of this run, e.g. its pre-pretraining.

        They lie in the run's folder, and are removed with it.
        """
        return Checkpoints(self.folder / name, f"{self.fingerprint}-{name}")

    def save(self, step: int, tensors: dict[str, dict[str, Tensor]], state: dict[str, Any]) -> None:
        """Write the checkpoint of a step and drop all but the newest :data:`KEPT`.

        Those of later steps are dropped, too: an attempt that could not use them has come here.

        Args:
            step: steps taken so far.
            tensors: file stem -> name -> tensor.
            state: what JSON can hold; floats come back exactly.

        Raises:
            PoshgridError: the folder cannot be written; the earlier checkpoints are still there.
        """
        final = self.folder / f"step-{step:09d}"
        with atomic(final, lasting=True) as temporary:
            temporary.mkdir()
            files = {
                f"{stem}.safetensors": _write(temporary / f"{stem}.safetensors", named)
                for stem, named in sorted(tensors.items())
            }
            record = {
                "fingerprint": self.fingerprint,
                "files": files,
                "kept": self._kept,
                "state": state,
            }
            record["digest"] = _digest(record)
            (temporary / STATE).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
            sync(temporary / STATE)
        folders = self._folders()
        wanted = [folder for folder in folders if folder.name <= final.name][:KEPT]
        for folder in folders:
            if folder not in wanted:
                discard(folder)

    def keep(self, step: int, weights: dict[str, Tensor]) -> None:
        """Put the weights of a step aside until the run is finished.

        Raises:
            PoshgridError: the folder cannot be written.
        """
        final = self.folder / f"kept-{step:09d}.safetensors"
        with atomic(final, lasting=True) as temporary:
            self._kept[final.name] = _write(temporary, weights)

    def kept(self) -> dict[int, dict[str, Tensor]]:
        """Return the weights put aside: step -> name -> tensor.

        Raises:
            PoshgridError: a file cannot be read.
        """
        weights = {}
        for name in sorted(self._kept):
            path = self.folder / name
            try:
                weights[int(path.stem.partition("-")[2])] = load_file(path)
            except (OSError, SafetensorError) as error:
                raise PoshgridError(
                    f"{path}: cannot be read: {system_reason(error)}; run the same command "
                    "again: it goes back to a checkpoint before that step"
                ) from error
        return weights

    def newest(self) -> tuple[dict[str, dict[str, Tensor]], dict[str, Any]] | None:
        """Return tensors and state of the newest sound checkpoint, or none.

        One that is damaged or belongs to another run is passed over with a warning.
        """
        folders = self._folders()
        for folder in folders:
            try:
                return self._read(folder)
            except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
                log.warning("%s: not used: %s", folder, system_reason(error))
        if folders:
            log.warning("%s: no checkpoint can be used: training starts afresh", self.folder)
        self._kept = {}
        return None

    def _folders(self) -> list[Path]:
        """Return the finished checkpoints, newest first."""
        return sorted(self.folder.glob("step-*"), reverse=True)

    def _read(self, folder: Path) -> tuple[dict[str, dict[str, Tensor]], dict[str, Any]]:
        """Return tensors and state, and remember the files that were put aside up to then."""
        record = json.loads((folder / STATE).read_text(encoding="utf-8"))
        if record.pop("digest") != _digest(record):
            raise ValueError(f"{STATE} is damaged: its digest is not the one recorded")
        if record["fingerprint"] != self.fingerprint:
            raise ValueError("it is of other settings, text, code or machine")
        paths = [folder / name for name in record["files"]]
        # The weights put aside before it would not be made again by a job that goes on from here.
        digests = zip(
            [*paths, *(self.folder / name for name in record["kept"])],
            [*record["files"].values(), *record["kept"].values()],
            strict=True,
        )
        for path, digest in digests:
            if sha256(path) != digest:
                raise ValueError(f"{path.name} is damaged: its digest is not the one recorded")
        self._kept = record["kept"]
        return {path.stem: load_file(path) for path in paths}, record["state"]


def remove(folder: Path) -> None:
    """Remove the checkpoints of a finished run, and what a killed job had begun to remove."""
    discard(folder)
    clear(*folder.parent.glob(f".{folder.name}.*"))


def _write(path: Path, named: dict[str, Tensor]) -> str:
    """Write tensors, have them on the disk, and return the file's digest."""
    save_file({name: tensor.detach().cpu().contiguous() for name, tensor in named.items()}, path)
    sync(path)
    return sha256(path)


def _digest(record: dict[str, Any]) -> str:
    """Return the digest of what a state file says."""
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()


def weights(model: PreTrainedModel) -> dict[str, Tensor]:
    """Return a copy of every parameter by name; tied ones appear once."""
    return {name: weight.detach().clone() for name, weight in model.named_parameters()}


def load_weights(model: PreTrainedModel, named: dict[str, Tensor]) -> None:
    """Put back what :func:`weights` returned."""
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.copy_(named[name])


def moments(
    optimizers: Sequence[torch.optim.Optimizer], model: PreTrainedModel
) -> dict[str, Tensor]:
    """Return the optimisers' state, flat: ``{number of it}:{parameter}:{entry}`` -> tensor."""
    return {
        f"{number}:{name}:{entry}": value
        for number, optimizer in enumerate(optimizers)
        for name, weight in model.named_parameters()
        for entry, value in optimizer.state.get(weight, {}).items()
    }


def load_moments(
    optimizers: Sequence[torch.optim.Optimizer], model: PreTrainedModel, flat: dict[str, Tensor]
) -> None:
    """Put back what :func:`moments` returned."""
    named = dict(model.named_parameters())
    for key, value in flat.items():
        number, name, entry = key.split(":")
        weight = named[name]
        # On a GPU the optimiser keeps the count of steps where its fused kernel reads it.
        optimizers[int(number)].state[weight][entry] = value.to(weight.device)
