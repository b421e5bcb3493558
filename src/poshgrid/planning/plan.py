"""A plan: what a target's jobs are, why they would run, and what training would cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Plan:
    """What a target needs.

    Attributes:
        target: the experiment, or ``all``.
        grid: of the configuration.
        jobs: all of the target's, each after those that it needs.
        costs: of runs, on one device.
        missing: sources that would be read, and whose files are not there.
    """

    target: str
    grid: Grid
    jobs: tuple[Job, ...]
    costs: Costs
    missing: tuple[str, ...]

    def to_dict(self, examples: int) -> dict[str, Any]:
        """Return the plan for other programs.

        Args:
            examples: cells to name of each rule and reason.
        """
        rules: dict[str, list[int]] = {}  # in the order in which their first jobs can start
        groups: dict[tuple[str, tuple[str, ...]], list[Job]] = {}
        trained = []
        for job in self.jobs:
            rules.setdefault(job.rule, [0, 0])[not job.reasons] += 1
            if not job.reasons:
                continue
            groups.setdefault((job.rule, job.reasons), []).append(job)
            if job.rule == "train":
                trained.append(Run.of(SimpleNamespace(**job.wildcards)))
        order = list(rules)
        ordered = sorted(groups, key=lambda g: (order.index(g[0]), g[1][0] == UPSTREAM, g[1]))
        runs = self.grid.targets[self.target]
        return {
            "results": self.grid.paths.results,
            "target": self.target,
            "runs": len(runs),
            "nulls": len(self.grid.nulls(runs)),
            "jobs": {"run": sum(map(len, groups.values())),
                     "up_to_date": sum(there for _, there in rules.values())},
            "rules": [
                {"rule": rule, "run": run, "up_to_date": there}
                for rule, (run, there) in rules.items()
            ],
            "reasons": [
                {
                    "rule": rule,
                    "reasons": list(reasons),
                    "jobs": len(members),
                    "cells": [job.cell for job in members[:examples]],
                    "changes": [text for text, _ in Counter(
                        change for job in members for change in job.changes).most_common()],
                }
                for rule, reasons in ordered
                for members in [groups[rule, reasons]]
            ],
            "training": {
                "device": self.costs.device,
                "hours_at_most": round(sum(map(self.costs.hours, trained)), 4),
            },
            "gigabytes_of_models": round(sum(map(self.costs.megabytes, trained)) / 1e3, 4),
            "sources_missing": list(self.missing),
        }  # fmt: skip


def make(
    files: Sequence[Path],
    target: str,
    *,
    results: Path | None = None,
    device: str = "H100",
) -> Plan:
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
    read = {job.wildcards["source"] for job in planned if job.reasons and job.rule == "read"}
    missing = (
        source.name for source in catalogue.status(config) if source.problem and source.name in read
    )
    return Plan(target, grid, tuple(planned), costs, tuple(missing))
