"""Which conditions show the effect of filtering: a filtered one and its full counterpart."""

from __future__ import annotations

from dataclasses import replace

from poshgrid.config import Condition
from poshgrid.config.runs import Run
from poshgrid.grid.grid import Grid
from poshgrid.models.training import builder


def full(grid: Grid, target: str) -> dict[str, str]:
    """Return filtered condition -> the full condition of a target to compare it with (FiCT, 4).

    That is its control; otherwise the unfiltered condition of the same corpus with the same
    down-sampling; otherwise the condition with the same filters into which evidence was put back
    (``baby`` for ``baby-f``), preferably at the natural rate.
    """
    conditions = [grid.conditions[name] for name in sorted({c for c, _ in grid.cells(target)})]
    counterparts = {}
    for filtered in conditions:
        if not filtered.changed or filtered.reinsert:
            continue
        candidates = [
            other
            for other in conditions
            if other.corpus == filtered.corpus
            and other.downsample == filtered.downsample
            and not other.rewrite
            and (not other.filters or (other.reinsert and _filters(other) == _filters(filtered)))
            and other.control in (None, filtered.name)
        ]
        if candidates:
            counterparts[filtered.name] = min(candidates, key=_distance).name
    return counterparts


def pairs(grid: Grid, target: str) -> list[tuple[Run, Run]]:
    """Return the pairs of runs of a target that only differ in filtering: (filtered, full)."""
    runs = grid.targets.get(target, [])
    there, paired = set(runs), []
    for filtered, other in full(grid, target).items():
        for run in runs:
            twin = replace(run, condition=other)
            bare = run.size in grid.conditions[filtered].unfiltered_sizes
            if run.condition == filtered and twin in there and not bare:
                paired.append((run, twin))
    return paired


def runs(grid: Grid, target: str) -> list[Run]:
    """Return the runs of all pairs, sorted."""
    return sorted({run for pair in pairs(grid, target) for run in pair})


def with_perplexity(grid: Grid, target: str) -> list[Run]:
    """Return the runs of all pairs whose perplexity is requested, sorted.

    Masked models have none, because they do not predict the next token.
    """
    asked = runs(grid, target) if grid.config.filtering.perplexity else []
    return [run for run in asked if not builder.masked(grid.models[run.model])]


def aims(condition: Condition) -> dict[str, list[str]]:
    """Return a condition's filters -> the target phenomena of each; [] if it names none."""
    by_name = sorted(condition.filters, key=lambda entry: entry.name)
    return {entry.name: list(entry.aims) for entry in by_name}


def _filters(condition: Condition) -> set[str]:
    return set(map(str, condition.filters))


def _distance(condition: Condition) -> tuple[bool, bool, bool, str]:
    dosed = any(item.rate != "natural" for item in condition.reinsert)
    return condition.control is None, bool(condition.reinsert), dosed, condition.name
