"""Download what jobs read from a hub before they start, because nodes may have no network."""

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

    They go into the hub's cache (``HF_HOME``), which nodes must be able to read. Jobs then do not
    use the network (``HF_HUB_OFFLINE``): otherwise each file would cost them a minute of waiting.
    If a download fails, a warning is printed and the job tries again, as it may have a network.

    Args:
        dag: Snakemake's jobs; only those that will run matter.
        inputs: inputs of the grid.
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
    """Download, or warn why it failed; return whether it succeeded."""
    try:
        download(*what)
    except PoshgridError as error:
        log.warning("%s (its job will try again)", error)
        return False
    return True
