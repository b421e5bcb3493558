"""A plan: what a target's jobs are, why they would run, and what training would cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
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
class Group:
    """Jobs of one rule that would run for the same reasons."""

    rule: str
    reasons: tuple[str, ...]
    jobs: tuple[Job, ...]

    @property
    def changes(self) -> list[str]:
        """What of the configuration changed, the most common first."""
        return [text for text, _ in Counter(c for j in self.jobs for c in j.changes).most_common()]


@dataclass(frozen=True)
class Plan:
    """What a target needs.

    Attributes:
        files: of the configuration.
        results: another results folder than the configuration's.
        target: the experiment, or ``all``.
        grid: of the configuration.
        jobs: all of the target's, each after those that it needs.
        costs: of runs, on one device.
        missing: sources whose files are not there.
    """

    files: tuple[Path, ...]
    results: Path | None
    target: str
    grid: Grid
    jobs: tuple[Job, ...]
    costs: Costs
    missing: tuple[str, ...]

    @property
    def runs(self) -> list[Run]:
        """The target's runs."""
        return self.grid.targets[self.target]

    @cached_property
    def pending(self) -> list[Job]:
        """The jobs that would run."""
        return [job for job in self.jobs if job.reasons]

    @cached_property
    def rules(self) -> list[str]:
        """The rules of the target, in the order in which their first jobs can start."""
        return list(dict.fromkeys(job.rule for job in self.jobs))

    @cached_property
    def groups(self) -> list[Group]:
        """The jobs that would run by rule and by reason."""
        groups: dict[tuple[str, tuple[str, ...]], list[Job]] = {}
        for job in self.pending:
            groups.setdefault((job.rule, job.reasons), []).append(job)
        order = {rule: i for i, rule in enumerate(self.rules)}
        return [
            Group(rule, reasons, tuple(members))
            for (rule, reasons), members in sorted(
                groups.items(), key=lambda g: (order[g[0][0]], g[0][1][0] == UPSTREAM, g[0][1])
            )
        ]

    @cached_property
    def hours(self) -> float:
        """Hours of one device that the training of all pending runs takes at most."""
        return sum(self.costs.hours(run) for run in self._runs)

    @cached_property
    def gigabytes(self) -> float:
        """Disk that the models of all pending jobs take."""
        return sum(map(self.costs.megabytes, self._runs)) / 1e3

    @property
    def _runs(self) -> list[Run]:
        """The runs that are to be trained."""
        trainings = [job for job in self.pending if job.rule == "train"]
        return [Run.of(SimpleNamespace(**job.wildcards)) for job in trainings]

    def to_dict(self, examples: int) -> dict[str, Any]:
        """Return the plan for other programs."""
        return {
            "configuration": [str(path) for path in self.files],
            "results": self.grid.paths.results,
            "target": self.target,
            "runs": len(self.runs),
            "nulls": len(self.grid.nulls(self.runs)),
            "jobs": {"run": len(self.pending), "up_to_date": len(self.jobs) - len(self.pending)},
            "rules": [
                {"rule": rule, "run": run, "up_to_date": there} for rule, run, there in self.counts
            ],
            "reasons": [
                {
                    "rule": group.rule,
                    "reasons": list(group.reasons),
                    "jobs": len(group.jobs),
                    "cells": [job.cell for job in group.jobs[:examples]],
                    "changes": group.changes,
                }
                for group in self.groups
            ],
            "training": {"device": self.costs.device, "hours_at_most": round(self.hours, 4)},
            "gigabytes_of_models": round(self.gigabytes, 4),
            "sources_missing": list(self.missing),
        }

    @cached_property
    def counts(self) -> list[tuple[str, int, int]]:
        """Each rule, its jobs that would run, and those that are up to date."""
        waiting = Counter(job.rule for job in self.pending)
        every = Counter(job.rule for job in self.jobs)
        return [(rule, waiting[rule], every[rule] - waiting[rule]) for rule in self.rules]


def make(
    files: Sequence[Path],
    target: str,
    *,
    results: Path | None = None,
    device: str = "H100",
    table: Path | None = None,
) -> Plan:
    """Plan a target: ask Snakemake what would run, and estimate what training takes.

    Args:
        files: configuration files; the later change the earlier.
        target: an experiment, or ``all``.
        results: another results folder than the configuration's.
        device: one whose speed was measured.
        table: another table of speeds than ``resources/speeds.yaml``.

    Raises:
        PoshgridError: a wrong configuration, an unknown target or device, or Snakemake's own
            refusal.
    """
    config = configfile.load(*files)
    if results is not None:
        config = config.model_copy(update={"results": str(results)})
    grid = Grid(config)
    check_known("unknown target", target, grid.targets)
    costs = Costs(grid, speeds(table), device)  # an unknown device is refused before Snakemake
    planned = jobs.read(files, target, results)
    # Sources are looked for only where one is to be read.
    wanted = {job.wildcards["source"] for job in planned if job.reasons and job.rule == "read"}
    absent = (
        source.name
        for source in catalogue.status(config)
        if not source.found and source.name in wanted
    )
    return Plan(tuple(files), results, target, grid, tuple(planned), costs, tuple(absent))
