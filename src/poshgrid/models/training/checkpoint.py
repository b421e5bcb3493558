"""Resumable checkpoints: a file of safetensors each, renamed into place, the last two kept.

They hold named tensors of a model and its optimiser, which the functions at the end take out and
put back. The state of the run is in the file's metadata.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from poshgrid.core import logs
from poshgrid.core.files import atomic, clear, discard, system_reason

if TYPE_CHECKING:
    from transformers import PreTrainedModel

log = logs.get(__name__)

KEPT = 2


class Checkpoints:
    """The checkpoints of one run, in a folder of its name.

    No rule declares the folder: Snakemake deletes the declared outputs of a failed job.

    A checkpoint gets its name when it is whole and on the disk; only then are older ones dropped.
    What has a hidden name is half-written, or half-removed, and goes with the folder. One job at a
    time makes a model (:func:`poshgrid.core.adopt.held`), so the folder has no lock.

    Args:
        folder: of this run.
        fingerprint: of all that decides its weights. Checkpoints of another one are not used.
    """

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self.folder, self.fingerprint = Path(folder), fingerprint
        self._kept: set[str] = set()  # files put aside

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
            tensors: part -> name -> tensor.
            state: what JSON can hold; floats come back exactly.

        Raises:
            PoshgridError: the folder cannot be written; the earlier checkpoints are still there.
        """
        path = self.folder / f"step-{step:09d}.safetensors"
        record = {"fingerprint": self.fingerprint, "kept": sorted(self._kept), "state": state}
        flat = {f"{part}/{n}": t for part, named in tensors.items() for n, t in named.items()}
        _write(path, flat, record)
        files = self._files()
        wanted = [file for file in files if file.name <= path.name][:KEPT]
        clear(*(file for file in files if file not in wanted))

    def keep(self, step: int, weights: dict[str, Tensor]) -> None:
        """Put the weights of a step aside until the run is finished.

        Raises:
            PoshgridError: the folder cannot be written.
        """
        path = self.folder / f"kept-{step:09d}.safetensors"
        _write(path, weights, {})
        self._kept.add(path.name)

    def kept(self) -> dict[int, dict[str, Tensor]]:
        """Return the weights put aside: step -> name -> tensor."""
        paths = [self.folder / name for name in sorted(self._kept)]
        return {int(path.stem.partition("-")[2]): _load(path)[0] for path in paths}

    def newest(self) -> tuple[dict[str, dict[str, Tensor]], dict[str, Any]] | None:
        """Return tensors and state of the newest sound checkpoint, or none.

        One that is damaged or belongs to another run is passed over with a warning.
        """
        files = self._files()
        for path in files:
            try:
                return self._read(path)
            except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
                log.warning("%s: not used: %s", path, system_reason(error))
        if files:
            log.warning("%s: no checkpoint can be used: training starts afresh", self.folder)
        self._kept = set()
        return None

    def _files(self) -> list[Path]:
        """Return the finished checkpoints, newest first."""
        return sorted(self.folder.glob("step-*"), reverse=True)

    def _read(self, path: Path) -> tuple[dict[str, dict[str, Tensor]], dict[str, Any]]:
        """Return tensors and state, and remember the files that were put aside up to then."""
        flat, record = _load(path)
        if record["fingerprint"] != self.fingerprint:
            raise ValueError("it is of other settings, text, code or machine")
        for name in record["kept"]:  # a job that goes on from here would not put these aside again
            _load(self.folder / name)
        tensors: dict[str, dict[str, Tensor]] = {}
        for key, tensor in flat.items():
            part, _, name = key.partition("/")
            tensors.setdefault(part, {})[name] = tensor
        self._kept = set(record["kept"])
        return tensors, record["state"]


def remove(folder: Path) -> None:
    """Remove the checkpoints of a finished run, and what a killed job had begun to remove."""
    discard(folder)
    clear(*folder.parent.glob(f".{folder.name}.*"))


def _write(path: Path, named: dict[str, Tensor], record: dict[str, Any]) -> None:
    """Write tensors and what a checkpoint says, whole or not at all."""
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in named.items()}
    text = json.dumps(record)
    with atomic(path, lasting=True) as temporary:
        save_file(tensors, temporary, {"record": text, "digest": _digest(tensors, text)})


def _load(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return what :func:`_write` wrote; raise ``ValueError`` if a bit of it has changed."""
    with safe_open(path, "pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
        metadata = file.metadata()
    if metadata["digest"] != _digest(tensors, metadata["record"]):
        raise ValueError(f"{path.name} is damaged: its digest is not the one recorded")
    return tensors, json.loads(metadata["record"])


def _digest(tensors: dict[str, Tensor], record: str) -> str:
    digest = hashlib.sha256(record.encode())
    for name in sorted(tensors):
        digest.update(f"{name} {tuple(tensors[name].shape)}".encode())
        digest.update(tensors[name].numpy().tobytes())
    return digest.hexdigest()


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
