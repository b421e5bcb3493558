"""A plan: the jobs that would run, the reasons, and the costs of training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import typer

from poshgrid.config.runs import Run
from poshgrid.planning import jobs
from poshgrid.planning.costs import Costs
from poshgrid.planning.jobs import MISSING, UPSTREAM, Job

EXAMPLES, CHANGES = 2, 3
"""Numbers of cells and of configuration changes shown for each rule and reason."""


def make(args: Any, device: str | None = None) -> dict[str, Any]:  # noqa: ANN401 - Snakemake's
    """Plan a run: get Snakemake's decisions, and estimate the costs of training.

    Args:
        args: parsed arguments of Snakemake (:func:`poshgrid.planning.launch.parsed`).
        device: a device with a known speed (:mod:`poshgrid.planning.costs`); default: this
            machine's.

    Raises:
        PoshgridError: an unknown device, or Snakemake cannot plan the run.
    """
    with jobs.graph(args) as (workflow, notes):
        planned, grid = jobs.read(workflow), workflow.globals.get("GRID")
    # Order in which the rules' first jobs can start
    order = list(dict.fromkeys(job.rule for job in planned))
    groups: dict[tuple[str, tuple[str, ...]], list[Job]] = {}
    for job in planned:
        if job.reasons:
            groups.setdefault((job.rule, job.reasons), []).append(job)
    again = [job for members in groups.values() for job in members]
    trained = [Run.of(SimpleNamespace(**job.wildcards)) for job in again if job.rule == "train"]
    if grid is None:  # a user's own Snakefile that uses this workflow as a module
        trained = []
    run = Counter(job.rule for job in again)
    ordered = sorted(groups, key=lambda g: (order.index(g[0]), g[1][0] == UPSTREAM, g[1]))
    return {
        "target": " ".join(args.targets or ["all"]),
        "jobs": {"run": len(again), "up_to_date": len(planned) - len(again)},
        "rules": {rule: run[rule] for rule in order if run[rule]},
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
        "training": Costs(grid, device).total(trained) if trained else None,
        "notes": notes,
    }  # fmt: skip


def show(plan: Mapping[str, Any]) -> None:
    """Print a plan from :func:`make`."""
    from poshgrid.tables import terminal

    for note in plan["notes"]:
        typer.echo(note)
    run, current = plan["jobs"].values()
    typer.echo(f"{plan['target']}: {run:,} jobs would run, {current:,} are up to date")
    if any(group["reasons"] != [MISSING] for group in plan["reasons"]):
        rows = [
            (
                group["rule"],
                ", ".join(group["reasons"]),
                "\n".join([*group["changes"][:CHANGES], *filter(None, group["cells"])]),
                f"{group['jobs']:,}",
            )
            for group in plan["reasons"]
        ]
        names = ("rule", "why (docs/running.md)", "for instance", "jobs")
        terminal.show("", names, rows, labels=3)
    elif run:
        numbers = [(rule, f"{number:,}") for rule, number in plan["rules"].items()]
        terminal.show("", ("rule", "jobs"), numbers)
    if plan["training"]:
        typer.echo(plan["training"]["line"])
