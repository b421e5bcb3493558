"""Resumable checkpoints: each is one safetensors file, and the last two are kept.

A checkpoint holds the named tensors of a model and its optimisers; the functions at the end read
these tensors from a model and write them into it. The state of the run is in the file's metadata.
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
    """The checkpoints of one run, in its own folder.

    No rule declares the folder, because Snakemake deletes the declared outputs of a failed job.

    A checkpoint gets its name when it is complete and on the disk; only then are older ones
    removed. A file with a hidden name is half-written or half-removed; it is removed with the
    folder. Only one job at a time makes a model (:func:`poshgrid.core.adopt.held`), so the folder
    needs no lock.

    Args:
        folder: of this run.
        fingerprint: digest of everything that decides the weights. Checkpoints with another
            fingerprint are not used.
    """

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self.folder, self.fingerprint = Path(folder), fingerprint
        self._kept: set[str] = set()  # names of the files that `keep` wrote

    def part(self, name: str) -> Checkpoints:
        """Return the checkpoints of a part of this run, e.g. its pre-pretraining.

        They are in the run's folder and are removed with it.
        """
        return Checkpoints(self.folder / name, f"{self.fingerprint}-{name}")

    def save(self, step: int, tensors: dict[str, dict[str, Tensor]], state: dict[str, Any]) -> None:
        """Write the checkpoint of a step, and remove all but the newest :data:`KEPT`.

        Those of later steps are removed, too: this attempt could not use them.

        Args:
            step: steps taken so far.
            tensors: part -> name -> tensor.
            state: of the run, as JSON; floats are restored exactly.

        Raises:
            PoshgridError: the folder cannot be written; earlier checkpoints are kept.
        """
        path = self.folder / f"step-{step:09d}.safetensors"
        record = {"fingerprint": self.fingerprint, "kept": sorted(self._kept), "state": state}
        flat = {f"{part}/{n}": t for part, named in tensors.items() for n, t in named.items()}
        _write(path, flat, record)
        files = self._files()
        wanted = [file for file in files if file.name <= path.name][:KEPT]
        clear(*(file for file in files if file not in wanted))

    def keep(self, step: int, weights: dict[str, Tensor]) -> None:
        """Keep the weights of a step until the run is finished.

        Raises:
            PoshgridError: the folder cannot be written.
        """
        path = self.folder / f"kept-{step:09d}.safetensors"
        _write(path, weights, {})
        self._kept.add(path.name)

    def kept(self) -> dict[int, dict[str, Tensor]]:
        """Return the weights that :meth:`keep` wrote: step -> name -> tensor."""
        paths = [self.folder / name for name in sorted(self._kept)]
        return {int(path.stem.partition("-")[2]): _load(path)[0] for path in paths}

    def newest(self) -> tuple[dict[str, dict[str, Tensor]], dict[str, Any]] | None:
        """Return the tensors and state of the newest checkpoint that is usable, or None.

        A checkpoint that is damaged or belongs to another run is skipped with a warning.
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
        """Return tensors and state, and remember the files that `keep` had written by then."""
        flat, record = _load(path)
        if record["fingerprint"] != self.fingerprint:
            raise ValueError("it is of other settings, text, code or machine")
        for name in record["kept"]:  # a job that resumes here would not write these again
            _load(self.folder / name)
        tensors: dict[str, dict[str, Tensor]] = {}
        for key, tensor in flat.items():
            part, _, name = key.partition("/")
            tensors.setdefault(part, {})[name] = tensor
        self._kept = set(record["kept"])
        return tensors, record["state"]


def remove(folder: Path) -> None:
    """Remove the checkpoints of a finished run, and files that a killed job left half-removed."""
    discard(folder)
    clear(*folder.parent.glob(f".{folder.name}.*"))


def _write(path: Path, named: dict[str, Tensor], record: dict[str, Any]) -> None:
    """Write the tensors and the record of a checkpoint, completely or not at all."""
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in named.items()}
    text = json.dumps(record)
    with atomic(path, lasting=True) as temporary:
        save_file(tensors, temporary, {"record": text, "digest": _digest(tensors, text)})


def _load(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return what :func:`_write` wrote; raise ``ValueError`` if any of it has changed."""
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
    """Return a copy of every parameter by name; tied parameters appear once."""
    return {name: weight.detach().clone() for name, weight in model.named_parameters()}


def load_weights(model: PreTrainedModel, named: dict[str, Tensor]) -> None:
    """Write what :func:`weights` returned into a model."""
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.copy_(named[name])


def moments(
    optimizers: Sequence[torch.optim.Optimizer], model: PreTrainedModel
) -> dict[str, Tensor]:
    """Return the optimisers' state: ``{number of optimiser}:{parameter}:{entry}`` -> tensor."""
    return {
        f"{number}:{name}:{entry}": value
        for number, optimizer in enumerate(optimizers)
        for name, weight in model.named_parameters()
        for entry, value in optimizer.state.get(weight, {}).items()
    }


def load_moments(
    optimizers: Sequence[torch.optim.Optimizer], model: PreTrainedModel, flat: dict[str, Tensor]
) -> None:
    """Write what :func:`moments` returned into optimisers."""
    named = dict(model.named_parameters())
    for key, value in flat.items():
        number, name, entry = key.split(":")
        weight = named[name]
        # On a GPU the fused kernel needs the count of steps on the device.
        optimizers[int(number)].state[weight][entry] = value.to(weight.device)
