"""What cgroups change: limits that the kernel holds, and processes that SLURM does not lose.

The other drills run without them, since a machine may not lend them. Here a cluster of one node has
them where it does (version 1, which needs no systemd).
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.slurm.cluster import Cluster, unavailable

pytestmark = pytest.mark.slurm
TOP = Path("/sys/fs/cgroup")
CONTROLLERS = ("memory", "freezer", "cpuset")
CONF = """\
CgroupPlugin=cgroup/v1
CgroupMountpoint=/sys/fs/cgroup
CgroupAutomount=no
ConstrainRAMSpace=yes
ConstrainCores=no
ConstrainDevices=no
"""
# As `poshgrid train` does, without the training
TOLD = """
import sys, time
from poshgrid.cluster import slurm
from poshgrid.training.signals import ToldToEndError, told_to_end

with told_to_end() as told:
    print("at work", flush=True)
    while not told:
        time.sleep(0.1)
print("told", told, slurm.requeue(ToldToEndError("saved", told, steps=5)), flush=True)
"""


def refused() -> str | None:
    """Return why there are no cgroups here; ``None``: there are."""
    for name in CONTROLLERS:
        trial = TOP / name / "poshgrid-trial"
        try:
            trial.mkdir()
            trial.rmdir()
        except OSError as error:
            return f"{trial}: {error.strerror}"
        if not (TOP / name / "tasks").exists():
            return f"{TOP / name}: no cgroup of version 1"
    return None


@pytest.fixture(scope="module")
def confined(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    reason = unavailable() or refused()
    if reason:
        pytest.skip(f"no cgroups: {reason}")
    cluster = Cluster(tmp_path_factory.mktemp("confined"), nodes=1, cgroups=CONF)
    try:
        cluster.start()
    except (TimeoutError, subprocess.CalledProcessError) as error:
        cluster.stop()
        pytest.skip(f"no cgroups: SLURM does not start with them: {error}")
    yield cluster
    cluster.stop()
    for name in CONTROLLERS:
        with suppress(OSError):
            for folder in sorted((TOP / name / "slurm_n1").rglob("*/"), reverse=True):
                folder.rmdir()
            (TOP / name / "slurm_n1").rmdir()


def submit(cluster: Cluster, command: str, *flags: str) -> tuple[str, Path]:
    """Submit a command; return its job and the file of what it says."""
    out = cluster.folder / f"{time.monotonic_ns()}.txt"
    conf = cluster.folder / "slurm.conf"  # steps drop it from their environment
    said = cluster.run(
        "sbatch", "--parsable", "-t", "5", "-o", str(out), "--open-mode=append", *flags,
        "--wrap", f"export SLURM_CONF={conf}; {command}",
    )  # fmt: skip
    return said.strip(), out


def wait(what: str, ready) -> None:
    end = time.monotonic() + 180
    while not ready():
        assert time.monotonic() < end, what
        time.sleep(0.3)


def text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def test_memory_beyond_a_jobs_is_refused_by_the_kernel(confined: Cluster) -> None:
    job, out = submit(confined, f"{sys.executable} -c 'bytearray(600 * 10**6)'", "--mem=200")
    completed = confined.folder / "log/completed.txt"
    wait("the job ends", lambda: f"JobId={job} " in text(completed))
    assert f"JobId={job} " in text(completed)
    assert "JobState=OUT_OF_MEMORY" in text(completed)
    assert "Killed" in text(out)


def test_what_is_told_reaches_the_step_which_goes_back_into_the_queue(
    confined: Cluster, tmp_path: Path
) -> None:
    program = tmp_path / "told.py"
    program.write_text(TOLD)
    step = f"srun --ntasks=1 --cpu-bind=none {sys.executable} {program}"
    job, out = submit(confined, step, "--requeue", "--mem=2000")
    wait("it works", lambda: "at work" in text(out))
    confined.run("scancel", "--signal=USR1", job)
    wait("it works again", lambda: text(out).count("at work") == 2)
    assert "Restarts=1" in confined.run("scontrol", "show", "job", job)
    confined.run("scancel", job)


def test_a_process_whose_parent_has_ended_goes_with_its_job(confined: Cluster) -> None:
    _, out = submit(confined, "(setsid sleep 4321 & echo $! is it); sleep 1; echo over")
    wait("the job ends", lambda: not confined.queue() and "over" in text(out))
    number = int(text(out).split()[0])
    wait("the process goes", lambda: not psutil.pid_exists(number))
    assert subprocess.run(["pgrep", "-f", "sleep 4321"], check=False).returncode == 1
