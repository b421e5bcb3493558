"""The jobs of a target, and what Snakemake would do with each: run it, and why, or leave it.

The decision is Snakemake's own, with :mod:`poshgrid.planning.current`. Its workflow is loaded and
its graph of jobs is built as for a dry-run (``snakemake -n --rerun-incomplete``); the reasons are
read from the graph. Nothing of
results or records is changed, and a workflow that runs meanwhile is not disturbed.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import logging
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poshgrid import resources
from poshgrid.errors import PoshgridError

MISSING, INCOMPLETE, PARAMETER, CODE, INPUT, ENVIRONMENT, UPSTREAM, FORCED = (
    "missing", "incomplete", "parameter", "code", "input", "environment", "upstream", "forced",
)  # fmt: skip
"""Why a job would run (docs/planning.md). ``input``: a file is newer, or another one, and no job of
the plan makes it. ``upstream``: a job before it runs; the reason is that job's."""
_LONGEST = 60  # characters of a value that is shown


@dataclass(frozen=True)
class Job:
    """One job of the graph.

    Attributes:
        rule: name of the rule.
        wildcards: what makes the job one of its rule's.
        reasons: such as :data:`MISSING`; none: the job's results are up to date.
        changes: what of the configuration has changed, e.g. ``options.recency.decay: 0.6 -> 0.5``.
    """

    rule: str
    wildcards: Mapping[str, str]
    reasons: tuple[str, ...]
    changes: tuple[str, ...]

    @property
    def cell(self) -> str:
        """What stands for the job in tables: its wildcards, e.g. ``baby-f/10M``."""
        return "/".join(self.wildcards.values())


def snakefile() -> Path:
    """Return the workflow's entry: that of this folder, else the package's."""
    here = Path("Snakefile")
    return here.absolute() if here.is_file() else resources.shipped("Snakefile")


def read(files: Sequence[Path], target: str, results: Path | None = None) -> list[Job]:
    """Ask Snakemake for the jobs of a target.

    Args:
        files: configuration files; the later change the earlier.
        target: an experiment, or ``all``.
        results: another results folder than the configuration's.

    Returns:
        The jobs that make something, each after those that it needs.

    Raises:
        PoshgridError: Snakemake cannot plan the target, e.g. because an input that no job makes
            is missing.
    """
    with graph(files, target, results) as workflow:
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
def graph(
    files: Sequence[Path],
    target: str,
    results: Path | None,
    asked: Mapping[str, Any] | None = None,
) -> Iterator[Any]:
    """Build Snakemake's graph of a target's jobs, with its reasons; yield its workflow.

    Args:
        files: configuration files; the later change the earlier.
        target: an experiment, or ``all``.
        results: another results folder than the configuration's.
        asked: resources and threads of a profile, as ``ResourceSettings`` takes them.
    """
    from snakemake.api import SnakemakeApi
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
    said = io.StringIO()
    try:
        with SnakemakeApi(quiet) as api, contextlib.redirect_stderr(said), _silent():
            workflow = api.workflow(
                # Fewer cores would cap the threads of every job.
                resource_settings=ResourceSettings(cores=sys.maxsize, **(asked or {})),
                config_settings=ConfigSettings(
                    config={"results": str(results)} if results else {},
                    configfiles=[path.absolute() for path in files],
                ),
                snakefile=snakefile(),
                workdir=Path.cwd(),
            )
            # What a dry-run does before it prints. `ignore_incomplete` and `force_incomplete`:
            # half-made results are made again, as the profiles ask.
            workflow.dag(DAGSettings(targets=frozenset({target}), force_incomplete=True))
            loaded = workflow._workflow
            # The rules ask for it: long arguments are written to a file by a real run alone.
            loaded._executor_plugin = ExecutorPluginRegistry().get_plugin("dryrun")
            loaded._prepare_dag(forceall=False, ignore_incomplete=False, lock_warn_only=True)
            loaded._build_dag()
            yield loaded
    except (WorkflowError, RuleException, ApiError) as error:
        lines = [line for line in str(error).splitlines() if line.strip()]
        reason = "; ".join(line.strip() for line in lines[:4])
        raise PoshgridError(
            f"{target}: Snakemake cannot plan it: {reason}; `snakemake -n {target}` says more"
        ) from error
    except SystemExit as error:  # the Snakefile refuses the configuration
        lines = said.getvalue().splitlines()
        errors = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
        raise PoshgridError(*(errors or [f"{target}: the workflow cannot be read"])) from error


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Keep Snakemake's log to itself: what it has to say comes as an error or in the graph."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


def _reasons(dag: Any, job: Any) -> Iterator[str]:  # noqa: ANN401 - Snakemake's
    """Yield why a job would run, in our words; nothing where it would not."""
    if not dag.needrun(job):
        return
    reason = dag.reason(job)
    if reason.forced:
        yield INCOMPLETE  # of a stale job, which is forced too, the reason is known
        return
    changed = reason.params_changed
    by_code = bool(changed) and repr(job.params.get("code")) in changed.only_new
    by_given = bool(changed) and repr(job.params.get("given")) in changed.only_new
    # Of a result that is not there, nothing is newer: Snakemake looks at what would follow from it.
    if reason.missing_output:
        yield MISSING
    if changed and (changed.only_new | changed.only_old) - _digests(job, changed):
        yield PARAMETER
    if reason.code_changed or by_code:
        yield CODE
    newer = reason.updated_input - reason.updated_input_run
    if reason.input_changed or by_given or (newer and not reason.missing_output):
        yield INPUT
    if reason.software_stack_changed:
        yield ENVIRONMENT
    if reason.updated_input_run and not reason.missing_output:
        yield UPSTREAM
    if reason.noio or reason.nooutput:
        yield FORCED


def _digests(job: Any, changed: Any) -> set[str]:  # noqa: ANN401 - Snakemake's
    """Return the digests among the changed values: new ones, and old ones like them."""
    new: set[str] = {repr(job.params.get(name)) for name in ("code", "given")} & changed.only_new
    lengths = {len(value) - 2 for value in new}
    return new.union(old for old in changed.only_old
                     if len(old) - 2 in lengths and re.fullmatch("'[0-9a-f]*'", old))  # fmt: skip


def _changes(dag: Any, job: Any) -> Iterator[str]:  # noqa: ANN401 - Snakemake's
    """Yield what of a job's slice of the configuration has changed: ``key: old -> new``."""
    changed = dag.reason(job).params_changed
    if dag.needrun(job) and changed:
        old, new = (list(filter(None, map(_slice, sorted(values))))
                    for values in (changed.only_old, changed.only_new))  # fmt: skip
        if len(old) == len(new) == 1:
            yield from differences(old[0], new[0])


def _slice(value: str) -> dict[str, Any] | None:
    """Return the slice that a recorded parameter is; none: it is another parameter."""
    with contextlib.suppress(ValueError, SyntaxError):
        content = json.loads(ast.literal_eval(value))
        return content if isinstance(content, dict) else None
    return None


def differences(old: object, new: object, place: str = "") -> Iterator[str]:
    """Yield ``key: old -> new`` for every value in which two slices of a configuration differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            where = f"{place}.{key}" if place else str(key)
            yield from differences(old.get(key), new.get(key), where)
    elif old != new:
        shown = (textwrap.shorten(json.dumps(value), _LONGEST) for value in (old, new))
        yield f"{place}: {' -> '.join(shown)}"
