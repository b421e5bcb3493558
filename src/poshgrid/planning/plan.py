"""A plan: the jobs that would run and why, as Snakemake decides, and the costs of training.

Snakemake decides, with :mod:`poshgrid.planning.current`. It is started as for a dry-run and ended
when its graph of jobs is built. No results or records are changed, and a workflow that runs at the
same time is not disturbed.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import logging
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar
from unittest.mock import patch

import typer

from poshgrid.config.runs import Run
from poshgrid.core import logs, resources
from poshgrid.core.errors import PoshgridError
from poshgrid.planning.costs import Costs
from poshgrid.planning.current import job_of

T = TypeVar("T")
MISSING, PARAMETER, CODE, INPUT, UPSTREAM, FORCED = (
    "missing", "parameter", "code", "input", "upstream", "forced",
)  # fmt: skip
"""Why a job would run (docs/running.md). ``input``: a file is newer or has changed, and no job of
the plan makes it. ``upstream``: an earlier job runs, which has its own reason."""
EXAMPLES, CHANGES = 2, 3
"""Numbers of cells and of configuration changes shown for each rule and reason."""
_LONGEST = 60  # characters of a value that is shown


@dataclass(frozen=True)
class Job:
    """One job of the graph.

    Attributes:
        rule: name of the rule.
        wildcards: the values that distinguish the job from others of its rule.
        reasons: such as :data:`MISSING`; () if the job's results are up to date.
        changes: changes of the configuration, e.g. ``options.recency.decay: 0.6 -> 0.5``.
    """

    rule: str
    wildcards: Mapping[str, str]
    reasons: tuple[str, ...]
    changes: tuple[str, ...]


class _Looked(BaseException):
    """Ends Snakemake when its graph of jobs was looked at; it reports other exceptions."""


def graph(parser: Any, args: Any, look: Callable[[Any], T]) -> T:  # noqa: ANN401 - Snakemake's
    """Build Snakemake's graph of jobs, with its reasons; return what a function makes of it.

    Args:
        parser: Snakemake's parser (:func:`poshgrid.planning.launch.parsed`).
        args: its arguments.
        look: a function of Snakemake's workflow.

    Raises:
        PoshgridError: Snakemake cannot plan the targets, e.g. because an input is missing that no
            job makes.
        SystemExit: the configuration is wrong, which is printed.
    """
    from snakemake import cli
    from snakemake.api import SnakemakeApi
    from snakemake.workflow import Workflow

    build, seen = Workflow._build_dag, list[T]()

    def build_and_look(workflow: Any) -> None:  # noqa: ANN401
        build(workflow)
        seen.append(look(workflow))
        raise _Looked

    def refuse(_: Any, error: Exception) -> None:  # noqa: ANN401
        if isinstance(error, PoshgridError):
            raise error
        targets = " ".join(args.targets or ["all"])
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise PoshgridError(
            f"{targets}: Snakemake cannot plan it: {'; '.join(lines[:4])}; "
            f"`poshgrid run -n -p {targets}` says more"
        ) from error

    here = Path("Snakefile").is_file()
    dry = {
        "dryrun": True, "executor": "local", "rerun_incomplete": True,  # as profiles do
        "cores": sys.maxsize,  # fewer would cap the threads of every job
        "snakefile": args.snakefile or (None if here else resources.shipped("Snakefile")),
    }  # fmt: skip
    disabled = logging.root.manager.disable
    logging.disable(logging.CRITICAL)  # what matters is in the graph
    try:
        with (
            patch.object(Workflow, "_build_dag", build_and_look),
            patch.object(SnakemakeApi, "print_exception", refuse),
        ):
            cli.args_to_api(argparse.Namespace(**vars(args) | dry), parser)
    except _Looked:
        return seen[0]
    finally:
        logging.disable(disabled)
    raise PoshgridError(f"{' '.join(args.targets)}: Snakemake builds no jobs for these arguments")


def read(workflow: Any) -> list[Job]:  # noqa: ANN401 - Snakemake's
    """Return the jobs of a graph that have outputs, each after the jobs that it needs."""
    dag = workflow.dag
    return [
        Job(
            rule=job.rule.name,
            wildcards=dict(job.wildcards_dict),
            reasons=tuple(_reasons(dag, job)),
            changes=tuple(_changes(dag, job)),
        )
        for level in dag.toposorted()
        for job in sorted(level, key=lambda job: (job.rule.name, *job.wildcards_dict.values()))
        if job.output and not job.rule.norun
    ]


def show(parser: Any, args: Any, device: str | None = None) -> None:  # noqa: ANN401 - Snakemake's
    """Print the jobs that would run, why, and the costs of training.

    Args:
        parser: Snakemake's parser (:func:`poshgrid.planning.launch.parsed`).
        args: its arguments.
        device: a device with a known speed (:mod:`poshgrid.planning.costs`); default: this
            machine's.

    Raises:
        PoshgridError: an unknown device, or Snakemake cannot plan the run.
    """
    planned, grid = graph(parser, args, lambda w: (read(w), w.globals.get("GRID")))
    again = [job for job in planned if job.reasons]
    typer.echo(
        f"{' '.join(args.targets or ['all'])}: {len(again):,} jobs would run, "
        f"{len(planned) - len(again):,} are up to date"
    )
    groups: dict[tuple[str, tuple[str, ...]], list[Job]] = {}
    for job in again:
        groups.setdefault((job.rule, job.reasons), []).append(job)
    # In the order in which the rules' first jobs can start
    order = list(dict.fromkeys(job.rule for job in planned))
    rows = []
    for rule, reasons in sorted(
        groups, key=lambda g: (order.index(g[0]), g[1][0] == UPSTREAM, g[1])
    ):
        jobs = groups[rule, reasons]
        changes = Counter(change for job in jobs for change in job.changes).most_common(CHANGES)
        cells = ["/".join(job.wildcards.values()) for job in jobs[:EXAMPLES]]
        examples = [*(change for change, _ in changes), *filter(None, cells)]
        rows.append((rule, ", ".join(reasons), "\n".join(examples), f"{len(jobs):,}"))
    if {reasons for _, reasons in groups} - {(MISSING,)}:
        logs.show("", ("rule", "why (docs/running.md)", "for instance", "jobs"), rows, labels=3)
    elif rows:
        logs.show("", ("rule", "jobs"), [(row[0], row[-1]) for row in rows])
    trained = [Run.of(SimpleNamespace(**job.wildcards)) for job in again if job.rule == "train"]
    if trained and grid:  # a user's own Snakefile may use this workflow as a module
        typer.echo(Costs(grid, device).total(trained))


def _reasons(dag: Any, job: Any) -> Iterator[str]:  # noqa: ANN401 - Snakemake's
    """Yield why a job would run, as words of poshgrid; nothing if it would not run."""
    if not dag.needrun(job):
        return
    reason = dag.reason(job)
    if reason.forced or reason.noio or reason.nooutput:
        yield FORCED  # or incomplete
        return
    now, before = job_of(job.params), _before(reason.params_changed)
    changed = (
        {key for key in {*now, *before} if now.get(key) != before.get(key)} if before else set()
    )
    # An input is not "newer" than a missing result; Snakemake reports that for later jobs.
    if reason.missing_output:
        yield MISSING
    if reason.params_changed and (not before or changed - {"code", "files"}):
        yield PARAMETER
    if reason.code_changed or reason.software_stack_changed or "code" in changed:
        yield CODE
    newer = reason.updated_input - reason.updated_input_run
    if reason.input_changed or "files" in changed or (newer and not reason.missing_output):
        yield INPUT
    if reason.updated_input_run and not reason.missing_output:
        yield UPSTREAM


def _before(changed: Any) -> dict[str, Any]:  # noqa: ANN401 - Snakemake's
    """Return the recorded job if it differs from the present one; else {}."""
    for value in changed.only_old if changed else ():
        with contextlib.suppress(ValueError, SyntaxError):
            return job_of({"job": ast.literal_eval(value)})
    return {}


def _changes(dag: Any, job: Any) -> Iterator[str]:  # noqa: ANN401 - Snakemake's
    """Yield the changes in a job's slice of the configuration: ``key: old -> new``."""
    before = _before(dag.reason(job).params_changed) if dag.needrun(job) else {}
    if before:
        yield from differences(before.get("spec"), job_of(job.params).get("spec"))


def differences(old: object, new: object, prefix: str = "") -> Iterator[str]:
    """Yield ``key: old -> new`` for every value that differs between two configurations."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            where = f"{prefix}.{key}" if prefix else str(key)
            yield from differences(old.get(key), new.get(key), where)
    elif old != new:
        shown = (textwrap.shorten(json.dumps(value), _LONGEST) for value in (old, new))
        yield f"{prefix}: {' -> '.join(shown)}"
