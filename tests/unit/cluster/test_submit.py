"""``sbatch`` that refuses for a moment is asked again; what it refuses for good is passed on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from poshgrid.cluster import submit

# As SLURM says them (src/common/slurm_errno.c; reasons: job_state_reason_string).
FULL = (
    "sbatch: error: QOSMaxSubmitJobPerUserLimit\n"
    "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit "
    "limit, user's size and/or time limits)\n"
)
BARE = FULL.splitlines(keepends=True)[1]
PASSING = [
    FULL,
    FULL.replace("QOSMaxSubmitJobPerUserLimit", "AssocMaxSubmitJobLimit"),
    FULL.replace("QOSMaxSubmitJobPerUserLimit", "QOSGrpSubmitJobsLimit"),
    "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect "
    "failure)\n",
    "sbatch: error: Batch job submission failed: Resource temporarily unavailable\n",
]
FINAL = [
    FULL.replace("QOSMaxSubmitJobPerUserLimit", "QOSMaxWallDurationPerJobLimit"),
    FULL.replace("QOSMaxSubmitJobPerUserLimit", "AssocMaxCpuPerJobLimit"),
    "sbatch: error: Batch job submission failed: Invalid partition name specified\n",
    "sbatch: error: Batch job submission failed: Requested node configuration is not available\n",
    "sbatch: error: Batch job submission failed: Requested time limit is invalid\n",
    # It may have been accepted: asked again, there would be two
    "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation\n",
    "",
]


@pytest.mark.parametrize("said", PASSING)
def test_what_passes_by_itself(said):
    assert submit.passes(said)


@pytest.mark.parametrize("said", FINAL)
def test_what_does_not(said, bin_folder):
    command(bin_folder / "squeue", "echo 17")
    assert not submit.passes(said)


@pytest.mark.parametrize(
    ("queue", "passes"), [("echo 17", True), ("true", False), ("false", False)]
)
def test_a_policy_without_a_limit_passes_while_jobs_are_in_the_queue(bin_folder, queue, passes):
    command(bin_folder / "squeue", queue)
    assert submit.passes(BARE) == passes


def command(path: Path, body: str) -> Path:
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def bin_folder(tmp_path, monkeypatch):
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.fixture
def pauses(monkeypatch):
    """The pauses that were made, in no time."""
    clock, found = [0.0], []

    def sleep(seconds):
        found.append(seconds)
        clock[0] += seconds

    monkeypatch.setattr(submit.time, "sleep", sleep)
    monkeypatch.setattr(submit.time, "monotonic", lambda: clock[0])
    return found


def refusing(folder: Path, times: int, said: str = FULL) -> Path:
    """Make an sbatch that refuses so many times, then tells a number; it notes its input."""
    (folder / "said").write_text(said)
    return command(
        folder / "sbatch",
        f"cat >> {folder}/given; echo x >> {folder}/count\n"
        f"[ $(wc -l < {folder}/count) -gt {times} ] && echo 4711 && exit 0\n"
        f"cat {folder}/said >&2; exit 1",
    )


def test_refused_twice_and_then_accepted(bin_folder, pauses, capfd):
    done = submit.submit([str(refusing(bin_folder, 2)), "-t", "3"], b"script\n", os.getpid())
    assert (done.returncode, done.stdout) == (0, b"4711\n")
    assert pauses == [5.0, 10.0]
    assert (bin_folder / "given").read_text() == "script\n" * 3
    told = capfd.readouterr().err.splitlines()
    assert len(told) == 2
    assert told[0].endswith("trying again in 5 s")
    assert "QOSMaxSubmitJobPerUserLimit" in told[0]


def test_what_is_refused_for_good_is_passed_on_at_once(bin_folder, pauses):
    done = submit.submit([str(refusing(bin_folder, 9, FINAL[2]))], b"", os.getpid())
    assert (done.returncode, done.stderr.decode(), pauses) == (1, FINAL[2], [])


def test_patience_has_an_end(bin_folder, pauses):
    done = submit.submit([str(refusing(bin_folder, 10_000))], b"", os.getpid())
    assert done.returncode == 1
    assert max(pauses) == submit.LONGEST
    assert submit.PATIENCE - submit.LONGEST < sum(pauses) <= submit.PATIENCE


def test_the_command_stands_before_slurms(bin_folder, monkeypatch):
    """Called as the plug-in calls it: by a shell, with quotes; installed twice, it is one."""
    command(bin_folder / "sbatch", 'for word; do echo "[$word]"; done')
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    submit.install()
    submit.install()
    folder = submit.FOLDER.absolute()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert os.environ["PATH"].split(os.pathsep).count(str(folder)) == 1
    done = subprocess.run(
        "sbatch --comment 'a b' --wrap=\"echo \\\"$HOME\\\"\"", shell=True, check=False,
        capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60,
    )  # fmt: skip
    home = os.environ["HOME"]
    assert done.stdout.splitlines() == ["[--comment]", "[a b]", f'[--wrap=echo "{home}"]'], done


def test_without_slurm_nothing_is_installed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    submit.install()
    assert os.environ["PATH"] == str(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("echo gpu", ""),
        ("echo 'slurm_load_partitions: Could not establish a configuration source' >&2; exit 1",
         "error: sinfo: this machine knows no cluster; run this on a login node; "),
        (None, "error: sinfo: not found; "),
    ],
)  # fmt: skip
def test_a_run_without_a_cluster_ends_before_its_first_job(
    bin_folder, monkeypatch, capsys, body, said
):
    submit.reach("local")  # asks nobody
    if body is None:
        monkeypatch.setenv("PATH", str(bin_folder))
    else:
        command(bin_folder / "sinfo", body)
    if not said:
        submit.reach("slurm")
    else:
        with pytest.raises(SystemExit, match="1"):
            submit.reach("slurm")
    assert capsys.readouterr().err.startswith(said)
