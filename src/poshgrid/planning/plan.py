"""A plan: what a target's jobs are, why they would run, and what they would cost."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from poshgrid.config.runs import Run
from poshgrid.corpora import catalogue
from poshgrid.errors import check_known
from poshgrid.grid import configfile
from poshgrid.grid.grid import Grid
from poshgrid.planning import costs, jobs, measured, stale, throughput
from poshgrid.planning.costs import Cost
from poshgrid.planning.jobs import UNRECORDED, UPSTREAM, Job
from poshgrid.planning.schedule import groups, joined, makespan
from poshgrid.planning.throughput import BASES, HOUR

RULES = (
    "read", "mix", "treebank", "train_parser", "parse", "evidence", "recall", "condition",
    "collateral", "detector", "audit",
    "tokenizer", "tokens", "sweep", "distances", "train", "together", "untrained",
    "count", "ngrams", "items", "lengths", "rule_preferences", "score", "perplexity", "quality",
    "accuracy", "rule_shares", "curves", "deltas", "measures", "fit", "report",
)  # fmt: skip
"""The order of the pipeline. A rule that is not here stands at the end."""


@dataclass
class Amounts:
    """Sums over jobs, and how much of each sum was measured, scaled or assumed."""

    gpu_hours: float = 0.0
    cpu_hours: float = 0.0
    gigabytes: float = 0.0
    by: dict[str, dict[str, float]] = field(
        default_factory=lambda: {
            what: dict.fromkeys(BASES, 0.0) for what in ("gpu_hours", "cpu_hours", "gigabytes")
        }
    )

    def add(self, cost: Cost) -> None:
        """Add a job's cost."""
        for what, amount, basis in (
            ("gpu_hours", cost.gpu_seconds / HOUR, cost.basis),
            ("cpu_hours", cost.cpu_seconds / HOUR, cost.basis),
            ("gigabytes", cost.megabytes / 1e3, cost.disk_basis),
        ):
            setattr(self, what, getattr(self, what) + amount)
            self.by[what][basis] += amount

    def basis(self, what: str = "") -> str:
        """Return the words for where a sum comes from, the largest part first."""
        parts = (
            self.by[what]
            if what
            else {basis: sum(amounts[basis] for amounts in self.by.values()) for basis in BASES}
        )
        found = sorted((b for b in BASES if parts[b] > 0), key=lambda b: -parts[b])
        return " + ".join(found) or "-"


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
    """What a target asks for.

    Attributes:
        files: the configuration's.
        results: another results folder than the configuration's.
        target: the experiment, or ``all``.
        grid: of the configuration.
        jobs: all of the target's, each after those that it needs.
        costs: number of a job that would run -> its cost.
        shared: numbers of jobs that share a GPU.
        gpu: the GPU that is counted with; none: training is on CPUs.
        gpus: how many.
        cores: for the jobs without a GPU.
        missing: sources whose files are not there.
    """

    files: tuple[Path, ...]
    results: Path | None
    target: str
    grid: Grid
    jobs: tuple[Job, ...]
    costs: dict[int, Cost]
    shared: tuple[tuple[int, ...], ...]
    gpu: str | None
    gpus: int
    cores: int
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
    def unrecorded(self) -> list[Job]:
        """Those of them that Snakemake does not run by itself."""
        return [job for job in self.pending if UNRECORDED in job.reasons]

    @property
    def remedy(self) -> str:
        """The command that makes Snakemake run these, too."""
        plan = ["poshgrid", "plan", *map(str, self.files), "--target", self.target]
        plan += ["--results", str(self.results)] if self.results else []
        snakemake = ["snakemake", "--configfile", *map(str, self.files)]
        snakemake += ["--config", f"results={self.results}"] if self.results else []
        return f"{shlex.join(snakemake)} -R $({shlex.join(plan)} --stale) -- {self.target}"

    @cached_property
    def groups(self) -> list[Group]:
        """The jobs that would run by rule, in the pipeline's order, and by reason."""
        found: dict[tuple[str, tuple[str, ...]], list[Job]] = {}
        for job in self.pending:
            found.setdefault((job.rule, job.reasons), []).append(job)
        place = {rule: i for i, rule in enumerate(self.rules)}
        return [
            Group(rule, reasons, tuple(members))
            for (rule, reasons), members in sorted(
                found.items(), key=lambda g: (place[g[0][0]], g[0][1][0] == UPSTREAM, g[0][1])
            )
        ]

    @cached_property
    def rules(self) -> list[str]:
        """The rules of the target, in the pipeline's order."""
        found = list(dict.fromkeys(job.rule for job in self.jobs))
        return sorted(found, key=lambda r: RULES.index(r) if r in RULES else len(RULES))

    def amounts(self, rule: str | None = None) -> Amounts:
        """Return the sums over the jobs that would run, of a rule or all."""
        total = Amounts()
        for job in self.pending:
            if rule in (None, job.rule):
                total.add(self.costs[job.number])
        return total

    @cached_property
    def wall_hours(self) -> float:
        """Hours on that many GPUs and cores, without waiting in a queue."""
        seconds = {number: cost.seconds for number, cost in self.costs.items()}
        return makespan(
            *joined(self.jobs, seconds, self.shared),
            {number: cost.gpu_seconds > 0 for number, cost in self.costs.items()},
            gpus=self.gpus,
            cores=self.cores,
        ) / HOUR  # fmt: skip

    @cached_property
    def gpu_seconds(self) -> dict[int, float]:
        """Number of a job that would run -> GPU-seconds."""
        return {number: cost.gpu_seconds for number, cost in self.costs.items()}

    def to_dict(self, examples: int) -> dict[str, Any]:
        """Return the plan for other programs; every amount says what it rests on."""
        total = self.amounts()

        def amounts(found: Amounts) -> dict[str, Any]:
            return {
                what: {"at_most": round(getattr(found, what), 4), "basis": found.basis(what),
                       **{b: round(v, 4) for b, v in parts.items() if v}}
                for what, parts in found.by.items()
            }  # fmt: skip

        return {
            "configuration": [str(path) for path in self.files],
            "results": self.grid.paths.results,
            "target": self.target,
            "runs": len(self.runs),
            "nulls": len(self.grid.nulls(self.runs)),
            "jobs": {"run": len(self.pending), "up_to_date": len(self.jobs) - len(self.pending)},
            "unrecorded": {
                "jobs": len(self.unrecorded),
                "remedy": self.remedy if self.unrecorded else None,
            },
            "rules": [
                {
                    "rule": rule,
                    "run": sum(job.rule == rule for job in self.pending),
                    "up_to_date": sum(j.rule == rule and not j.reasons for j in self.jobs),
                    **amounts(self.amounts(rule)),
                    "sources": self.sources(rule),
                }
                for rule in self.rules
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
            **amounts(total),
            "wall_hours": {
                "at_most": round(self.wall_hours, 4), "basis": total.basis(),
                "gpus": self.gpus, "gpu": self.gpu, "cores": self.cores,
            },
            "sources_missing": list(self.missing),
        }  # fmt: skip

    def sources(self, rule: str) -> list[str]:
        """Return where a rule's seconds come from, the most common first."""
        found = Counter(
            f"{self.costs[job.number].basis}: {self.costs[job.number].source}"
            for job in self.pending
            if job.rule == rule
        )
        return [text for text, _ in found.most_common()]


def make(
    files: Sequence[Path],
    target: str,
    *,
    results: Path | None = None,
    gpus: int,
    cores: int,
    gpu: str | None = None,
    table: Path | None = None,
) -> Plan:
    """Plan a target: ask Snakemake what would run, and estimate what that takes.

    Args:
        files: configuration files; the later change the earlier.
        target: an experiment, or ``all``.
        results: another results folder than the configuration's.
        gpus: how many GPUs there are; 0: training is on CPUs.
        cores: for the jobs without a GPU.
        gpu: its name; none: the table's, and what was measured on any GPU counts.
        table: another table than resources/throughput.yaml.

    Raises:
        PoshgridError: a wrong configuration, an unknown target or GPU, or Snakemake's own refusal.
    """
    config = configfile.load(*files)
    if results is not None:
        config = config.model_copy(update={"results": str(results)})
    grid = Grid(config)
    check_known("unknown target", target, grid.targets)
    stated = throughput.load(table)
    name = (gpu or stated.gpu.default) if gpus else None
    if name is not None:
        stated.rate(name, "float32", 1)  # an unknown one is refused before Snakemake is asked
    found = jobs.read(files, target, results, stale.compare)
    estimate = costs.Costs(
        grid, stated, measured.earlier(grid.paths), gpu=name, any_gpu=gpu is None
    )
    # Only jobs that would run cost anything; sources are asked for only where one is to be read.
    pending = [job for job in found if job.reasons]
    shared = groups(grid, pending) if name else []
    share = {number: len(group) for group in shared for number in group}
    wanted = {job.wildcards["source"] for job in pending if job.rule == "read"}
    absent = (
        each.name for each in catalogue.status(config) if not each.found and each.name in wanted
    )
    return Plan(
        files=tuple(files),
        results=results,
        target=target,
        grid=grid,
        jobs=tuple(found),
        costs={job.number: estimate.of(job, share.get(job.number, 1)) for job in pending},
        shared=tuple(shared),
        gpu=name,
        gpus=gpus,
        cores=cores,
        missing=tuple(absent),
    )
