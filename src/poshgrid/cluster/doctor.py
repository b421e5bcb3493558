"""``poshgrid doctor``: whether a cluster, a profile and this checkout go together.

Each check yields findings, and none of them stops the others; one is whether the profile lets the
runs of a group share a GPU (`together` in a regimen).
"""

from __future__ import annotations

import importlib.metadata
import os
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from poshgrid.cluster import fit, probe, profile, sbatch, slurm
from poshgrid.cluster.sbatch import Kind, Request
from poshgrid.errors import PoshgridError, did_you_mean
from poshgrid.grid import configfile
from poshgrid.planning.findings import Finding, error, ok, warning

_RUN, _LAST = "train", "together"  # rules: a run, and the last job of those that share
_STEP = (
    (r"--overlap\b", "--overlap", "the second run waits for the first"),
    (r"--cpu-bind[= ]none\b", "--cpu-bind=none", "runs may be bound to the same cores"),
)
"""What the step of a run must have: as it is found and written, and what happens without it."""


def check(kinds: Sequence[Kind]) -> Iterator[Finding]:
    """Check what docs/training.md asks of a profile where runs share a GPU.

    Args:
        kinds: the workflow's jobs; where no group holds several runs, nothing is asked.
    """
    shared = [kind for kind in kinds if _LAST in kind.rules and kind.rules.get(_RUN, 0) > 1]
    if not shared:
        return
    kind = max(shared, key=lambda each: each.rules[_RUN])
    runs, request = kind.rules[_RUN], kind.first
    if request.error:
        return  # said with what does not fit
    wrong = [*_gpus(runs, request), *_step(request)]
    yield from wrong or [ok("sharing", f"up to {runs} runs to a GPU")]


def _gpus(runs: int, request: Request) -> Iterator[Finding]:
    number = sum(n for (name, _), n in request.devices.items() if name == "gpu")
    if number > 1:
        remedy = "write `gres: \"'gpu:1'\"` for train, not `gpu`"
        if request.gpu_model:
            remedy = f"write `gpu_model: {request.gpu_model}` for train, without `gpu`"
        yield warning(
            "sharing", f"a group of {runs} runs asks for {number} GPUs, and they use one", remedy
        )


def _step(request: Request) -> Iterator[Finding]:
    """Yield what the step lacks; without a step of its own, a run is no more than a process."""
    for pattern, flag, why in _STEP:
        if request.step and not re.search(pattern, request.step):
            yield warning(
                "sharing",
                f"step is `{request.step}`: without {flag} {why}",
                "write `step: \"'srun --overlap --ntasks=1 --cpu-bind=none'\"` for train",
            )


COMMANDS = ("sbatch", "squeue", "scancel", "sinfo", "scontrol")
PLUGIN = "snakemake-executor-plugin-slurm"
TESTED = "2.8"
"""The plug-in's version that the profile and the drills were made with."""
_LEAST_AGE = 120
"""Seconds that squeue must remember a job: Snakemake looks every 40 and more."""


def examine(
    name: str,
    *,
    default: Path,
    configs: Sequence[Path] = (),
    targets: Sequence[str] = (),
    overrides: Sequence[str] = (),
    results: Path | None = None,
    job: bool = True,
    patience: float = 120,
    resolved: Callable[[sbatch.Workflow], None] = lambda workflow: None,
) -> Iterator[Finding]:
    """Yield what each check finds, as soon as it is found.

    Args:
        name: the profile, as for ``snakemake --profile``.
        default: the configuration where neither ``configs`` nor the profile names one.
        configs: as for ``snakemake --configfile``.
        targets: whose jobs are looked at; none: the default.
        overrides: ``key=value``, as for ``snakemake --config``.
        results: the folder that the workflow writes; none: the configuration's.
        job: whether to submit tiny jobs.
        patience: seconds to wait for each of them.
        resolved: called with the workflow's jobs when they are known.
    """
    answers = yield from _commands()
    yield from _plugin()
    given = yield from _profile(name)
    workflow = None
    try:
        # First: it refuses what runs as code.
        results = results or _results(configs, given or {}, default)
        configfile.check_results(str(results))
    except PoshgridError as problem:
        results = None
        yield error("configuration", str(problem))
    if given is not None:
        path = profile.find(name)
        if results is not None:
            try:
                workflow = sbatch.resolve(str(path), configs, targets, overrides=overrides)
            except PoshgridError as problem:
                yield error("workflow", str(problem))
        yield from (
            profile.check(given, workflow.rules, workflow.unused)
            if workflow
            else profile.check(given, {})
        )
    if given is not None and workflow is not None:
        resolved(workflow)
        yield from _small(workflow)
        yield from _told(workflow)
        yield from check(workflow.kinds)
    partitions: Mapping[str, slurm.Partition] = {}
    if answers:
        yield from _settings()
        if given is not None and workflow is not None:
            written = profile.Written(path, given, workflow.unused)
            partitions = yield from _places(workflow, written)
    if results is None:
        return
    try:
        yield probe.clock_here(results)
    except PoshgridError as problem:
        yield error("shared folder", str(problem))
        return
    if job and answers:
        yield from _jobs(workflow, partitions, results, patience)


def _commands() -> Generator[Finding, None, bool]:
    """Yield whether SLURM's commands are there and answer; return it."""
    for command in COMMANDS:
        ask = {"squeue": ("-h", "--me"), "sinfo": ("-h",), "scontrol": ("ping",)}
        try:
            said = slurm.run(command, *ask.get(command, ("--version",)))
        except PoshgridError as problem:
            yield error("SLURM", str(problem))
            return False
        if command == "sbatch":
            version = said.strip()
    yield ok("SLURM", f"{', '.join(COMMANDS)} answer ({version})")
    if "SLURM_JOB_ID" in os.environ:
        yield warning("SLURM", f"this is inside job {os.environ['SLURM_JOB_ID']}: when it ends, so "
                      "does Snakemake", "start Snakemake on a login node")  # fmt: skip
    return True


def _plugin() -> Iterator[Finding]:
    try:
        version = importlib.metadata.version(PLUGIN)
    except importlib.metadata.PackageNotFoundError:
        yield error("executor", f"{PLUGIN} is not installed", f"pip install {PLUGIN}")
        return
    if int(version.split(".")[0]) < 2:
        yield error("executor", f"{PLUGIN} {version} is too old", f"install {TESTED} or later")
    elif not version.startswith(f"{TESTED}."):
        yield warning("executor", f"{PLUGIN} {version}: {TESTED} was tested",
                      "pip install -c constraints.txt " + PLUGIN)  # fmt: skip
    else:
        yield ok("executor", f"{PLUGIN} {version}")


def _profile(name: str) -> Generator[Finding, None, dict[str, Any] | None]:
    """Yield whether the profile is found and read; return it, or ``None``."""
    try:
        path = profile.find(name)
        given: dict[str, Any] = profile.read(path)
    except PoshgridError as problem:
        yield error("profile", str(problem))
        return None
    yield ok("profile", f"{name} is {path}")
    return given


def _results(configs: Sequence[Path], given: Mapping[str, Any], default: Path) -> Path:
    """Return the results folder of the configuration that Snakemake would read.

    Raises:
        PoshgridError: there is none, or it has mistakes.
    """
    named = given.get("configfile") or [default]
    files = configs or [Path(path) for path in ([named] if isinstance(named, str) else named)]
    return Path(configfile.load(*files).results)


def _small(workflow: sbatch.Workflow) -> Iterator[Finding]:
    for kind in workflow.kinds:
        if not kind.first.error and 0 < kind.first.memory < profile.LEAST_MB:
            yield warning("memory", f"{kind.name} asks for {kind.first.memory} MB, and the "
                          "Snakemake in a job needs some of it",
                          f"ask for {profile.LEAST_MB} or more")  # fmt: skip


def _told(workflow: sbatch.Workflow) -> Iterator[Finding]:
    """Yield whether training, which is a step of its own to be told of its end, is told."""
    for kind in workflow.kinds:
        if "train" in kind.rules and kind.first.step and "--signal" not in kind.first.flags:
            yield warning("signal", "train has `step`, and no --signal: it is not told before its "
                          "time is over, and loses the steps since its last checkpoint",
                          "add --signal=USR1@120 to train's own `slurm_extra`, which replaces that "
                          "of default-resources")  # fmt: skip
            return


def _settings() -> Iterator[Finding]:
    """Yield what of the controller's configuration concerns Snakemake."""
    try:
        given = slurm.settings()
    except PoshgridError as problem:
        yield error("SLURM", str(problem))
        return
    age = slurm.number(given.get("MinJobAge", ""))
    if age and age < _LEAST_AGE:
        yield warning(
            "status command",
            f"SLURM forgets jobs {age} s after their end (MinJobAge), "
            "and Snakemake may look too late",
            "lower slurm-init-seconds-before-status-checks and seconds-between-status-checks",
        )
    if given.get("JobRequeue") == "0":
        yield warning("preemption", "this cluster does not requeue jobs by itself (JobRequeue=0)",
                      "keep `slurm-requeue: true` in the profile")  # fmt: skip


def _places(
    workflow: sbatch.Workflow, written: profile.Written
) -> Generator[Finding, None, Mapping[str, slurm.Partition]]:
    """Yield whether partitions, accounts and nodes are there for the jobs; return partitions."""
    try:
        partitions, nodes = slurm.partitions(), slurm.nodes()
    except PoshgridError as problem:
        yield error("partitions", str(problem))
        return {}
    requests = [r for kind in workflow.kinds for r in kind.attempts.values() if not r.error]
    if not all(request.partition for request in requests):
        default = next((each.name for each in partitions.values() if each.default), None)
        if default:
            yield ok("partitions", f"where none is named, {default} is the cluster's default")
    yield from _accounts({request.account for request in requests})
    yield from fit.check(workflow.kinds, nodes, partitions, written)
    return partitions


def _accounts(named: set[str]) -> Iterator[Finding]:
    given = sorted(named - {""})
    try:
        mine = slurm.accounts()
    except PoshgridError as problem:
        yield warning("account", f"cannot be checked: {problem}")
        return
    if mine is None:
        if given:
            yield _unkept(given)
        else:
            yield ok("account", "this cluster keeps none, and the profile names none")
        return
    for account in given:
        if account.lower() in {each.lower() for each in mine}:
            yield ok("account", f"{account} is yours")
        else:
            yield error(
                "account", f"{account!r} is none of yours", did_you_mean(account, mine).lstrip("; ")
            )
    if "" in named:
        yours = ", ".join(sorted(mine)) or "none"
        yield warning("account", "not given for all jobs: the plug-in takes that of your last job",
                      f"write `slurm_account`; yours: {yours}")  # fmt: skip


def _unkept(given: Sequence[str]) -> Finding:
    """Return what the plug-in does with accounts where SLURM keeps none."""
    what, remedy = f"{', '.join(given)}: this cluster keeps no accounts", "leave slurm_account out"
    try:
        slurm.run("sshare", "-U", "--format", "Account%256", "--noheader")
    except PoshgridError as problem:
        # The plug-in looks into sshare where sacctmgr lists none.
        return error("account", f"{what}, and the plug-in refuses the name: {problem}", remedy)
    return warning("account", f"{what}: the plug-in warns, and jobs run all the same", remedy)


def _jobs(
    workflow: sbatch.Workflow | None,
    partitions: Mapping[str, slurm.Partition],
    results: Path,
    patience: float,
) -> Iterator[Finding]:
    """Yield what tiny jobs see: one for each place that jobs are sent to, and that there is."""
    kinds = workflow.kinds if workflow else []
    requests = [kind.first for kind in kinds if not kind.first.error]
    places = {
        request.placement: bool(request.devices)
        for request in requests or [sbatch.Request()]
        if not partitions or fit.known(request, partitions)
    }
    for placement, gpu in sorted(places.items()):
        try:
            seen = probe.look(results, placement, patience=patience)
        except PoshgridError as problem:
            yield error("shared folder", str(problem))
            return
        yield from probe.findings(seen, gpu=gpu)
