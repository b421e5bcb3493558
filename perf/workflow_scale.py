"""What a large grid costs Snakemake before its first job, and what an edit of the paper's reruns.

    python perf/workflow_scale.py scale [--jobs 200 2000 20000]
    python perf/workflow_scale.py scheduler [--jobs 3000] [--cores 64]
    python perf/workflow_scale.py invalidation

Each works on a copy of the checkout in a temporary folder, with a known configuration, and prints a
table for docs/lab/reliability.md. Costs are CPU seconds (user and system), which a busy machine
changes less than wall time, and peak memory of Snakemake's own process.

scale         a factorial with as many seeds as make so many jobs: a dry-run, beside one of a
              Snakefile of as many jobs of one file each, and one whose jobs have as many files as
              ours; and the time from the start to the first job of a real run, whose command is a
              stub; then it is stopped
scheduler     the same grid brought to its end with `--touch`, so that nothing but scheduling is
              left, under each scheduler
invalidation  the paper's grid with all its files, touched; then edits, one at a time, and the jobs
              that a dry-run would do for each
"""

from __future__ import annotations

import argparse
import copy
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.workflow.conftest import Checkout  # noqa: E402 - a copy of the checkout to edit

BIASES = ["none", "dyck", "tree-planting", "recency", "dyck+recency"]
CELLS = 3 * 2
JOBS_OF_A_SEED = CELLS * 2 * (len(BIASES) + 1)
"""A run and its scores for each bias and for the untrained baseline, in each cell."""
JOBS_WITHOUT_SEEDS = 104
"""Corpora, parses, tokens, counted baselines, items, statistics."""
STUB = '#!/bin/sh\n: > "$POSHGRID_STARTED"\nexec sleep 3600\n'
DRY = ("-n", "--nolock", "--quiet", "rules")
TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Cost:
    """What a run of Snakemake took."""

    cpu: float
    """CPU seconds."""
    wall: float
    """Seconds."""
    peak: float
    """Peak memory in MB."""
    output: str = ""


@dataclass(frozen=True)
class Edit:
    """Something that a person changes."""

    name: str
    make: Callable[[Checkout], None]


def configuration(jobs: int) -> dict[str, Any]:
    """Return the toy configuration (its text is at hand), with one experiment of so many jobs."""
    found = yaml.safe_load((ROOT / "studies/posh-bench/toy.yaml").read_text(encoding="utf-8"))
    seeds = max(1, round((jobs - JOBS_WITHOUT_SEEDS) / JOBS_OF_A_SEED))
    found["experiments"] = [{
        "name": "scale", "conditions": ["baby-f", "baby", "wiki"], "sizes": ["20K", "40K"],
        "models": ["gpt2-tiny"], "recipe": "sentence", "biases": BIASES,
        "seeds": list(range(1, seeds + 1)),
    }]  # fmt: skip
    found["models"] = found["models"][:1]
    found["baselines"] = ["untrained", "unigram", "ngram"]
    return found


def measure(checkout: Checkout, *arguments: str) -> Cost:
    """Run Snakemake to its end and return what it took.

    Raises:
        RuntimeError: it failed.
    """
    with tempfile.TemporaryFile("w+") as output:
        started = time.monotonic()
        process = _start(checkout, arguments, output)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    if process.returncode:
        raise RuntimeError(text[-2000:])
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024, text)


def first_job(checkout: Checkout) -> Cost:
    """Start a run, wait for its first job, stop it, and return what it took until then.

    Raises:
        RuntimeError: it ended before.
    """
    marker = checkout.folder / "started"
    stub = checkout.folder / "bin/poshgrid"
    kept = stub.read_text(encoding="utf-8")
    stub.write_text(STUB, encoding="utf-8")
    checkout.environment["POSHGRID_STARTED"] = str(marker)
    with tempfile.TemporaryFile("w+") as output:
        started = time.monotonic()
        arguments = ("--cores", "1", "--scheduler", "greedy", "--nolock", "--quiet", "all")
        process = _start(checkout, arguments, output)
        try:
            while not marker.exists():
                if process.poll() is not None:
                    output.seek(0)
                    raise RuntimeError(output.read()[-2000:])
                time.sleep(0.05)
            wall = time.monotonic() - started
            cpu, peak = _usage(process.pid)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            marker.unlink(missing_ok=True)
            stub.write_text(kept, encoding="utf-8")
    return Cost(cpu, wall, peak)


def counts(output: str) -> dict[str, int]:
    """Return rule -> jobs of a dry-run's table, targets and the total left out."""
    table = output.partition("Job stats:")[2].partition("\n\n")[0]
    found = {rule: int(n) for rule, n in re.findall(r"^(\S+)\s+(\d+)$", table, re.M)}
    return {rule: n for rule, n in found.items() if rule not in ("all", "total")}


def total(output: str) -> int:
    """Return the number of jobs of a dry-run."""
    found = re.search(r"^total\s+(\d+)$", output, re.M)
    return int(found[1]) if found else 0


def scale(sizes: Sequence[int]) -> None:
    """Print the table of sizes."""
    print("| jobs | dry-run, CPU s | ms a job | peak MB | one file a job, CPU s | ratio "
          "| files as ours, CPU s | ratio | first job after, CPU s | peak MB |")  # fmt: skip
    print("|---" * 10 + "|")
    for size in sizes:
        with copied(configuration(size)) as checkout:
            dry = measure(checkout, *DRY)
            jobs, start = total(dry.output), first_job(checkout)
            files = len(measure(checkout, "--summary", "--nolock").output.splitlines()) - 1
            one, as_ours = (plain(checkout, jobs, each) for each in (1, round(files / jobs)))
            print(f"| {jobs:,} | {dry.cpu:.1f} | {1000 * dry.cpu / jobs:.1f} | {dry.peak:.0f} "
                  f"| {one.cpu:.1f} | {dry.cpu / one.cpu:.1f} "
                  f"| {as_ours.cpu:.1f} | {dry.cpu / as_ours.cpu:.1f} "
                  f"| {start.cpu:.1f} | {start.peak:.0f} |", flush=True)  # fmt: skip


def plain(checkout: Checkout, jobs: int, files: int) -> Cost:
    """Return the cost of a dry-run of a Snakefile without anything of ours.

    Half of its jobs read what the other half write, and nothing else is said of them.

    Args:
        checkout: in whose folder it is written.
        jobs: of the Snakefile, the target included.
        files: that each job writes, and that the second half read.
    """
    half = (jobs - 1) // 2
    text = f"""
rule all:
    input: [f"plain/second/{{n}}/0" for n in range({half})]
rule first:
    output: ["plain/first/{{n}}/" + str(k) for k in range({files})]
    shell: "touch {{output}}"
rule second:
    input: ["plain/first/{{n}}/" + str(k) for k in range({files})]
    output: ["plain/second/{{n}}/" + str(k) for k in range({files})]
    shell: "touch {{output}}"
"""
    (checkout.folder / "plain.smk").write_text(text, encoding="utf-8")
    return measure(checkout, "--snakefile", "plain.smk", *DRY)


def schedulers(jobs: int, cores: int) -> None:
    """Print what each scheduler makes of a grid whose jobs take no time."""
    print("| scheduler | jobs | CPU s | peak MB |\n|---|---|---|---|")
    for name, options in (
        ("greedy", ("--scheduler", "greedy")),
        (
            "greedy, `scheduler-subsample: 200`",
            ("--scheduler", "greedy", "--scheduler-subsample", "200"),
        ),
        ("ilp", ("--scheduler", "ilp")),
    ):
        with copied(configuration(jobs)) as checkout:
            made = make_files(checkout)
            cost = measure(checkout, "--touch", "--cores", str(cores), "--quiet", "all", *options)
            print(f"| {name} | {made:,} | {cost.cpu:.1f} | {cost.peak:.0f} |", flush=True)


def invalidation(chosen: Sequence[int] = ()) -> None:
    """Print the jobs that each edit of the paper's completed grid causes."""
    paper = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
    with copied(paper) as checkout:
        made = make_files(checkout)
        touch = ("--touch", "--cores", "1", "--quiet", "all", "--scheduler", "greedy")
        measure(checkout, *touch, "--scheduler-subsample", "50")
        left = counts(measure(checkout, "-n", "--quiet", "rules").output)
        print(f"{made} jobs done; left to do: {left or 'nothing'}\n")
        print("| edit | jobs | by rule |\n|---|---|---|")
        for edit in [EDITS[i] for i in chosen] or EDITS:
            with restored(checkout):
                edit.make(checkout)
                found = counts(measure(checkout, "-n", "--quiet", "rules").output)
            rules = ", ".join(f"{rule} {n}" for rule, n in found.items()) or "-"
            print(f"| {edit.name} | {sum(found.values())} | {rules} |", flush=True)


def make_files(checkout: Checkout) -> int:
    """Make every file of the grid, empty, and return its jobs; `--touch` does the rest."""
    lines = measure(checkout, "--summary", "--nolock").output.splitlines()
    files = [line.split("\t")[0] for line in lines if line.startswith("results")]
    for name in files:
        path = checkout.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return total(measure(checkout, "-n", "-F", "--nolock", "--quiet", "rules").output)


@contextmanager
def copied(found: dict[str, Any]) -> Iterator[Checkout]:
    """Yield a copy of the checkout with a configuration."""
    with tempfile.TemporaryDirectory() as folder:
        yield Checkout(ROOT, Path(folder), found)


@contextmanager
def restored(checkout: Checkout) -> Iterator[None]:
    """Undo what the block does to the configuration and the package."""
    configuration = copy.deepcopy(checkout.configuration)
    files = {
        path: (path.read_bytes(), path.stat().st_mtime_ns)
        for path in (checkout.folder / "src").rglob("*.py")
    }
    try:
        yield
    finally:
        checkout.configuration = configuration
        for path, (content, changed) in files.items():
            if path.read_bytes() != content:
                path.write_bytes(content)
                os.utime(path, ns=(changed, changed))


def changed(*place: str | int, to: object) -> Callable[[Checkout], None]:
    """Return an edit that sets a value of the configuration."""

    def make(checkout: Checkout) -> None:
        here: Any = checkout.configuration
        for part in place[:-1]:
            here = here[part]
        here[place[-1]] = to

    return make


def appended(path: str, line: str) -> Callable[[Checkout], None]:
    """Return an edit that adds a line to a module."""
    return lambda checkout: checkout.append(path, line)


def _seed_added(checkout: Checkout) -> None:
    for experiment in checkout.configuration["experiments"]:
        if experiment["name"] == "exp3":
            experiment["seeds"] = [*experiment["seeds"], 101]


FORMULA = "p(correct, n) ~ size_z + S(filter) + (1|seed) + (1|phenomenon)"
EDITS = [
    Edit("`biases.recency.decay`", changed("biases", "recency", "decay", to=0.7)),
    Edit("`models`: layers of gpt2-mini", changed("models", 0, "options", "layers", to=5)),
    Edit("`experiments`: a seed added to exp3", _seed_added),
    Edit("code of the filter `binding`",
         appended("src/poshgrid/evidence/filters/binding.py", "_ADDED = 1")),
    Edit("a comment in `models/training/train.py`",
         appended("src/poshgrid/models/training/train.py", "# A remark.")),
    Edit("`scoring.reduction`", changed("scoring", "reduction", to="sum")),
    Edit("`models`: formula of `paper`", changed("models", 0, "formula", to=FORMULA)),
    Edit("`suites`: pairs of posh", changed("suites", 0, "options", "pairs", to=400)),
    Edit("`recipes`: learning rate of `sentence`",
         changed("recipes", 1, "learning_rate", to="2e-4")),
    Edit("`tokenizer.vocabulary_size`", changed("tokenizer", "vocabulary_size", to=16384)),
]  # fmt: skip


def _start(
    checkout: Checkout, arguments: Sequence[str], output: Any  # noqa: ANN401 - an open file
) -> subprocess.Popen[bytes]:  # fmt: skip
    """Start Snakemake as the leader of a process group of its own."""
    path = checkout.folder / "config.yaml"
    path.write_text(yaml.safe_dump(checkout.configuration, sort_keys=False), encoding="utf-8")
    return subprocess.Popen(
        [sys.executable, "-m", "snakemake", "--configfile", "config.yaml", *arguments],
        cwd=checkout.folder,
        env=checkout.environment,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def _usage(pid: int) -> tuple[float, float]:
    """Return the CPU seconds and the peak memory in MB of a process that runs."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    peak = re.search(r"VmHWM:\s+(\d+) kB", status)
    return (int(fields[11]) + int(fields[12])) / TICK, int(peak[1]) / 1024 if peak else 0.0


def main() -> None:
    """Read the command line and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    sizes = commands.add_parser("scale")
    sizes.add_argument("--jobs", type=int, nargs="+", default=[200, 2000, 20000])
    order = commands.add_parser("scheduler")
    order.add_argument("--jobs", type=int, default=3000)
    order.add_argument("--cores", type=int, default=64)
    edits = commands.add_parser("invalidation")
    edits.add_argument("--edits", type=int, nargs="*", default=[], help="by number, from 0")
    given = parser.parse_args()
    if given.command == "scale":
        scale(given.jobs)
    elif given.command == "scheduler":
        schedulers(given.jobs, given.cores)
    else:
        invalidation(given.edits)


if __name__ == "__main__":
    main()
