"""How near `poshgrid plan` comes: CPU seconds of a completed grid, estimated and measured, by rule.

    python perf/plan_accuracy.py [config/tiny.yaml ...] [--results FOLDER]

Nothing is run: manifests below the results folder say what each job took. A job is estimated
twice: from resources/throughput.yaml alone, and from the other jobs of that folder, those of its
own cell (base, or condition and size) left out. `off by` is the factor between estimate and
measurement, up or down: the median of the rule's jobs, and the worst. `-`: no other job of the
kind. Jobs that ran on a GPU are passed over. A manifest's CPU seconds begin when the stage does:
the start of Python is not in them.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from pathlib import Path

from poshgrid.errors import PoshgridError
from poshgrid.grid import configfile
from poshgrid.grid.grid import Grid
from poshgrid.planning import measured, throughput
from poshgrid.planning.costs import Costs
from poshgrid.planning.jobs import Job
from poshgrid.planning.measured import Earlier
from poshgrid.planning.plan import RULES
from poshgrid.planning.throughput import ASSUMED

_CELL = ("base", "condition", "size")


def main() -> None:
    """Print the table for docs/lab/planning.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("config", nargs="*", type=Path, default=[Path("config/tiny.yaml")])
    parser.add_argument("--results", help="of the completed grid; none: the configuration's")
    given = parser.parse_args()
    config = configfile.load(*given.config)
    if given.results:
        config = config.model_copy(update={"results": given.results})
    grid = Grid(config)
    found = [each for each in measured.earlier(grid.paths) if each.device == "cpu"]
    print("| rule | jobs | measured | table | off by | worst | other cells | off by | worst |")
    print("|---|---|---|---|---|---|---|---|---|")
    for rule in RULES:
        jobs = [each for each in found if each.rule == rule and each.cpu_seconds]
        near = [pair for each in jobs if (pair := estimates(grid, each, found))]
        if near:
            print(row(rule, *zip(*near, strict=True)))


def estimates(
    grid: Grid, earlier: Earlier, found: list[Earlier]
) -> tuple[float, float, float | None] | None:
    """Return what a job took and its two estimates; none: the configuration has no such cell."""
    job = Job(0, earlier.rule, earlier.wildcards, (), (), 1, ())
    rest = [other for other in found if cell(other) != cell(earlier)]
    table = throughput.load()
    try:
        stated = Costs(grid, table, [], gpu=None).of(job)
        others = Costs(grid, table, rest, gpu=None).of(job)
    except (PoshgridError, KeyError):
        return None
    near = None if others.basis == ASSUMED else others.cpu_seconds
    return earlier.cpu_seconds, stated.cpu_seconds, near


def row(
    rule: str, took: Sequence[float], stated: Sequence[float], others: Sequence[float | None]
) -> str:
    """Return a line of the table: sums, and by how much single jobs are missed."""
    cells = [rule, str(len(took)), f"{sum(took):,.1f}"]
    for estimated in (stated, others):
        known = [(e, t) for e, t in zip(estimated, took, strict=True) if e is not None]
        off = [max(e / t, t / e) for e, t in known]
        cells += (
            [f"{sum(e for e, _ in known):,.1f}", f"{statistics.median(off):.1f}", f"{max(off):.1f}"]
            if off
            else ["-"] * 3
        )
    return f"| {' | '.join(cells)} |"


def cell(job: Earlier) -> tuple[str, ...]:
    """Return what a job shares with those that say too much of it; else the job itself."""
    axes = tuple(job.wildcards[axis] for axis in _CELL if axis in job.wildcards)
    return axes or (job.rule, *job.wildcards.values())


if __name__ == "__main__":
    main()
