"""Whatever a costly stage runs again for, it takes over its last outputs if nothing has changed.

A workflow of two stages, of which the second notes each time that it is really run; its command is
that of the real ones. The drills on SLURM do the same with a training (tests/slurm).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

WORKFLOW = """
import sys

rule made:
    input: "words.txt"
    output: "results/models/a/model.bin", "results/models/a/manifest.json"
    params: job='{"code":"abc","inputs":{"text":"words.txt"},"output":"results/models/a",'
                '"results":"results","spec":{"model":{"name":"paper"}}}'
    shell: "{sys.executable} stage.py {params.job:q} > log 2>&1"

rule words:
    input: "list.txt"
    output: "words.txt"
    shell: "grep -w -f list.txt sentences.txt > {output}"
"""
STAGE = """
import sys, time
from pathlib import Path
from poshgrid import logs
from poshgrid.config import specs
from poshgrid.stages.stage import Stage, run

class Made(Stage):
    Spec = specs.ModelSpec
    outputs = ("model.bin",)
    costly = True

    @staticmethod
    def run(job):
        with Path("runs").open("a") as stream:
            stream.write("run\\n")
        while not Path("go").exists():
            time.sleep(0.05)
        job.output.mkdir(parents=True, exist_ok=True)
        (job.output / "model.bin").write_bytes(b"weights")
        return {}

logs.setup()
run(Made, sys.argv[1])
"""


class Site:
    """A working folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.manifest = folder, folder / "results/models/a/manifest.json"
        (folder / "Snakefile").write_text(WORKFLOW, encoding="utf-8")
        (folder / "stage.py").write_text(STAGE, encoding="utf-8")
        (folder / "sentences.txt").write_text("a b c\nd e f\n", encoding="utf-8")
        (folder / "list.txt").write_text("a\n", encoding="utf-8")

    def start(self, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "snakemake", "-c", "1", "--rerun-incomplete", *options]
        with (self.folder / "said").open("ab") as stream:
            return subprocess.Popen(
                command, cwd=self.folder, stdout=stream, stderr=stream, start_new_session=True
            )

    def finish(self, process: subprocess.Popen[bytes]) -> None:
        assert process.wait(120) == 0, (self.folder / "said").read_text()

    def wait(self, ready: Callable[[], bool]) -> None:
        end = time.monotonic() + 60
        while not ready():
            assert time.monotonic() < end, (self.folder / "said").read_text()
            time.sleep(0.05)

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """Kill Snakemake alone, once its job is at work; the job runs on."""
        self.wait(lambda: self.runs == 1)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        subprocess.run(
            [sys.executable, "-m", "snakemake", "--unlock"], cwd=self.folder, check=True,
            capture_output=True,
        )  # fmt: skip

    @property
    def runs(self) -> int:
        path = self.folder / "runs"
        return len(path.read_text().splitlines()) if path.exists() else 0

    @property
    def kept(self) -> int:
        return len(list(self.folder.glob("results/models/.a.finished/last/manifest")))


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def test_what_ended_meanwhile_is_taken_over(site: Site) -> None:
    site.kill(site.start())
    (site.folder / "go").touch()
    site.wait(lambda: site.manifest.exists() and site.kept == 1)
    made = site.manifest.read_bytes()
    site.finish(site.start())
    assert site.runs == 1
    assert "taken over" in (site.folder / "log").read_text()
    assert site.manifest.read_bytes() == made
    site.finish(site.start())
    assert site.runs == 1


@pytest.mark.slow
def test_a_duplicate_waits_and_takes_over(site: Site) -> None:
    site.kill(site.start())
    again = site.start()
    site.wait(lambda: "waiting for its end" in (site.folder / "log").read_text())
    (site.folder / "go").touch()
    site.finish(again)
    assert site.runs == 1


def test_an_edit_upstream_that_changes_no_byte_makes_nothing_again(site: Site) -> None:
    """A word that no sentence has; then one that a sentence has; and a run that is forced."""
    (site.folder / "go").touch()
    site.finish(site.start())
    assert (site.runs, site.kept) == (1, 1)
    before = site.manifest.stat().st_mtime_ns
    (site.folder / "list.txt").write_text("a\nxyzzy\n", encoding="utf-8")
    site.finish(site.start())
    assert site.manifest.stat().st_mtime_ns > before, "the job has run"
    assert site.runs == 1
    (site.folder / "list.txt").write_text("a\ne\n", encoding="utf-8")
    site.finish(site.start())
    assert (site.runs, site.kept) == (2, 1)
    site.finish(site.start("--forceall"))
    assert site.runs == 2
