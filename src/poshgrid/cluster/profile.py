"""A profile of Snakemake's: found where Snakemake finds it, and read for what it would not say."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from poshgrid.config import yamltext
from poshgrid.errors import PoshgridError, did_you_mean
from poshgrid.planning.findings import Finding, error, ok, warning

RESOURCES = frozenset(
    {
        "slurm_account", "slurm_partition", "slurm_extra", "slurm_cluster", "cluster", "clusters",
        "runtime", "mem_mb", "mem_mb_per_cpu", "nodes", "tasks", "tasks_per_node", "tasks_per_gpu",
        "mpi", "mpi_tasks", "cpus_per_task", "cpus_per_gpu", "threads", "gpu", "gpu_model", "gres",
        "constraint", "qos",
    }
)  # fmt: skip
"""Resources that the executor plug-in reads (version 2.8; a test compares with its code)."""
STANDARD = frozenset({"mem", "mem_mib", "disk", "disk_mb", "disk_mib", "tmpdir"})
"""Resources of Snakemake's own: it turns them into those above, or makes use of them itself."""
_REMEDIES = {
    "gpus": "write `gpu: 1`, or `gres: \"'gpu:1'\"`",
    "nvidia_gpu": "write `gpu: 1`",
    "partition": "write `slurm_partition`",
    "account": "write `slurm_account`",
    "time": "write `runtime`, in minutes",
    "walltime": "write `runtime`, in minutes",
    "time_min": "write `runtime`, in minutes",
    "mem_gb": "write `mem_mb`",
    "cpus": "write `cpus_per_task`, or set-threads",
}
_DEFAULTS = "default-resources"
_SITE = ("slurm_partition", "slurm_account")
_SOME = 3  # names that are written out
LEAST_MB = 600
"""Megabytes that the Snakemake inside a job needs for itself."""


@dataclass(frozen=True)
class Written:
    """Where a profile says what the jobs of a rule ask for.

    Attributes:
        path: of the profile.
        given: what it says.
        unused: default resources that no rule takes, as each has its own.
    """

    path: Path
    given: Mapping[str, Any]
    unused: Collection[str] = ()

    def section(self, resource: str, rules: Iterable[str]) -> str:
        """Return the section that a resource of some rules is to be written in."""
        if resource == "threads":
            return "set-threads"
        if any(resource in _keys(_of_rule(self.given, rule)) for rule in rules):
            return "set-resources"
        given = resource in _keys(self.given.get(_DEFAULTS)) and resource not in self.unused
        # One partition and one account are most often those of all jobs.
        return _DEFAULTS if given or resource in _SITE else "set-resources"

    def place(self, section: str, rules: Iterable[str]) -> str:
        """Return where in a section the rules are, in words."""
        whose = "" if section == _DEFAULTS else f"for {some(f'`{rule}`' for rule in rules)} "
        return f"{whose}in {section} of {self.path}"


def some(names: Iterable[str]) -> str:
    """Return names in words, and of many the first and their number.

    >>> some("ab"), some("abcdef")
    ('a, b', 'a, b, c and 3 more')
    """
    names = list(names)
    if len(names) <= _SOME + 1:
        return ", ".join(names)
    return f"{', '.join(names[:_SOME])} and {len(names) - _SOME} more"


def find(name: str) -> Path:
    """Return the file of a profile, found as ``snakemake --profile NAME`` finds it from here.

    Args:
        name: a path, or the name of a folder here or in Snakemake's configuration folders.

    Raises:
        PoshgridError: there is none, or it holds no ``config.yaml``; where it was looked for.
    """
    from snakemake.cli import get_appdirs, get_profile_dir

    found = get_profile_dir(name)
    if found is not None:
        return Path(str(found[1]))
    dirs = get_appdirs()
    looked = f"./{name}, {dirs.user_config_dir}/{name}, {dirs.site_config_dir}/{name}"
    remedy = "give a path, or make that folder with a config.yaml"
    if Path("profiles", name, "config.yaml").is_file():
        remedy = f"./profiles is not searched: write --profile profiles/{name}"
    elif Path(name).is_symlink() and not Path(name).exists():
        remedy = f"./{name} is a link to nothing: git checkout -- {name}"
    raise PoshgridError(f"profile {name!r}: no config.yaml in {looked}; {remedy}")


def read(path: Path) -> dict[str, Any]:
    """Read a profile.

    Raises:
        PoshgridError: it is no YAML, or no mapping.
    """
    try:
        found = yamltext.parse(yamltext.read(path))
    except yaml.MarkedYAMLError as broken:
        mark = broken.problem_mark
        place = f":{mark.line + 1}" if mark else ""
        raise PoshgridError(f"{path}{place}: not YAML: {broken.problem}; mend the line") from broken
    except (OSError, UnicodeDecodeError, yaml.YAMLError, yamltext.UnboundedError) as broken:
        reason = getattr(broken, "strerror", None) or " ".join(str(broken).split())
        raise PoshgridError(f"{path}: cannot be read: {reason}") from broken
    if isinstance(found, str) and "/" in found and "\n" not in found:
        # A checkout without symbolic links (some systems) has the link's text as a file.
        raise PoshgridError(
            f"{path}: a link that was checked out as a file; write --profile {found.strip()}"
        )
    if not isinstance(found, dict):
        raise PoshgridError(f"{path}: not `key: value` pairs; see docs/slurm.md")
    return found


def check(
    given: Mapping[str, Any], rules: Mapping[str, Sequence[str]], unused: Collection[str] = ()
) -> Iterator[Finding]:
    """Check what Snakemake takes without a word and what the plug-in does not bear.

    Args:
        given: the profile.
        rules: of the workflow, with the resources that their commands use; empty: not known.
        unused: default resources that no rule takes, as each has its own.
    """
    yield from _executor(given)
    yield from _names(given, rules)
    yield from _resources(given, rules)
    for resource in sorted({*_keys(given.get(_DEFAULTS))} & {*unused}):
        yield warning("resources", f"{_DEFAULTS}: {resource} has no effect: each rule has its own",
                      "change it below the rule's name in set-resources")  # fmt: skip
    for key, least, why in (
        ("retries", 1, "a job that is out of time or memory fails for good"),
        ("latency-wait", 10, "a shared file system may show a file later than that"),
        ("jobs", 1, "Snakemake does not start"),
    ):
        value = given.get(key, 5 if key == "latency-wait" else 0)
        if isinstance(value, int) and value < least:
            yield warning(
                "profile", f"{key} is {value}: {why}", f"write `{key}` of {least} or more"
            )
    if not given.get("rerun-incomplete"):
        yield warning("profile", "rerun-incomplete is not set: what a killed run leaves stops the "
                      "next one", "write `rerun-incomplete: true`")  # fmt: skip


def _executor(given: Mapping[str, Any]) -> Iterator[Finding]:
    executor = given.get("executor")
    if executor != "slurm":
        yield error("executor", f"the profile's executor is {executor or 'not set'}: all runs on "
                    "this machine", "write `executor: slurm`")  # fmt: skip
    if "cores" in given:
        yield warning(
            "profile", f"cores: {given['cores']} caps the threads of every job", "leave `cores` out"
        )
    if given.get("slurm-array-jobs"):
        yield error("profile", "slurm-array-jobs: version 2.8 of the plug-in loses outputs with it",
                    "leave it out")  # fmt: skip
    command = given.get("slurm-status-command")
    if command == "squeue":
        yield ok("status command", "squeue")
    else:
        said = command or "not set, so that of the plug-in's choice"
        yield error("status command", f"{said}: with sacct and without slurmdbd a run hangs "
                    "silently", "write `slurm-status-command: squeue`")  # fmt: skip


def _names(given: Mapping[str, Any], rules: Mapping[str, Sequence[str]]) -> Iterator[Finding]:
    """Yield the rules that the profile names and the workflow does not have."""
    if not rules:
        return
    unknown = 0
    for key in ("set-resources", "set-threads", "groups"):
        for name in given.get(key) or {}:
            if name not in rules:
                unknown += 1
                yield error(
                    "rule names",
                    f"{key}: no rule {name!r}: Snakemake ignores it silently",
                    did_you_mean(str(name), rules).lstrip("; "),
                )
    if not unknown:
        yield ok("rule names", "all that the profile names are the workflow's")


def _resources(given: Mapping[str, Any], rules: Mapping[str, Sequence[str]]) -> Iterator[Finding]:
    """Yield the resources that nobody makes anything of."""
    sections = {_DEFAULTS: _keys(given.get(_DEFAULTS))}
    for rule in given.get("set-resources") or {}:
        sections[f"set-resources: {rule}"] = _keys(_of_rule(given, rule))
    unknown = 0
    for place, keys in sections.items():
        rule = place.partition(": ")[2]
        used = (
            set(rules.get(rule, ())) if rule else {key for keys in rules.values() for key in keys}
        )
        for key in keys:
            if key in RESOURCES | STANDARD | used or (rule and not rules):
                continue
            unknown += 1
            remedy = _REMEDIES.get(key) or did_you_mean(key, RESOURCES).lstrip("; ")
            yield error("resources", f"{place}: the plug-in does not know {key!r}", remedy)
        if {"gpu", "gres"} <= set(keys):
            unknown += 1
            yield error("resources", f"{place}: both gpu and gres", "keep one of them")
    if not unknown:
        yield ok("resources", "all that the profile names are known")


def _of_rule(given: Mapping[str, Any], rule: str) -> Mapping[str, Any]:
    """Return what set-resources says of a rule."""
    found = (given.get("set-resources") or {}).get(rule)
    return found if isinstance(found, Mapping) else {}


def _keys(found: Iterable[str] | None) -> list[str]:
    """Return the resources of a section, which may also be a list of ``key=value``."""
    return [str(key).partition("=")[0] for key in found or ()]
