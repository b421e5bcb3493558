"""What a job of the cluster makes, by its log: of one rule, or of a group.

The plug-in names folders: ``rule_RULE/WILDCARDS/NUMBER.log`` and ``group_GROUP_RULES/NUMBER.log``.
SLURM's comment names the cell of a rule's job, but of a group only the rules: which runs share it
is in its log, where the Snakemake inside the job lists them.
"""

from __future__ import annotations

import re
from pathlib import Path

from poshgrid.cluster.slurm import Job

JOB_LOGS = Path(".snakemake/slurm_logs")
_PLACES = ("rule_*/{}.log", "rule_*/*/{}.log", "group_*/{}.log")
_LINE = re.compile(r"^\s*(?:(?:local)?rule (\w+):|wildcards: (.+))$", re.M)
_HEAD = 1_000_000
"""Bytes of a log that are read: what the job makes stands above what it says."""


def made_by(folder: Path, job: Job) -> list[str]:
    """Return what a job makes, ``rule cell`` of each job of Snakemake that is in it.

    Args:
        folder: where Snakemake was started.
        job: in the queue. One that has not started has no log: of it the comment is returned.
    """
    path = find(folder, job.id)
    return (path and listed(path)) or [job.comment]


def find(folder: Path, number: str) -> Path | None:
    """Return the log of a job; the newest, as a cluster may begin to count anew; none: no log."""
    found = [path for place in _PLACES for path in (folder / JOB_LOGS).glob(place.format(number))]
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


def listed(path: Path) -> list[str]:
    """Return the rules and cells that a job's log lists, each once."""
    try:
        with path.open("rb") as stream:
            head = stream.read(_HEAD).decode("utf-8", errors="replace")
    except OSError:
        return []
    found: list[tuple[str, str]] = []
    for rule, wildcards in _LINE.findall(head):
        if rule:
            found.append((rule, ""))
        elif found:
            values = [part.partition("=")[2] for part in wildcards.split(", ")]
            found[-1] = (found[-1][0], "/".join(values))
    # The Snakemake inside lists a job again when it starts it, and without its cell when it fails.
    celled = {rule for rule, cell in found if cell}
    made = (f"{rule} {cell}".rstrip() for rule, cell in found if cell or rule not in celled)
    return list(dict.fromkeys(made))
