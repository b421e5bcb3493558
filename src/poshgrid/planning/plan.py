"""A plan: what a target's jobs are, why they would run, and what training would cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from poshgrid.config.runs import Run
from poshgrid.corpora import catalogue
from poshgrid.errors import check_known
from poshgrid.grid import configfile
from poshgrid.grid.grid import Grid
from poshgrid.planning import jobs
from poshgrid.planning.costs import Costs, speeds
from poshgrid.planning.jobs import UPSTREAM, Job

EXAMPLES = 2
"""Cells that are named of each rule and reason."""


def make(
    files: Sequence[Path], target: str, *, results: Path | None = None, device: str = "H100"
) -> dict[str, Any]:
    """Plan a target: ask Snakemake what would run, and estimate what training takes.

    Args:
        files: configuration files; the later change the earlier.
        target: an experiment, or ``all``.
        results: another results folder than the configuration's.
        device: one whose speed was measured.

    Raises:
        PoshgridError: a wrong configuration, an unknown target or device, or Snakemake's own
            refusal.
    """
    config = configfile.load(*files)
    if results is not None:
        config = config.model_copy(update={"results": str(results)})
    grid = Grid(config)
    check_known("unknown target", target, grid.targets)
    costs = Costs(grid, speeds(), device)  # an unknown device is refused before Snakemake
    planned = jobs.read(files, target, results)
    there = Counter(job.rule for job in planned if not job.reasons)
    order = list(dict.fromkeys(job.rule for job in planned))  # in which their first jobs can start
    groups: dict[tuple[str, tuple[str, ...]], list[Job]] = {}
    for job in planned:
        if job.reasons:
            groups.setdefault((job.rule, job.reasons), []).append(job)
    again = [job for members in groups.values() for job in members]
    trained = [Run.of(SimpleNamespace(**job.wildcards)) for job in again if job.rule == "train"]
    sources = {job.wildcards["source"] for job in again if job.rule == "read"}
    runs, run = grid.targets[target], Counter(job.rule for job in again)
    ordered = sorted(groups, key=lambda g: (order.index(g[0]), g[1][0] == UPSTREAM, g[1]))
    return {
        "results": grid.paths.results,
        "target": target,
        "runs": len(runs),
        "baselines": len(grid.baselines(runs)),
        "jobs": {"run": len(again), "up_to_date": there.total()},
        "rules": [{"rule": r, "run": run[r], "up_to_date": there[r]} for r in order],
        "reasons": [
            {
                "rule": rule,
                "reasons": list(reasons),
                "jobs": len(groups[rule, reasons]),
                "cells": [job.cell for job in groups[rule, reasons][:EXAMPLES]],
                "changes": [text for text, _ in Counter(
                    change for job in groups[rule, reasons] for change in job.changes
                ).most_common()],
            }
            for rule, reasons in ordered
        ],
        "training": {
            "device": device,
            "hours_at_most": round(sum(map(costs.hours, trained)), 4),
        },
        "gigabytes_of_models": round(sum(map(costs.megabytes, trained)) / 1e3, 4),
        "sources_missing": [
            source.name
            for source in catalogue.status(config)
            if source.problem and source.name in sources
        ],
    }  # fmt: skip
