"""Several runs on one GPU: the seeds of a cell, in one job of the cluster.

A small learner leaves a large GPU idle. With ``together: 3`` in a regimen, up to three seeds of a
cell (the same condition, size, learner, regimen and bias) are trained side by side. Each is still a
job of Snakemake, with its own parameters, outputs, log and checkpoints, so that a change reruns the
same runs as it does without. They share a job of the cluster since they are a Snakemake group, and
they are one component of that group since a last, tiny job reads what they made:
``poshgrid together``.

Snakemake knows only that a group has failed, not whose fault it was: it deletes what all of its
jobs have made and tries them again. A run that was finished is taken over then
(:mod:`poshgrid.provenance.adopt`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poshgrid.errors import PoshgridError

if TYPE_CHECKING:
    import torch

    from poshgrid.config.runs import Run

CONTEXT = 768 * 2**20
"""Bytes of GPU memory that a process has before its first tensor: the driver's context, kernels."""


def cells(runs: Iterable[Run], together: Mapping[str, int]) -> dict[str, list[Run]]:
    """Return the runs that share a GPU, by ``{condition}/{size}/{learner}/{regimen}/{bias}/{n}``.

    A cell of more seeds than may share is cut into parts of like size: four seeds, three at a time,
    are two and two.

    Args:
        runs: of the grid; runs of other regimens and repeated ones are passed over.
        together: regimen -> how many of its runs share a GPU; nothing is shared by one.
    """
    by_cell: dict[str, set[Run]] = {}
    for run in runs:
        if together.get(run.regimen, 1) > 1:
            by_cell.setdefault(run.name.rpartition("/")[0], set()).add(run)
    found = {}
    for cell, members in sorted(by_cell.items()):
        seeds = sorted(members)
        parts = -(-len(seeds) // together[seeds[0].regimen])
        for part in range(parts):
            first, last = (len(seeds) * at // parts for at in (part, part + 1))
            found[f"{cell}/{part}"] = seeds[first:last]
    return found


def memory_share(total: int, together: int) -> float:
    """Return the share of a GPU's memory that each of its processes may fill with tensors.

    Args:
        total: bytes of the GPU's memory.
        together: how many runs share it.

    Raises:
        PoshgridError: the GPU is too small for so many processes.
    """
    share = 1 / together - CONTEXT / total
    if share <= 0:
        raise PoshgridError(
            f"together: {together}: a GPU of {total / 2**30:.1f} GiB has no room for so many "
            "processes; lower `together` of the regimen"
        )
    return share


def limit_memory(device: torch.device, together: int) -> None:
    """Keep this process to its share of the GPU's memory, so that no run takes another's.

    One that wants more fails with torch's own message; its neighbours go on.

    Args:
        device: that training runs on; on a CPU nothing is limited.
        together: how many runs share it.

    Raises:
        PoshgridError: the GPU is too small for so many processes.
    """
    if together == 1 or device.type != "cuda":
        return
    import torch

    number = torch.cuda.current_device()  # which torch wants here, and "cuda" does not tell
    total = torch.cuda.get_device_properties(number).total_memory
    torch.cuda.set_per_process_memory_fraction(memory_share(total, together), number)


def trained(models: Iterable[Path]) -> dict[str, Any]:
    """Return the models that were trained together, for the file that says that all are there.

    Args:
        models: their folders.

    Raises:
        PoshgridError: a model is not there.
    """
    models = [Path(model) for model in models]
    for model in models:
        if not (model / "manifest.json").is_file():
            raise PoshgridError(f"{model}: no manifest.json: train this run first")
    return {"models": [str(model) for model in models]}
