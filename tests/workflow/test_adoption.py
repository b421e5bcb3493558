"""Whatever a costly stage runs again for, it takes over its last outputs if nothing has changed.

A workflow of two stages, of which the second notes each time that it is really run; its command is
that of the real ones. The drills on SLURM do the same with a training (tests/slurm).
"""

from __future__ import annotations

import subprocess
import sys
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
import sys
from pathlib import Path
from poshgrid import logs
from poshgrid.config import specs
from poshgrid.stages.stage import Stage, run

class Made(Stage):
    Spec = specs.RegressionSpec
    outputs = ("model.bin",)
    costly = True

    @staticmethod
    def run(job):
        with Path("runs").open("a") as stream:
            stream.write("run\\n")
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

    def make(self, *options: str) -> None:
        """Run Snakemake to its end."""
        command = [sys.executable, "-m", "snakemake", "-c", "1", "--rerun-incomplete", *options]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    @property
    def runs(self) -> int:
        path = self.folder / "runs"
        return len(path.read_text().splitlines()) if path.exists() else 0


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def test_an_edit_upstream_that_changes_no_byte_makes_nothing_again(site: Site) -> None:
    """A word that no sentence has; then one that a sentence has; and a run that is forced."""
    site.make()
    made = site.manifest.read_bytes()
    assert site.runs == 1
    before = site.manifest.stat().st_mtime_ns
    (site.folder / "list.txt").write_text("a\nxyzzy\n", encoding="utf-8")
    site.make()
    assert site.manifest.stat().st_mtime_ns > before, "the job has run"
    assert (site.runs, site.manifest.read_bytes()) == (1, made)
    assert "taken over" in (site.folder / "log").read_text()
    (site.folder / "list.txt").write_text("a\ne\n", encoding="utf-8")
    site.make()
    assert site.runs == 2
    site.make("--forceall")
    assert site.runs == 2
