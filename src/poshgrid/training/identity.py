"""What decides a run's weights, and the 16 digits that stand for it.

Resumable checkpoints lie in a folder of that name. The digits cannot be read back, so the folder
holds a note (:data:`NOTE`) that says what went into them.
"""

from __future__ import annotations

import hashlib
import json
from importlib import metadata
from pathlib import Path
from typing import Any

from poshgrid import plugins
from poshgrid.config import specs
from poshgrid.config.runs import parts
from poshgrid.errors import PoshgridError
from poshgrid.files import read_json, write_json
from poshgrid.provenance import durable, fingerprint, lock
from poshgrid.training import bias, learner

NOTE = "run.json"
"""In a run's checkpoint folder: where its model goes, and what its digits stand for."""


def of_run(
    spec: specs.TrainSpec, facts: dict[str, Any], distances: Path | None = None
) -> dict[str, str]:
    """Return what the workflow decides of a run's weights, as texts: equal ones for equal runs.

    Args:
        spec: what is asked.
        facts: statistics of the tokens, which hold the digests of ids and tokenizer.
        distances: of the trees, if the bias asks for them; their statistics hold digests.

    Raises:
        PoshgridError: the distances are missing or broken.
    """
    trees = read_json(distances / "statistics.json") if distances else {}
    return {
        "spec": specs.canonical(spec),
        "tokens": json.dumps(facts, sort_keys=True),
        "distances": json.dumps(trees, sort_keys=True),
        "code": code(spec),
    }


def of_machine(device: str) -> dict[str, str]:
    """Return what the machine decides: its libraries, and the device, as a CPU rounds otherwise."""
    import torch

    return {
        "torch": str(torch.__version__),
        "transformers": metadata.version("transformers"),
        "numpy": metadata.version("numpy"),
        "device": device,
    }


def code(spec: specs.TrainSpec) -> str:
    """Return the fingerprint of the code that a run is trained by."""
    return fingerprint.code(
        "poshgrid.training.train",
        plugins.module_name(learner.PACKAGE, spec.learner.architecture),
        *(plugins.module_name(bias.PACKAGE, part) for part in parts(spec.bias)),
    )


def digits(decisive: dict[str, str]) -> str:
    """Return the 16 digits that stand for what :func:`of_run` and :func:`of_machine` say."""
    return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()[:16]


def write(folder: Path, model: Path, decisive: dict[str, str]) -> None:
    """Write the note of a run's checkpoint folder.

    Args:
        folder: of the run's checkpoints, whose lock is held.
        model: where the model goes.
        decisive: what its digits stand for.

    Raises:
        PoshgridError: the folder cannot be written.
    """
    write_json(folder / NOTE, {"model": str(model.resolve()), "decisive": decisive})


def clear(checkpoints: Path, model: Path, spec: specs.TrainSpec) -> None:
    """Remove the checkpoints of a finished run, from whatever machine they are.

    What it left under other settings stays.

    Args:
        checkpoints: folder of all runs' checkpoints.
        model: the run's folder, written and on the disk.
        spec: of the run.
    """
    mine = {"spec": specs.canonical(spec), "code": code(spec)}
    for note in sorted(checkpoints.glob(f"*/{NOTE}")):
        try:
            content = read_json(note)
            same = content["model"] == str(model.resolve())
            same &= mine.items() <= content["decisive"].items()
        except (PoshgridError, KeyError, TypeError, AttributeError):
            continue  # of nobody: whoever trains that run writes it anew
        if same:
            with lock.held(note.parent):
                durable.discard(note.parent)
