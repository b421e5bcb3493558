"""A large grid: what is imported, and what a job costs."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

HEAVY = {
    "torch", "transformers", "tokenizers", "pandas", "polars", "pyarrow", "scipy", "numpy",
    "stanza", "spacy", "bambi", "pymc", "matplotlib", "minicons", "safetensors",
}  # fmt: skip
HOOK = """
import atexit, json, os, sys
def _imported():
    tops = {name.partition(".")[0] for name in sys.modules}
    with open(os.environ["IMPORTED"], "w") as file:
        json.dump({"tops": sorted(tops), "ran": sys.argv[:1]}, file)
atexit.register(_imported)
"""


@pytest.fixture
def imported(root, tmp_path):
    """Run Python with its arguments; return the top-level modules that it had at its end."""

    def run(*arguments: str) -> set[str]:
        (tmp_path / "hook").mkdir(exist_ok=True)
        (tmp_path / "hook/sitecustomize.py").write_text(HOOK)
        told = tmp_path / "imported.json"
        path = os.pathsep.join([str(tmp_path / "hook"), str(root / "src")])
        result = subprocess.run(
            [sys.executable, *arguments], cwd=root, capture_output=True, text=True, check=False,
            env=os.environ | {"PYTHONPATH": path, "IMPORTED": str(told)},
        )  # fmt: skip
        assert result.returncode == 0, result.stdout + result.stderr
        return set(json.loads(told.read_text())["tops"])

    return run


def test_a_whole_dry_run_imports_nothing_heavy(imported, tmp_path):
    """Rules, input and params functions of the paper's grid import no more than Snakemake does.

    Its plug-in for SLURM imports pandas by itself.
    """
    dry = ("-m", "snakemake", "-n", "--nolock", "--quiet", "all")
    (tmp_path / "Snakefile").write_text("rule all:\n    shell: 'true'\n")
    bare = imported(*dry, "--snakefile", str(tmp_path / "Snakefile"))
    found = imported(*dry, "--", "exp3")
    assert "snakemake" in bare and "poshgrid" not in bare
    assert {"snakemake", "poshgrid"} <= found
    assert found & HEAVY - bare == set()


def test_the_hook_sees_what_is_imported(imported):
    assert imported("-c", "import numpy") & HEAVY == {"numpy"}
