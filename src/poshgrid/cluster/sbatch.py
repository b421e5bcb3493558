"""The jobs of a workflow as SLURM would see them: kinds of jobs, requests and ``sbatch`` flags."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poshgrid.errors import PoshgridError

_ERROR = re.compile(r"(?:Error|Exception)\b")
_OURS = "error: "
"""How a line of the Snakefile's own begins: it says what is wrong, and what to do."""
PATIENCE = 600
"""Seconds that building the jobs may take: 20,000 take 20 on a quick machine."""


@dataclass(frozen=True)
class Request:
    """What one attempt at a job asks for; ``error``: the plug-in refuses to submit it."""

    flags: str = ""
    placement: str = ""
    partition: str = ""
    account: str = ""
    cpus: int = 1
    mem_mb: int | None = None
    mem_mb_per_cpu: int | None = None
    runtime: int | None = None
    gres: str = ""
    gpu: int = 0
    gpu_model: str = ""
    step: str = ""
    error: str = ""

    @property
    def memory(self) -> int:
        """Megabytes that are asked of one node; 0: what the cluster gives."""
        return int(self.mem_mb_per_cpu or 0) * int(self.cpus) or int(self.mem_mb or 0)

    @property
    def devices(self) -> dict[tuple[str, str], int]:
        """Generic resources that are asked for: (name, type) -> number; no type is ``""``."""
        found = generic(self.gres)
        if self.gpu:
            key = ("gpu", self.gpu_model)
            found[key] = found.get(key, 0) + int(self.gpu)
        return found


@dataclass(frozen=True)
class Kind:
    """Jobs of one rule, or of one group, that ask for the same.

    Attributes:
        name: of the rule or the group.
        rules: rule -> how many of its jobs are in one of these.
        count: how many there are.
        attempts: what each attempt asks for.
    """

    name: str
    rules: Mapping[str, int]
    count: int
    attempts: Mapping[int, Request]

    @property
    def first(self) -> Request:
        """What the first attempt asks for."""
        return self.attempts[min(self.attempts)]


@dataclass(frozen=True)
class Workflow:
    """A workflow under a profile.

    Attributes:
        rules: rule -> the resources that its command uses.
        kinds: of its jobs.
        unused: default resources that no rule takes, as each has its own.
    """

    rules: Mapping[str, Sequence[str]]
    kinds: Sequence[Kind]
    unused: Sequence[str] = ()


def resolve(
    profile: Path | str,
    configs: Sequence[Path] = (),
    targets: Sequence[str] = (),
    *,
    overrides: Sequence[str] = (),
) -> Workflow:
    """Return what a workflow's jobs ask SLURM for, on the first and the last attempt.

    Snakemake reads the profile, and the executor plug-in writes the flags; see
    :mod:`poshgrid.cluster.flags`. Results that are already there do not matter.

    Args:
        profile: as for ``snakemake --profile``.
        configs: as for ``--configfile``.
        targets: as for Snakemake; none: its default.
        overrides: ``key=value``, as for ``--config``.

    Raises:
        PoshgridError: Snakemake cannot read the profile or build the jobs; its reason.
    """
    with tempfile.TemporaryDirectory() as temporary:
        output = Path(temporary) / "jobs.json"
        command = [
            sys.executable, "-m", "poshgrid.cluster.flags", str(output), "--profile", str(profile),
            "--dry-run", "--forceall", "--nolock", "--quiet", "all", "--nocolor",
            *(["--configfile", *map(str, configs)] if configs else []),
            *(["--config", *overrides] if overrides else []),
            "--", *targets,
        ]  # fmt: skip
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=PATIENCE
            )
        except subprocess.TimeoutExpired as error:
            raise PoshgridError(
                f"{profile}: building the jobs took over {PATIENCE} s; name a --target"
            ) from error
        if done.returncode or not output.is_file():
            raise PoshgridError(*_reasons(profile, done))
        return _workflow(json.loads(output.read_text(encoding="utf-8")))


def generic(text: str) -> dict[tuple[str, str], int]:
    """Return (name, type) -> number of generic resources as SLURM writes them.

    >>> generic("gpu:a100:4(S:0-1),gpu:2,shard:8")
    {('gpu', 'a100'): 4, ('gpu', ''): 2, ('shard', ''): 8}
    """
    found: dict[tuple[str, str], int] = {}
    # What nodes say of sockets, `(S:0,2-3)`, goes: commas in brackets separate nothing
    for part in re.sub(r"\([^()]*\)", "", text).split(","):
        name, *rest = part.strip().split(":")
        if not name:
            continue
        number = _number(rest[-1]) if rest else None
        kind = "" if not rest or (number is not None and len(rest) == 1) else rest[0]
        key = (name, kind)
        found[key] = found.get(key, 0) + (1 if number is None else number)
    return found


def _number(text: str) -> int | None:
    scale = {"K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4}.get(text[-1:], 1)
    digits = text[:-1] if scale > 1 else text
    return int(digits) * scale if digits.isdigit() else None


def _workflow(data: dict[str, Any]) -> Workflow:
    if not data:  # no job at all: Snakemake ends before it would begin
        return Workflow({}, [])
    kinds = []
    for kind in data["jobs"]:
        attempts = {int(n): Request(**request) for n, request in kind["attempts"].items()}
        kinds.append(Kind(kind["name"], kind["rules"], kind["count"], attempts))
    kinds.sort(key=lambda kind: (kind.name, sorted(kind.rules.items())))
    return Workflow(data["rules"], kinds, data["unused"])


def _reasons(profile: Path | str, done: subprocess.CompletedProcess[str]) -> list[str]:
    """Return what the Snakefile says is wrong, or the line of Snakemake's that does."""
    lines = [line.strip() for line in f"{done.stderr}\n{done.stdout}".splitlines()]
    lines = [line for line in lines if line and not line.startswith("Using profile")]
    ours = [line.removeprefix(_OURS) for line in lines if line.startswith(_OURS)]
    if ours:
        return ours
    start = next((n for n, line in enumerate(lines) if _ERROR.search(line)), None)
    if start is None:
        said = lines[-1] if lines else f"status {done.returncode}"
    else:
        said = " ".join(lines[start : start + 5])
    return [f"{profile}: Snakemake refuses: {said[:300]}; mend it; `snakemake -n` shows all of it"]
