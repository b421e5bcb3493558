"""``poshgrid doctor`` and ``poshgrid orphans`` on a real SLURM."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from poshgrid.cluster import fit, orphans, probe, sbatch, slurm

pytestmark = [pytest.mark.slurm, pytest.mark.usefixtures("cluster")]
SNAKEFILE = """
rule all:
    input: "a"
    localrule: True
rule slow:
    output: "a"
    resources: mem_mb=700, runtime=2
    shell: "sleep 90; touch {output}"
"""


def test_a_job_of_the_doctor_comes_back_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    seen = probe.look(tmp_path / "results", "", patience=100)
    lines = [finding.line() for finding in probe.findings(seen, gpu=False)]
    assert [line for line in lines if not line.startswith("ok")] == []
    assert any("reads what is written here" in line for line in lines)
    assert not (tmp_path / "results").exists()
    names = subprocess.run(
        ["squeue", "-h", "-t", "PD,R", "-n", probe.NAME], capture_output=True, text=True, check=True
    )
    assert names.stdout == ""


def test_what_does_not_fit_is_told(tmp_path: Path) -> None:
    nodes, partitions = slurm.nodes(), slurm.partitions()
    assert {node.partition for node in nodes} <= set(partitions)
    too_much = sbatch.Request(flags="-t 60", mem_mb=10**9, runtime=60)
    assert "MB, and the nodes of" in fit.problems(too_much, nodes, partitions)[0].what
    refused = probe.look(tmp_path / "results", "-p nowhere", patience=5)
    assert "not submitted" in refused.trouble


@pytest.mark.parametrize("quiet", [[], ["--quiet", "all"]])
def test_jobs_of_a_killed_snakemake_are_orphans(tmp_path: Path, quiet: list[str]) -> None:
    """Alive before, dead after SIGKILL; its job is cancelled."""
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    process = subprocess.Popen(
        [sys.executable, "-m", "snakemake", "--executor", "slurm", "--jobs", "1",
         "--slurm-status-command", "squeue", *quiet],
        cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    found: list[orphans.Run] = []
    try:
        end = time.monotonic() + 120
        while not found and time.monotonic() < end:
            time.sleep(0.5)
            found = orphans.runs(tmp_path)
        assert [run.life for run in found] == ["unknown" if quiet else "alive"]
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        found = orphans.runs(tmp_path)
        assert [run.life for run in found] == ["dead"]
        assert orphans.locked(tmp_path)
        assert orphans.cancel(orphans.chosen(found, None)) == (1, [])
        end = time.monotonic() + 60
        while orphans.runs(tmp_path) and time.monotonic() < end:
            time.sleep(0.5)
        assert orphans.runs(tmp_path) == []
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        orphans.cancel(found)
