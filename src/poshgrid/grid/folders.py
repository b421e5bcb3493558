"""Checkpoints of finished runs."""

from __future__ import annotations

from pathlib import Path

from poshgrid.config import specs
from poshgrid.errors import PoshgridError
from poshgrid.files import read_json
from poshgrid.provenance import durable, lock
from poshgrid.training import identity


def clear(checkpoints: Path, model: Path, spec: specs.TrainSpec) -> None:
    """Remove the checkpoints of a finished run, from whatever machine they are.

    What it left under other settings stays.

    Args:
        checkpoints: folder of all runs' checkpoints.
        model: the run's folder, written and on the disk.
        spec: of the run.
    """
    mine = {"spec": specs.canonical(spec), "code": identity.code(spec)}
    for note in sorted(Path(checkpoints).glob(f"*/{identity.NOTE}")):
        try:
            told = read_json(note)
            same = told["model"] == str(model.resolve())
            same &= mine.items() <= told["decisive"].items()
        except (PoshgridError, KeyError, TypeError, AttributeError):
            continue  # of nobody: whoever trains that run writes it anew
        if same:
            with lock.held(note.parent):
                durable.discard(note.parent)
