"""What jobs read from a hub, downloaded before they start: nodes may have no network."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from poshgrid import logs, plugins
from poshgrid.config.runs import SCORED, Run
from poshgrid.errors import PoshgridError
from poshgrid.evaluation.engines import load
from poshgrid.grid.inputs import Inputs
from poshgrid.plugins import SUITES

log = logs.get(__name__)


def ahead(dag: Any, inputs: Inputs) -> None:  # noqa: ANN401 - Snakemake's
    """Download what the jobs of a run will read from a hub, on the machine where Snakemake runs.

    Suites go into the data folder, models into the hub's cache (``HF_HOME``), which nodes must see.
    Jobs then ask no hub (``HF_HUB_OFFLINE``): without a network each file would cost them a minute
    of patience. What cannot be had is told and left to its job, which may find a network.

    Args:
        dag: the jobs; only those that will run are looked at.
        inputs: of the grid.
    """
    jobs = list(dag.needrun_jobs())
    models: list[bool] = []
    for name in sorted({job.wildcards.suite for job in jobs if job.rule.name == "items"}):
        suite = inputs.grid.suites[name]
        plugin = plugins.load(SUITES, suite.reader)
        if hasattr(plugin, "fetch"):
            options = plugins.options(SUITES, suite.reader, suite.options)
            _try(plugin.fetch, Path(inputs.data, suite.path) if suite.path else None, options)
    runs = {Run.of(job.wildcards) for job in jobs if job.rule.name == "score"}
    for run in sorted(runs, key=lambda run: run.name):
        if run.regimen in SCORED and inputs.given_model(run) is None:
            given = inputs.grid.given_models[run]
            models.append(_try(load.download, given.model, given.revision))
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
