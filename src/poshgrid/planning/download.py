"""What jobs read from a hub, downloaded before they start: nodes may have no network."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from poshgrid import logs
from poshgrid.config.runs import SCORED, Run
from poshgrid.errors import PoshgridError
from poshgrid.evaluation.engines import load
from poshgrid.grid.inputs import Inputs

log = logs.get(__name__)


def ahead(dag: Any, inputs: Inputs) -> None:  # noqa: ANN401 - Snakemake's
    """Download the models that a run will read from a hub, on the machine where Snakemake runs.

    They go into the hub's cache (``HF_HOME``), which nodes must see. Jobs then ask no hub
    (``HF_HUB_OFFLINE``): without a network each file would cost them a minute of patience. What
    cannot be had is reported and left to its job, which may find a network.

    Args:
        dag: the jobs; only those that will run are looked at.
        inputs: of the grid.
    """
    models: list[bool] = []
    runs = {Run.of(job.wildcards) for job in dag.needrun_jobs() if job.rule.name == "score"}
    for run in sorted(runs, key=lambda run: run.name):
        if run.recipe in SCORED and inputs.pretrained_folder(run) is None:
            model = inputs.grid.pretrained_runs[run]
            models.append(_try(load.download, model.path, model.revision))
    if models and all(models):
        os.environ["HF_HUB_OFFLINE"] = "1"


def _try(download: Callable[..., object], *what: object) -> bool:
    """Download, or tell why not; say whether it is there."""
    try:
        download(*what)
    except PoshgridError as error:
        log.warning("%s (its job will try again)", error)
        return False
    return True
