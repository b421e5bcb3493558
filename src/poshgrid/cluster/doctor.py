"""``poshgrid doctor``: whether a SLURM cluster can start what a profile asks for, retries included.

Snakemake reads the profile and builds the jobs; nothing is submitted. Jobs of a group are looked at
one by one.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from poshgrid.cluster import slurm
from poshgrid.cluster.slurm import Node, Partition
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


@dataclass(frozen=True)
class Request:
    """What one attempt at a job asks for; 0 or ``""``: what the cluster gives."""

    rule: str
    attempt: int
    partition: str
    minutes: int
    memory_mb: int
    cpus: int
    devices: tuple[tuple[tuple[str, str], int], ...]  # (name, type), number
    step: bool  # whether its work is a step of its own
    signal: bool  # whether SLURM warns it before its time is over


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
        path, given = read(profile)
        requests, rules = asked(path, configs, target, results)
    except PoshgridError as problem:
        findings += [error("profile", line) for line in problem.args]
    else:
        findings += _profile(given, rules, requests)
        if reachable:
            findings += fits(requests, slurm.nodes(), slurm.partitions())
    return sorted(findings, key=lambda found: ("error", "warning", "ok").index(found.state))


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

    found = get_profile_dir(name)
    if found is None:
        raise PoshgridError(f"{name}: no such profile; give a path, e.g. profiles/slurm")
    path = Path(str(found[1]))
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
                requests[_request(job, attempt)] = None
        return list(requests), [rule.name for rule in workflow.rules]


def _request(job: Any, attempt: int) -> Request:  # noqa: ANN401 - Snakemake's
    has = job.resources.get
    cpus = int(has("cpus_per_task") or job.threads)
    devices = slurm.generic(str(has("gres") or "").strip("'"))
    if has("gpu") or has("gpu_model"):
        devices["gpu", str(has("gpu_model") or "")] = int(has("gpu") or 1)
    return Request(
        rule=job.rule.name,
        attempt=attempt,
        partition=str(has("slurm_partition") or ""),
        minutes=int(has("runtime") or 0),
        memory_mb=int(has("mem_mb_per_cpu") or 0) * cpus or int(has("mem_mb") or 0),
        cpus=cpus,
        devices=tuple(devices.items()),
        step=bool(has("step")),
        signal="--signal" in str(has("slurm_extra") or ""),
    )


def _profile(
    given: Mapping[str, Any], rules: Sequence[str], requests: Sequence[Request]
) -> Iterator[Finding]:
    """Yield what Snakemake ignores silently, and what the plug-in cannot handle."""
    if any(each.rule == "train" and each.step and not each.signal for each in requests):
        what = "train has `step` and no --signal: it loses its last steps when its time is over"
        yield error("profile", what, "add --signal=USR1@120 to `slurm_extra` of train")
    if given.get("executor") != "slurm":
        yield error("profile", "all runs on this machine", "write `executor: slurm`")
    if given.get("slurm-status-command") != "squeue":
        yield error("profile", "with sacct and without slurmdbd a run hangs silently",
                    "write `slurm-status-command: squeue`")  # fmt: skip
    if given.get("slurm-array-jobs"):
        yield error("profile", "slurm-array-jobs: version 2.8 of the plug-in loses outputs with it",
                    "leave it out")  # fmt: skip
    if "cores" in given:
        yield warning("profile", "cores caps the threads of every job", "leave `cores` out")
    for section in ("set-resources", "set-threads", "groups"):
        for name in set(given.get(section) or ()) - set(rules):
            near = did_you_mean(str(name), rules).lstrip("; ")
            yield error("profile", f"{section}: no rule {name!r}: Snakemake ignores it", near)
    for rule, resources in {"": given.get("default-resources"),
                            **(given.get("set-resources") or {})}.items():  # fmt: skip
        for word in resources or ():
            name = str(word).partition("=")[0]
            if name not in RESOURCES:
                place = f"set-resources: {rule}" if rule else "default-resources"
                near = did_you_mean(name, RESOURCES).lstrip("; ")
                yield error("profile", f"{place}: nobody reads {name!r}", near)


def fits(
    requests: Sequence[Request], nodes: Sequence[Node], partitions: Mapping[str, Partition]
) -> Iterator[Finding]:
    """Yield an error for each rule and fault of a request, at the first attempt that has it.

    A job that no node and no partition can take waits for ever, or is refused.

    Args:
        requests: of jobs.
        nodes: of the cluster, once for each partition that they are in.
        partitions: of the cluster.
    """
    wrong: dict[tuple[str, str], Finding] = {}
    for request in sorted(requests, key=lambda each: (each.rule, each.attempt)):
        for resource, what, remedy in _faults(request, nodes, partitions):
            said = f"{request.rule}, attempt {request.attempt}: {what}"
            wrong.setdefault((request.rule, resource), error("fits", said, remedy))
    yield from wrong.values()
    right = sorted({each.rule for each in requests} - {rule for rule, _ in wrong})
    if right:
        yield ok("fits", f"all attempts of {', '.join(right)}")


def _faults(
    request: Request, nodes: Sequence[Node], partitions: Mapping[str, Partition]
) -> list[tuple[str, str, str]]:
    """Return (resource, what is wrong, remedy) of a request; none: a partition takes it."""
    default = next((each.name for each in partitions.values() if each.default), "")
    faults: list[tuple[str, str, str]] = []
    for name in (request.partition or default).split(","):
        if name not in partitions:
            near = did_you_mean(name, partitions).lstrip("; ")
            faults.append(("slurm_partition", f"no partition {name!r}", near))
            continue
        there = [node for node in nodes if node.partition == name and node.usable]
        found = list(_in_partition(request, there, partitions[name]))
        if not found:
            return []  # SLURM takes the first partition that will do
        faults += found
    return faults


def _in_partition(
    request: Request, nodes: Sequence[Node], partition: Partition
) -> Iterator[tuple[str, str, str]]:
    where = f"partition {partition.name}"
    if not partition.up or not nodes:
        yield "slurm_partition", f"{where} is not up, or has no usable node", ""
        return
    if partition.minutes is not None and request.minutes > partition.minutes:
        remedy = f"write `runtime: {partition.minutes}` or less"
        yield "runtime", f"{request.minutes} min; {where} gives {partition.minutes}", remedy
    memory = max(node.memory_mb for node in nodes)
    memory = min(memory, partition.memory_mb or memory)
    if request.memory_mb > memory:
        amount = request.memory_mb // request.attempt
        remedy = f"write `mem_mb: min({amount} * attempt, {memory})` or less"
        yield "mem_mb", f"{request.memory_mb} MB; {where} has {memory} on a node", remedy
    cpus = max(node.cpus for node in nodes)
    if request.cpus > cpus:
        yield "threads", f"{request.cpus} CPUs; {where} has {cpus} on a node", "lower set-threads"
    for (name, kind), number in request.devices:
        most = max(_devices(node, name, kind) for node in nodes)
        if number > most:
            there = sorted({f"{n}:{k}".strip(":") for node in nodes for n, k in node.devices})
            asked = f"{number} {name}:{kind}".strip(":")
            remedy = f"it has {', '.join(there) or 'no generic resource'}"
            yield "gres", f"{asked}; {where} has {most} on a node", remedy


def _devices(node: Node, name: str, kind: str) -> int:
    return sum(n for (has, its), n in node.devices.items() if has == name and kind in ("", its))
