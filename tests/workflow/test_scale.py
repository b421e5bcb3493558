"""A large grid: what is imported, and what a job costs."""

from __future__ import annotations

import json
import os
import pstats
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

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


def calls(root: Path, folder: Path, seeds: int) -> dict[str, int]:
    """Count the calls of our functions in a dry-run: they, not time, tell what a job costs us."""
    path, profile = folder / f"{seeds}.yaml", folder / "profile"
    found = yaml.safe_load((root / "config/config.yaml").read_text(encoding="utf-8"))
    found["evidence"]["shard_words"] = "100M"
    found["nulls"] = ["untrained"]
    found["experiments"] = [{
        "name": "scale", "conditions": ["baby-f"], "sizes": ["10M"], "learners": ["gpt2-mini"],
        "regimen": "sentence", "biases": ["none"], "seeds": list(range(1, seeds + 1)),
    }]  # fmt: skip
    path.write_text(yaml.safe_dump(found))
    subprocess.run(
        [sys.executable, "-m", "cProfile", "-o", str(profile), "-m", "snakemake", "-n", "--nolock",
         "--quiet", "all", "--configfile", str(path)],
        cwd=root, check=True, capture_output=True,
        env=os.environ
        | {"PYTHONPATH": str(root / "src"), "XDG_CACHE_HOME": str(folder / f"{seeds}")},
    )  # fmt: skip
    ours = (str(root / "src"), str(root / "workflow"), str(root / "Snakefile"))
    counts: dict[str, int] = {}
    for (file, _, name), (_, number, *_) in pstats.Stats(str(profile)).stats.items():
        if file.startswith(ours):
            counts[name] = counts.get(name, 0) + number
    return counts


@pytest.mark.slow
def test_our_own_cost_of_a_job_is_flat(root, tmp_path):
    """Equal steps of the number of runs add equal numbers of calls: no function is quadratic."""
    few, more, most = (calls(root, tmp_path, seeds) for seeds in (5, 10, 15))
    first = sum(more.values()) - sum(few.values())
    second = sum(most.values()) - sum(more.values())
    assert first > 100  # runs do cost something
    assert second <= 1.1 * first
    for name in ("_tree", "_imported"):  # once, however many jobs there are
        assert few[name] == most[name]
