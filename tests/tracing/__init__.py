"""Running every stage of a small grid, and recording which functions each of its jobs runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from poshgrid.core import fingerprint

HERE = Path(__file__).parent
UNTRAINED = "results/micro/scores/baby/10K/gpt2/untrained/none/seed42/posh.parquet"
"""One untrained model: as a baseline there would be one of each model."""


@dataclass(frozen=True)
class Job:
    """A job: its command, the modules that its rule digests, and ``module:function`` that ran."""

    stage: str
    modules: tuple[str, ...]
    ran: frozenset[str]


def run(root: Path, folder: Path, omitted: Sequence[str] = ()) -> list[Job]:
    """Run every stage in a folder; return the jobs.

    Args:
        root: the checkout.
        folder: empty; gets links to the checkout, and the results.
        omitted: rules that do not run, nor what needs them.
    """
    for name in ("Snakefile", "src", "workflow", "resources", "profiles"):
        (folder / name).symlink_to(root / name)
    log = folder / "log"
    log.mkdir()
    environment = os.environ | {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": os.pathsep.join([str(HERE), str(root / "src")]),
        "TRACED_SOURCE": str(root / "src"),
        "TRACED_LOG": str(log),
    }
    words = ("-m", "snakemake", "--cores", "2", "--configfile", str(HERE / "every_stage.yaml"))
    words += ("--omit-from", *omitted) if omitted else ()
    words += ("--", "all", UNTRAINED)
    command = [sys.executable, *words]
    made = subprocess.run(
        command, cwd=folder, env=environment, text=True, capture_output=True, check=False
    )
    assert made.returncode == 0, made.stdout + made.stderr
    return list(jobs(log))


def jobs(log: Path) -> Iterator[Job]:
    """Yield the jobs that were recorded in a folder."""
    lines = (log / "digests").read_text().splitlines()
    modules = {digest: tuple(names) for digest, names in map(json.loads, lines)}
    for path in sorted(log.glob("*.json")):
        record = json.loads(path.read_text())
        yield Job(record["stage"], modules[record["code"]], frozenset(record["ran"]))


def leaks(jobs: Iterable[Job]) -> dict[str, set[str]]:
    """Return ``module:function`` -> stages that run it though it is in none of their digests.

    Of the modules that declare the configuration only validators are exempt: private functions
    and lambdas.
    """
    leaking: dict[str, set[str]] = {}
    shared = {"base", "known", "specs"}  # reading and writing any section
    declared = {f"poshgrid.config.{name}" for name in {*fingerprint.DECLARATIONS} - shared}
    for job in jobs:
        digested = set(fingerprint.closure(*job.modules))
        for function in job.ran:
            module, _, name = function.partition(":")
            name = name.partition(".<locals>")[0].rpartition(".")[2]
            validator = name.startswith(("_", "<")) and not name.startswith("__")
            method = module in declared and not validator
            if module not in digested and (method or not fingerprint.exempt(module)):
                leaking.setdefault(function, set()).add(job.stage)
    return leaking
