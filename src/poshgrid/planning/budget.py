"""Which part of a target fits a budget of GPU-hours: the largest balanced one, by PuLP.

Runs come in blocks: all conditions of a size, learner, regimen, bias and seed, so that whatever is
chosen compares conditions fairly. A job that several blocks need (a base's parses, the scores of a
null) is paid for once. Most runs win; among these most sizes; among these the fewest GPU-hours.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from poshgrid import solver
from poshgrid.config import words
from poshgrid.config.runs import COUNTED, REFERENCE, UNTRAINED, Run
from poshgrid.errors import PoshgridError
from poshgrid.grid.grid import Grid
from poshgrid.planning.jobs import Job
from poshgrid.planning.throughput import HOUR

WHOLE = "-whole"
_AXES = ("size", "learner", "bias", "seed")  # those of a block that an exclusion can name
_EXACT = 1e-6  # hours: solvers round


@dataclass(frozen=True)
class Block:
    """Runs that are chosen all or none."""

    size: str
    learner: str
    regimen: str
    bias: str
    seed: int

    @classmethod
    def of(cls, run: Run) -> Block:
        """Return the block of a run."""
        return cls(run.size, run.learner, run.regimen, run.bias, run.seed)


@dataclass(frozen=True)
class Selection:
    """What was chosen.

    Attributes:
        runs: the chosen ones, sorted.
        dropped: the blocks that are left out, sorted.
        gpu_hours: what the chosen runs cost.
        whole: what all of the target costs, GPU-hours.
    """

    runs: tuple[Run, ...]
    dropped: tuple[Block, ...]
    gpu_hours: float
    whole: float


def choose(
    runs: Sequence[Run], jobs: Sequence[Job], gpu_seconds: Mapping[int, float], hours: float
) -> Selection:
    """Choose the largest balanced part of a target that fits.

    Args:
        runs: the target's.
        jobs: the target's, each after those that it needs.
        gpu_seconds: number of each job that would run -> GPU-seconds.
        hours: the budget.

    Raises:
        PoshgridError: not even one block fits.
    """
    blocks = sorted({Block.of(run) for run in runs}, key=_order)
    members = {block: [run for run in runs if Block.of(run) == block] for block in blocks}
    own = _own(runs, jobs)
    bundles = _bundles(blocks, (own[job.number] for job in jobs if job.rule == "together"))
    shares = _shares(jobs, own, gpu_seconds)
    whole = sum(shares.values())
    needed = shares.pop(frozenset(), 0.0)
    taken = _solve(members, bundles, shares, hours - needed)
    if not taken:
        least = needed + min(_cost(bundle, shares) for bundle in bundles)
        raise PoshgridError(
            f"--budget {hours:g}: no size and seed fits; the cheapest takes {least:,.1f} GPU-hours "
            "with all its conditions; raise the budget, or shorten the regimen"
        )
    return Selection(
        runs=tuple(sorted(run for block in taken for run in members[block])),
        dropped=tuple(block for block in blocks if block not in taken),
        gpu_hours=needed + _cost(taken, shares),
        whole=whole,
    )


def _order(block: Block) -> tuple[Any, ...]:
    return (words(block.size), block.learner, block.regimen, block.bias, block.seed)


def _own(runs: Sequence[Run], jobs: Sequence[Job]) -> dict[int, set[Block]]:
    """Return number of a job -> the blocks of its run, or of the runs whose null it is.

    Those of ``together`` are the blocks of all runs that it reads: the workflow asks for it where
    it asks for one of them, so that runs which share a GPU are trained all or none.
    """
    by_null: dict[tuple[Any, ...], set[Block]] = {}
    for run in runs:
        by_null.setdefault((run.condition, run.size), set()).add(Block.of(run))
        by_null.setdefault((run.condition, run.size, run.learner, run.seed), set()).add(
            Block.of(run)
        )
    known = set(runs)
    own: dict[int, set[Block]] = {}
    for job in jobs:
        own[job.number] = _named(job.wildcards, known, by_null)
        if job.rule == "together":
            own[job.number] = set().union(*(own[need] for need in job.needs))
    return own


def _bundles(blocks: Iterable[Block], ties: Iterable[set[Block]]) -> list[set[Block]]:
    """Return the blocks in sets, each to be chosen as a whole: those of a tie are in one."""
    bundles = [{block} for block in blocks]
    for tie in dict.fromkeys(map(frozenset, ties)):
        touched = [bundle for bundle in bundles if bundle & tie]
        bundles = [bundle for bundle in bundles if not bundle & tie]
        bundles += [set().union(*touched)] if touched else []
    return bundles


def _shares(
    jobs: Sequence[Job], own: Mapping[int, set[Block]], gpu_seconds: Mapping[int, float]
) -> dict[frozenset[Block], float]:
    """Return the GPU-hours of the jobs that the same blocks need: of any of these, all are paid.

    A job is needed by its own blocks, and by those of all jobs that need its results.
    """
    asked: dict[int, frozenset[Block]] = {}
    later: dict[int, set[Block]] = {}
    for job in reversed(jobs):
        asked[job.number] = frozenset(own[job.number] | later.pop(job.number, set()))
        for need in job.needs:
            later.setdefault(need, set()).update(asked[job.number])
    shares: dict[frozenset[Block], float] = {}
    for number, seconds in gpu_seconds.items():
        if seconds:
            key = asked[number]
            shares[key] = shares.get(key, 0.0) + seconds / HOUR
    return shares


def _named(
    wildcards: Mapping[str, str], known: set[Run], by_null: Mapping[tuple[Any, ...], set[Block]]
) -> set[Block]:
    """Return the blocks that a job's wildcards name."""
    if not {"condition", "size", "learner"} <= wildcards.keys():
        return set()
    condition, size, learner = (wildcards[axis] for axis in ("condition", "size", "learner"))
    regimen = wildcards.get("regimen", COUNTED)
    if regimen == UNTRAINED:
        return by_null.get((condition, size, learner, int(wildcards["seed"])), set())
    if regimen in REFERENCE:
        return by_null.get((condition, size), set())
    if "seed" not in wildcards:
        return set()
    run = Run(condition, size, learner, regimen, wildcards["bias"], int(wildcards["seed"]))
    return {Block.of(run)} if run in known else set()


def _cost(taken: set[Block], shares: Mapping[frozenset[Block], float]) -> float:
    return sum(hours for blocks, hours in shares.items() if blocks & taken)


def _solve(
    members: Mapping[Block, Sequence[Run]],
    bundles: Iterable[set[Block]],
    shares: Mapping[frozenset[Block], float],
    hours: float,
) -> set[Block]:
    """Solve three integer programs, each among the best of the one before."""
    import pulp

    if hours < 0:
        return set()
    blocks = list(members)
    program = pulp.LpProblem("budget", pulp.LpMaximize)
    take = {b: pulp.LpVariable(f"b{i}", cat=pulp.LpBinary) for i, b in enumerate(blocks)}
    for first, *others in (sorted(bundle, key=_order) for bundle in bundles):
        for other in others:
            program += take[first] == take[other]
    spent = []
    for number, (asking, cost) in enumerate(
        sorted(shares.items(), key=lambda s: sorted(map(_order, s[0])))
    ):
        # 1 as soon as one block asks for these jobs
        paid = pulp.LpVariable(f"p{number}", 0, 1)
        for block in asking:
            program += paid >= take[block]
        spent.append(cost * paid)
    total = pulp.lpSum(spent)
    program += total <= hours
    present = {}
    for number, size in enumerate(sorted({b.size for b in blocks}, key=words)):
        present[size] = pulp.LpVariable(f"s{number}", 0, 1)
        program += present[size] <= pulp.lpSum(take[b] for b in blocks if b.size == size)
    # Of blocks that cost alike, the first: the same plan every time.
    order = pulp.lpSum((i + 1) * take[b] for i, b in enumerate(blocks))
    runs = pulp.lpSum(len(members[b]) * take[b] for b in blocks)
    for objective, slack in ((runs, 0.5), (pulp.lpSum(present.values()), 0.5), (-total, _EXACT),
                             (-order, 0.5)):  # fmt: skip
        program.setObjective(objective)
        solver.solve(program, gapRel=0, gapAbs=0)
        if pulp.LpStatus[program.status] != "Optimal":
            raise PoshgridError(
                f"--budget: the integer program ended {pulp.LpStatus[program.status]!r}; report it"
            )
        program += objective >= pulp.value(objective) - slack
    return {block for block in blocks if take[block].value() > 0.5}


# ---- the overlay ----------------------------------------------------------------------------


def overlay(grid: Grid, target: str, selection: Selection) -> dict[str, Any]:
    """Return the configuration that, laid over the grid's own, leaves exactly the chosen runs.

    Dropped blocks become exclusions of the target's experiments, and ``all`` is these alone. Each
    whole experiment stays as ``{name}-whole``, a target of its own that ``all`` leaves out:
    corpora are cut for all sizes of all experiments, and so results that are there stay valid.
    """
    everything = target == "all"
    experiments = []
    for name, experiment in grid.experiments.items():
        mine = experiment.default if everything else name == target
        given = experiment.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
        if not mine:
            experiments.append(given | {"default": False})
            continue
        blocks = {Block.of(run) for run in grid.targets.get(name, [])}
        found = _exclusions(blocks, set(selection.dropped))
        changed = {key: value for key, value in given.items() if key != "default"}
        if found:
            changed["exclude"] = [*given.get("exclude", []), *found]
        experiments.append(changed)
        if found and name + WHOLE not in grid.experiments:
            experiments.append(given | {"name": name + WHOLE, "default": False})
    return {"experiments": experiments}


def _exclusions(blocks: set[Block], dropped: set[Block]) -> list[dict[str, Any]]:
    """Return the fewest words that drop these of an experiment's blocks: whole axes first."""
    left = sorted(blocks & dropped, key=_order)
    found: list[dict[str, Any]] = []
    for count in range(1, len(_AXES) + 1):
        for axes in itertools.combinations(_AXES, count):
            for block in list(left):
                if block not in left:
                    continue
                named = {axis: getattr(block, axis) for axis in axes}
                alike = {b for b in blocks if all(getattr(b, a) == v for a, v in named.items())}
                if alike <= dropped:
                    found.append(named)
                    left = [b for b in left if b not in alike]
    return found


class _Plain(yaml.SafeDumper):  # type: ignore[misc]  # PyYAML has no types
    """Writes what stands twice twice: anchors are no help to a reader."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def overlay_text(found: Mapping[str, Any], comment: Iterable[str]) -> str:
    """Return an overlay as YAML, under a comment."""
    head = "".join(f"# {line}".rstrip() + "\n" for line in comment)
    body = yaml.dump(
        dict(found), Dumper=_Plain, sort_keys=False, default_flow_style=None, width=100
    )
    return f"{head}\n{body}"
