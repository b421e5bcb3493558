"""``poshgrid doctor``: whether a SLURM cluster can start the jobs of a profile, including retries.

Snakemake reads the profile and builds the jobs; SLURM checks each kind of job with ``sbatch
--test-only``, which submits nothing. Jobs of a group are checked one by one.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poshgrid.core.errors import PoshgridError, did_you_mean
from poshgrid.planning import launch, plan, slurm
from poshgrid.planning.findings import Finding, error, ok, warning

PLUGIN, TESTED = "snakemake-executor-plugin-slurm", "2.8"
"""The executor plug-in, and the version that the profile was made with."""
RESOURCES = frozenset(
    {
        "slurm_account", "slurm_partition", "slurm_extra", "slurm_cluster", "cluster", "clusters",
        "runtime", "mem_mb", "mem_mb_per_cpu", "nodes", "tasks", "tasks_per_node", "tasks_per_gpu",
        "mpi", "mpi_tasks", "cpus_per_task", "cpus_per_gpu", "threads", "gpu", "gpu_model", "gres",
        "constraint", "qos",
        # Snakemake's own, and the workflow's
        "mem", "mem_mib", "disk", "disk_mb", "disk_mib", "tmpdir", "step",
    }
)  # fmt: skip
"""Resources that Snakemake, the plug-in (version 2.8) or the workflow reads."""


@dataclass(frozen=True)
class Request:
    """The resources that one attempt at a job requests.

    Attributes:
        rule: rule of the job.
        attempt: counted from 1.
        partition: requested partition; "": the cluster's default.
        minutes: time limit; 0: the partition's default.
        options: options of ``sbatch``, as the plug-in writes them.
    """

    rule: str
    attempt: int
    partition: str
    minutes: int
    options: str


def examine(
    profile: str, configs: Sequence[Path], target: str, results: Path | None
) -> list[Finding]:
    """Return all findings about a profile, errors first.

    Args:
        profile: as for ``snakemake --profile``.
        configs: as for ``--configfile``.
        target: target whose jobs are checked.
        results: another results folder than the configuration's; None: the configuration's.
    """
    findings = list(_check_slurm())
    reachable = all(finding.state != "error" for finding in findings)
    try:
        requests, rules, settings = job_requests(profile, configs, target, results)
    except PoshgridError as problem:
        findings += [error("profile", line) for line in problem.args]
    else:
        findings += _profile(settings, rules)
        if reachable:
            findings += fits(requests)
    return sorted(findings, key=lambda finding: ("error", "warning", "ok").index(finding.state))


def _check_slurm() -> Iterator[Finding]:
    """Yield whether SLURM answers, and whether the executor plug-in is installed."""
    try:
        for words in ("sbatch --version", "sinfo -h", "scontrol ping", "squeue -h --me"):
            slurm.run(*words.split())
        yield ok("SLURM", "sbatch, sinfo, scontrol and squeue answer")
    except PoshgridError as problem:
        yield error("SLURM", str(problem))
    version = importlib.metadata.version(PLUGIN)  # a dependency of poshgrid
    tested = version.startswith(f"{TESTED}.")
    yield (ok if tested else warning)("executor", f"{PLUGIN} {version}; {TESTED} was tested")


def job_requests(
    profile: str, configs: Sequence[Path], target: str, results: Path | None
) -> tuple[list[Request], list[str], Mapping[str, Any]]:
    """Return the requests of a target's jobs for each attempt, the workflow's rules, and settings.

    Existing results are ignored.

    Raises:
        PoshgridError: Snakemake cannot read the profile, or build the jobs.
    """
    from snakemake_interface_common.exceptions import WorkflowError

    words = ["--profile", profile]
    words += ["--configfile", *map(str, configs)] if configs else []
    words += ["--config", f"results={results}"] if results else []
    parser, args, _ = launch.parsed([*words, "--", target])

    def requests(workflow: Any) -> tuple[list[Request], list[str]]:  # noqa: ANN401 - Snakemake's
        requests: dict[Request, None] = {}
        for job in workflow.dag.jobs:
            if job.rule.norun or job.rule.name in workflow._localrules:
                continue
            for attempt in range(1, args.retries + 2):
                job.attempt = attempt
                try:
                    requests[_request(job, attempt)] = None
                except WorkflowError as problem:
                    raise PoshgridError(f"{profile}: {job.rule.name}: {problem}") from problem
        return list(requests), [rule.name for rule in workflow.rules]

    return *plan.graph(parser, args, requests), vars(args)


def _request(job: Any, attempt: int) -> Request:  # noqa: ANN401 - Snakemake's
    """Return the resources that the plug-in would request from ``sbatch``."""
    from snakemake_executor_plugin_slurm import submit_string, utils

    has = job.resources.get
    partition, account = (str(has(f"slurm_{word}") or "") for word in ("partition", "account"))
    facts = {
        "run_uuid": "doctor", "slurm_logfile": "/dev/null", "comment_str": "doctor", "workdir": "",
        "account": f"-A {shlex.quote(account)}" if account else "",
        "partition": f"-p {shlex.quote(partition)}" if partition else "",
    }  # fmt: skip
    command = submit_string.get_submit_command(job, facts) + utils.set_gres_string(job)
    # The text before it does not request resources
    options = command.partition("--comment doctor")[2]
    return Request(
        job.rule.name, attempt, partition, int(has("runtime") or 0), " ".join(options.split())
    )


def _profile(settings: Mapping[str, Any], rules: Sequence[str]) -> Iterator[Finding]:
    """Yield settings that Snakemake ignores silently, or that the plug-in cannot handle."""
    for key, value, why in (
        ("executor", "slurm", "all runs on this machine"),
        ("slurm-status-command", "squeue", "with sacct and without slurmdbd a run hangs silently"),
        ("slurm-array-jobs", None, "version 2.8 of the plug-in loses outputs with it"),
        ("cores", None, "it caps the threads of every job"),
    ):
        is_set = settings.get(key.replace("-", "_"))
        if (None if is_set is dataclasses.MISSING else is_set) != value:
            remedy = f"write `{key}: {value}`" if value else f"leave `{key}` out"
            yield error("profile", f"{key}: {why}", remedy)
    for section in ("set-resources", "set-threads", "groups"):
        yield from _unread(section, settings[section.replace("-", "_")], rules, "no such rule")
    places = {"default-resources": settings["default_resources"], **settings["set_resources"]}
    for part, words in places.items():
        yield from _unread(part, words, RESOURCES, "nobody reads it")


def _unread(
    section: str, words: Iterable[str] | None, known: Iterable[str], why: str
) -> Iterator[Finding]:
    for name in words or ():
        if name not in known:
            near = did_you_mean(name, known).lstrip("; ")
            yield error("profile", f"{section}: {name!r}: {why}", near)


def fits(requests: Sequence[Request]) -> Iterator[Finding]:
    """Yield an error for each rule that SLURM can never start, for the first such attempt.

    Args:
        requests: requests of jobs.
    """
    limits = slurm.partitions()
    wrong: set[str] = set()
    for request in sorted(requests, key=lambda request: (request.rule, request.attempt)):
        names = request.partition.split(",") if request.partition else [slurm.DEFAULT]
        have = [limits[name] for name in names if name in limits]
        if request.rule not in wrong and (why := _refused(request, [most for most, _ in have])):
            wrong.add(request.rule)
            there = " or ".join(what for _, what in have) or f"there are {', '.join(limits)}"
            what = f"{request.rule}, attempt {request.attempt} ({request.options}): {why}"
            yield error("fits", what, f"{there}; lower it in the profile")
    if right := sorted({request.rule for request in requests} - wrong):
        yield ok("fits", f"all attempts of {', '.join(right)}")


def _refused(request: Request, longest: Sequence[int | None]) -> str:
    """Return why SLURM can never start a job; "" if it can."""
    try:
        slurm.run("sbatch", *shlex.split(request.options), "--test-only", "--wrap", "true")
    except PoshgridError as problem:
        return str(problem).removeprefix("sbatch: ").removeprefix("allocation failure: ")
    # SLURM queues a job that is too long for its partition, and never starts it
    known = [minutes for minutes in longest if minutes is not None]
    if known and len(known) == len(longest) and request.minutes > max(known):
        return f"{request.minutes} minutes are too long"
    return ""
