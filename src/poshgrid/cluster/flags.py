"""Run by :mod:`poshgrid.cluster.sbatch`: what each job of a workflow would ask SLURM for.

Snakemake itself reads the profile and builds the jobs; where it would begin to start them, this
steps in. The flags are those of the executor plug-in's own code. Nothing is started or locked.

``python -m poshgrid.cluster.flags OUTPUT ARGUMENT ...`` takes Snakemake's arguments.
"""

from __future__ import annotations

import json
import logging
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from poshgrid.errors import PoshgridError
from poshgrid.grid import launch

_SILENT = logging.getLogger("poshgrid.cluster.silent")
_NAMES = {"run_uuid": "RUN", "slurm_logfile": "LOG", "comment_str": "RULE"}
_PREFIX = "sbatch --parsable --job-name RUN --output LOG --export=ALL --comment RULE"


def main() -> None:
    """Write the requests of a workflow's jobs as JSON."""
    output, *arguments = sys.argv[1:]
    Path(output).write_text(json.dumps(_collect(arguments), default=str), encoding="utf-8")


def _collect(arguments: list[str]) -> dict[str, Any]:
    from snakemake.cli import args_to_api  # isort: skip - first: they import each other
    from snakemake import workflow as module
    from snakemake_interface_executor_plugins.registry import ExecutorPluginRegistry

    try:
        parser, args = launch.parsed(arguments)
    except PoshgridError as error:
        raise SystemExit(f"error: {error}") from error
    cores = args.cores
    found: dict[str, Any] = {}

    def instead(workflow: Any, *_: object) -> None:  # noqa: ANN401 - Snakemake has no types
        plugin = ExecutorPluginRegistry().get_plugin(args.executor)
        settings = plugin.get_settings(args)
        # A dry-run takes the executor and the number of cores of a laptop.
        workflow._executor_plugin = plugin
        workflow.global_resources["_cores"] = cores
        attempts = sorted({1, args.retries + 1})
        found.update(
            rules=_rules(workflow),
            unused=_unused(workflow),
            jobs=list(_jobs(workflow.dag, settings, attempts)) if args.executor == "slurm" else [],
        )
        raise SystemExit(0)

    module.JobScheduler = instead  # called when all jobs are known and none has started
    try:
        done = args_to_api(args, parser)
    except SystemExit:
        done = bool(found)
    if not found and not done:
        raise SystemExit(1)  # Snakemake has said why
    return found


def _rules(workflow: Any) -> dict[str, list[str]]:  # noqa: ANN401 - Snakemake has no types
    """Return rule -> the resources that its command uses."""
    return {
        rule.name: sorted(set(re.findall(r"resources\.(\w+)", str(rule.shellcmd or ""))))
        for rule in workflow.rules
    }


def _unused(workflow: Any) -> list[str]:  # noqa: ANN401 - Snakemake has no types
    """Return the default resources that no rule takes, as each has its own."""
    settings = workflow.resource_settings
    taken = {
        name
        for rule in workflow.rules
        if not workflow.is_local(rule)
        for name in set(rule.resources) - set(settings.overwrite_resources.get(rule.name, ()))
        if rule.resources[name].raw == settings._parsed_default_resources.get(name).raw
    }
    return sorted(set(settings._parsed_default_resources) - taken)


def _jobs(dag: Any, settings: Any, attempts: list[int]) -> Iterator[dict[str, Any]]:  # noqa: ANN401
    """Yield the kinds of jobs: those of a rule or group that ask for the same; their number."""
    request = _requests(settings)
    seen: dict[str, dict[str, Any]] = {}
    for name, rules, job in _submitted(dag):
        asked = {}
        for attempt in attempts:
            job.attempt = attempt
            asked[str(attempt)] = request(job)
        kind = {"name": name, "rules": rules, "attempts": asked}
        key = json.dumps(kind, default=str, sort_keys=True)
        seen.setdefault(key, {**kind, "count": 0})["count"] += 1
    yield from seen.values()


def _submitted(dag: Any) -> Iterator[tuple[str, dict[str, int], Any]]:  # noqa: ANN401 - no types
    """Yield what SLURM gets: single jobs, and each group once."""
    groups = set()
    for job in dag.needrun_jobs():
        if job.is_local:
            continue
        group = dag.get_job_group(job)
        if group is None:
            yield job.rule.name, {job.rule.name: 1}, job
        elif id(group) not in groups:
            groups.add(id(group))
            yield job.group, Counter(sorted(each.rule.name for each in group.jobs)), group


def _requests(settings: Any) -> Callable[[Any], dict[str, Any]]:  # noqa: ANN401 - no types
    """Return the function that says what a job asks for."""
    from snakemake_executor_plugin_slurm import Executor
    from snakemake_executor_plugin_slurm.partitions import read_partition_file
    from snakemake_executor_plugin_slurm.submit_string import get_submit_command
    from snakemake_executor_plugin_slurm.utils import set_gres_string
    from snakemake_executor_plugin_slurm.validation import validate_slurm_extra

    path = settings.partition_config
    # Its fallback would ask SLURM for the default partition: nothing given, nothing said.
    asker = SimpleNamespace(
        _partitions=read_partition_file(path) if path else None,
        _fallback_partition="",
        logger=_SILENT,
    )

    def request(job: Any) -> dict[str, Any]:  # noqa: ANN401 - no types
        try:
            has = job.resources.get  # of a group: its rules may not go together
            account = _first(re.split(r"[,\s]+", str(has("slurm_account") or "")))
            validate_slurm_extra(job)
            partition = Executor.get_partition_arg(asker, job)
            given = {"account": f"-A {account}" if account else "", "partition": partition.strip()}
            call = get_submit_command(job, {**_NAMES, **given, "workdir": None}, settings)
            gres = set_gres_string(job)
        except Exception as error:
            return {"error": " ".join(str(error).split()) or type(error).__name__}
        placed = [given["account"], given["partition"], gres.strip()]
        placed += re.findall(r"(?<=\s)(?:--qos=\S+|--reservation=\S+|-C \S+|--clusters \S+)", call)
        return {
            "flags": " ".join((call.removeprefix(_PREFIX) + gres).split()),
            "placement": " ".join(part for part in placed if part),
            "partition": partition.removeprefix(" -p ").strip("'"),
            "account": account,
            "cpus": has("cpus_per_task") or job.threads,
            "mem_mb": has("mem_mb"),
            "mem_mb_per_cpu": has("mem_mb_per_cpu"),
            "runtime": has("runtime"),
            "gres": str(has("gres") or ""),
            "gpu": has("gpu") or (1 if has("gpu_model") else 0),
            "gpu_model": has("gpu_model") or "",
            "step": has("step") or "",
        }

    return request


def _first(words: Iterable[str]) -> str:
    return next((word for word in words if word), "")


if __name__ == "__main__":
    main()
