"""``poshgrid doctor``: whether a SLURM cluster can start what a profile asks for, retries included.

Snakemake reads the profile and builds the jobs; SLURM is asked about each kind of job with
``sbatch --test-only``, and submits nothing. Jobs of a group are looked at one by one.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import io
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from poshgrid.cluster import slurm
from poshgrid.config import yamltext
from poshgrid.errors import PoshgridError, did_you_mean
from poshgrid.grid import launch
from poshgrid.planning import jobs
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
"""Resources that somebody reads (version 2.8 of the plug-in; a test compares with its code)."""
_SHOWN = ("-t", "--mem", "--mem-per-cpu", "-c", "--cpus-per-task", "--gpus", "--gres", "-p", "-C")


@dataclass(frozen=True)
class Request:
    """What one attempt at a job asks for.

    Attributes:
        rule: of the job.
        attempt: counted from 1.
        partition: asked for; "": the cluster's default.
        minutes: of its time limit; 0: the partition's default.
        options: of ``sbatch``.
    """

    rule: str
    attempt: int
    partition: str
    minutes: int
    options: tuple[str, ...]

    def __str__(self) -> str:
        pairs = zip(self.options, [*self.options[1:], ""], strict=True)
        shown = [f"{a} {b}" if a in _SHOWN else a for a, b in pairs
                 if a in _SHOWN or a.partition("=")[0] in _SHOWN]  # fmt: skip
        return f"{self.rule}, attempt {self.attempt} ({' '.join(shown)})"


def examine(
    profile: str, configs: Sequence[Path], target: str, results: Path | None
) -> list[Finding]:
    """Return what is wrong, errors first, and what is right.

    Args:
        profile: as for ``snakemake --profile``.
        configs: as for ``--configfile``.
        target: whose jobs are looked at.
        results: another results folder than the configuration's.
    """
    findings = list(_here())
    reachable = all(finding.state != "error" for finding in findings)
    try:
        path, settings = read(profile)
        requests, rules = asked(path, configs, target, results)
    except PoshgridError as problem:
        findings += [error("profile", line) for line in problem.args]
    else:
        findings += _profile(settings, rules)
        if reachable:
            findings += fits(requests)
    return sorted(findings, key=lambda finding: ("error", "warning", "ok").index(finding.state))


def _here() -> Iterator[Finding]:
    """Yield whether SLURM answers, and whether the executor plug-in is there."""
    try:
        for words in ("sbatch --version", "sinfo -h", "scontrol ping", "squeue -h --me"):
            slurm.run(*words.split())
        yield ok("SLURM", "sbatch, sinfo, scontrol and squeue answer")
    except PoshgridError as problem:
        yield error("SLURM", str(problem))
    version = importlib.metadata.version(PLUGIN)  # a dependency of ours
    tested = version.startswith(f"{TESTED}.")
    yield (ok if tested else warning)("executor", f"{PLUGIN} {version}; {TESTED} was tested")


def read(name: str) -> tuple[Path, dict[str, Any]]:
    """Return the file of a profile and what it says, found as ``snakemake --profile`` finds it.

    Raises:
        PoshgridError: there is none, or it holds no mapping.
    """
    from snakemake.cli import get_profile_dir

    folder = get_profile_dir(name)
    if folder is None:
        raise PoshgridError(f"{name}: no such profile; give a path, e.g. profiles/slurm")
    path = Path(str(folder[1]))
    try:
        return path, dict(yamltext.parse(yamltext.read(path)))
    except (OSError, ValueError, TypeError, yaml.YAMLError, yamltext.UnboundedError) as broken:
        why = " ".join(str(broken).split())
        raise PoshgridError(f"{path}: no `key: value` pairs of YAML: {why}") from broken


def asked(
    profile: Path, configs: Sequence[Path], target: str, results: Path | None
) -> tuple[list[Request], list[str]]:
    """Return what a target's jobs ask for on each attempt, and the workflow's rules.

    Results that are there do not matter.

    Raises:
        PoshgridError: Snakemake cannot read the profile, or build the jobs.
    """
    from snakemake_interface_common.exceptions import WorkflowError

    said = io.StringIO()
    words = ["--configfile", *map(str, configs)] if configs else []
    try:
        with contextlib.redirect_stderr(said):
            _, args = launch.parsed(["--profile", str(profile), *words])
    except SystemExit as refused:
        reason = said.getvalue().strip().splitlines()[-1:]
        raise PoshgridError(f"{profile}: Snakemake refuses it: {' '.join(reason)}") from refused
    settings = {
        "overwrite_threads": args.set_threads,
        "overwrite_resources": args.set_resources,
        "default_resources": args.default_resources,
    }
    requests: dict[Request, None] = {}
    files = [Path(path) for path in args.configfile or ()]
    with jobs.graph(files, target, results, settings) as workflow:
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


def _request(job: Any, attempt: int) -> Request:  # noqa: ANN401 - Snakemake's
    """Return what the plug-in would ask ``sbatch`` for."""
    from snakemake_executor_plugin_slurm import submit_string, utils

    has = job.resources.get
    partition = str(has("slurm_partition") or "")
    facts = {
        "run_uuid": "doctor", "slurm_logfile": "/dev/null", "comment_str": "doctor", "workdir": "",
        "account": f"-A {shlex.quote(str(has('slurm_account')))}" if has("slurm_account") else "",
        "partition": f"-p {shlex.quote(partition)}" if partition else "",
    }  # fmt: skip
    command = submit_string.get_submit_command(job, facts) + utils.set_gres_string(job)
    return Request(
        job.rule.name, attempt, partition, int(has("runtime") or 0), tuple(shlex.split(command)[1:])
    )


def _profile(settings: Mapping[str, Any], rules: Sequence[str]) -> Iterator[Finding]:
    """Yield what Snakemake ignores silently, and what the plug-in cannot handle."""
    for key, value, why in (
        ("executor", "slurm", "all runs on this machine"),
        ("slurm-status-command", "squeue", "with sacct and without slurmdbd a run hangs silently"),
        ("slurm-array-jobs", None, "version 2.8 of the plug-in loses outputs with it"),
        ("cores", None, "it caps the threads of every job"),
    ):
        if settings.get(key) != value:
            remedy = f"write `{key}: {value}`" if value else f"leave `{key}` out"
            yield error("profile", f"{key}: {why}", remedy)
    for section in ("set-resources", "set-threads", "groups"):
        yield from _unread(section, settings.get(section), rules, "no such rule")
    yield from _unread("default-resources", settings.get("default-resources"), RESOURCES)
    for rule, words in (settings.get("set-resources") or {}).items():
        yield from _unread(f"set-resources: {rule}", words, RESOURCES)


def _unread(
    place: str, words: Iterable[str] | None, known: Iterable[str], why: str = "nobody reads it"
) -> Iterator[Finding]:
    for word in words or ():
        name = str(word).partition("=")[0]
        if name not in known:
            near = did_you_mean(name, known).lstrip("; ")
            yield error("profile", f"{place}: {name!r}: {why}", near)


def fits(requests: Sequence[Request]) -> Iterator[Finding]:
    """Yield an error for each rule that SLURM can never start, at the first attempt of that kind.

    Args:
        requests: of jobs.
    """
    limits = slurm.partitions()
    wrong: set[str] = set()
    for request in sorted(requests, key=lambda request: (request.rule, request.attempt)):
        names = request.partition.split(",") if request.partition else [slurm.DEFAULT]
        have = [limits[name] for name in names if name in limits]
        if request.rule not in wrong and (why := _refused(request, [most for most, _ in have])):
            wrong.add(request.rule)
            there = " or ".join(what for _, what in have) or f"there are {', '.join(limits)}"
            yield error("fits", f"{request}: {why}", f"{there}; lower it in the profile")
    if right := sorted({request.rule for request in requests} - wrong):
        yield ok("fits", f"all attempts of {', '.join(right)}")


def _refused(request: Request, longest: Sequence[int | None]) -> str:
    """Return why SLURM can never start a job; "": it can."""
    try:
        slurm.run("sbatch", *request.options, "--test-only", "--wrap", "true")
    except PoshgridError as problem:
        return str(problem).removeprefix("sbatch: ").removeprefix("allocation failure: ")
    # A job that is too long for its partition is queued, and stays there
    known = [minutes for minutes in longest if minutes is not None]
    if known and len(known) == len(longest) and request.minutes > max(known):
        return f"{request.minutes} minutes are too long"
    return ""
