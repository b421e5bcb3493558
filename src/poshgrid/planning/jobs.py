"""The jobs of a target, and Snakemake's decision about each: whether it runs, and why.

Snakemake decides, with :mod:`poshgrid.planning.current`. Its workflow is loaded and its graph of
jobs is built as for a dry-run; the reasons are read from the graph. No results or records are
changed, and a workflow that runs at the same time is not disturbed.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import logging
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poshgrid import resources
from poshgrid.errors import PoshgridError
from poshgrid.planning.current import job_of

MISSING, INCOMPLETE, PARAMETER, CODE, INPUT, ENVIRONMENT, UPSTREAM, FORCED = (
    "missing", "incomplete", "parameter", "code", "input", "environment", "upstream", "forced",
)  # fmt: skip
"""Why a job would run (docs/running.md). ``input``: a file is newer or has changed, and no job of
the
plan makes it. ``upstream``: an earlier job runs, which has its own reason."""
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

    @property
    def cell(self) -> str:
        """The job's name in tables: its wildcards, e.g. ``baby-f/10M``."""
        return "/".join(self.wildcards.values())


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


@contextlib.contextmanager
def graph(args: Any) -> Iterator[tuple[Any, list[str]]]:  # noqa: ANN401 - Snakemake's
    """Build Snakemake's graph of jobs, with its reasons; yield its workflow and its printed lines.

    Args:
        args: parsed arguments of Snakemake (:func:`poshgrid.planning.launch.parsed`).

    Raises:
        PoshgridError: Snakemake cannot plan the targets, e.g. because an input is missing that no
            job makes.
    """
    from snakemake.api import SnakemakeApi
    from snakemake.cli import parse_config
    from snakemake.exceptions import RuleException
    from snakemake.settings.types import (
        ConfigSettings,
        DAGSettings,
        OutputSettings,
        Quietness,
        ResourceSettings,
    )
    from snakemake_interface_common.exceptions import ApiError, WorkflowError
    from snakemake_interface_executor_plugins.registry import ExecutorPluginRegistry

    quiet = OutputSettings(dryrun=True, quiet={Quietness.ALL}, enable_file_logging=False)
    printed = io.StringIO()
    targets = " ".join(args.targets or ["all"])
    here = Path("Snakefile")
    try:
        with SnakemakeApi(quiet) as api, contextlib.redirect_stderr(printed), _silent():
            workflow = api.workflow(
                resource_settings=ResourceSettings(
                    cores=sys.maxsize,  # fewer would cap the threads of every job
                    overwrite_threads=args.set_threads,
                    overwrite_resources=args.set_resources,
                    default_resources=args.default_resources,
                ),
                config_settings=ConfigSettings(
                    config=parse_config(args.config),
                    configfiles=[path.absolute() for path in args.configfile or ()],
                ),
                snakefile=args.snakefile
                or (here.absolute() if here.is_file() else resources.shipped("Snakefile")),
                workdir=args.directory or Path.cwd(),
            )
            # The same steps as in a dry-run, without printing. With `force_incomplete`, incomplete
            # results are made again, as in the profiles.
            workflow.dag(
                DAGSettings(
                    targets=frozenset(args.targets or ()), forcetargets=args.force,
                    forceall=args.forceall, forcerun=args.forcerun, until=args.until,
                    omit_from=args.omit_from, rerun_triggers=args.rerun_triggers,
                    force_incomplete=True,
                )
            )  # fmt: skip
            loaded = workflow._workflow
            # The rules read it: only a real run writes long arguments to a file.
            loaded._executor_plugin = ExecutorPluginRegistry().get_plugin("dryrun")
            loaded._prepare_dag(
                forceall=args.forceall, ignore_incomplete=False, lock_warn_only=True
            )
            loaded._build_dag()
            yield loaded, printed.getvalue().splitlines()
    except (WorkflowError, RuleException, ApiError) as error:
        lines = [line for line in str(error).splitlines() if line.strip()]
        reason = "; ".join(line.strip() for line in lines[:4])
        raise PoshgridError(
            f"{targets}: Snakemake cannot plan it: {reason}; `poshgrid run -n -p {targets}` says "
            "more"
        ) from error
    except SystemExit as error:  # the Snakefile rejects the configuration
        lines = printed.getvalue().splitlines()
        errors = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
        raise PoshgridError(*(errors or [f"{targets}: the workflow cannot be read"])) from error


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Suppress Snakemake's log: what matters is raised as an error or is in the graph."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


def _reasons(dag: Any, job: Any) -> Iterator[str]:  # noqa: ANN401 - Snakemake's
    """Yield why a job would run, as words of poshgrid; nothing if it would not run."""
    if not dag.needrun(job):
        return
    reason = dag.reason(job)
    if reason.forced:
        yield INCOMPLETE  # a stale job is also forced, but has another reason
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
    if reason.code_changed or "code" in changed:
        yield CODE
    newer = reason.updated_input - reason.updated_input_run
    if reason.input_changed or "files" in changed or (newer and not reason.missing_output):
        yield INPUT
    if reason.software_stack_changed:
        yield ENVIRONMENT
    if reason.updated_input_run and not reason.missing_output:
        yield UPSTREAM
    if reason.noio or reason.nooutput:
        yield FORCED


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
