"""A large grid: what is imported, what a job costs, how long a command gets."""

from __future__ import annotations

import json
import os
import pstats
import re
import shlex
import string
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from .conftest import Checkout

HEAVY = {
    "torch", "transformers", "tokenizers", "pandas", "polars", "pyarrow", "scipy", "numpy",
    "stanza", "spacy", "bambi", "pymc", "matplotlib", "minicons", "safetensors",
}  # fmt: skip
LONGEST = 128 * 1024
"""Bytes of one argument that Linux refuses (MAX_ARG_STRLEN); a job's command is one, to bash."""
LETTERS = string.ascii_lowercase * 2  # Snakemake takes many equal letters for a loop
HOOK = """
import atexit, json, os, sys
def _imported():
    tops = {name.partition(".")[0] for name in sys.modules}
    with open(os.environ["IMPORTED"], "w") as file:
        json.dump({"tops": sorted(tops), "ran": sys.argv[:1]}, file)
atexit.register(_imported)
"""


def factorial(root: Path, seeds: int, biases: list[str]) -> dict:
    """The paper's configuration with one experiment of so many seeds and biases in each cell."""
    found = yaml.safe_load((root / "config/config.yaml").read_text(encoding="utf-8"))
    found["evidence"]["shard_words"] = "100M"
    found["nulls"] = ["untrained"]
    found["experiments"] = [{
        "name": "scale", "conditions": ["baby-f"], "sizes": ["10M"], "learners": ["gpt2-mini"],
        "regimen": "sentence", "biases": biases, "seeds": list(range(1, seeds + 1)),
    }]  # fmt: skip
    return found


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
    path.write_text(yaml.safe_dump(factorial(root, seeds, ["none"])))
    subprocess.run(
        [sys.executable, "-m", "cProfile", "-o", str(profile), "-m", "snakemake", "-n", "--nolock",
         "--quiet", "all", "--configfile", str(path)],
        cwd=root, check=True, capture_output=True,
        env=os.environ
        | {"PYTHONPATH": str(root / "src"), "XDG_CACHE_HOME": str(folder / f"{seeds}")},
    )  # fmt: skip
    ours = (str(root / "src"), str(root / "workflow"), str(root / "Snakefile"))
    found: dict[str, int] = {}
    for (file, _, name), (_, number, *_) in pstats.Stats(str(profile)).stats.items():
        if file.startswith(ours):
            found[name] = found.get(name, 0) + number
    return found


@pytest.mark.slow
def test_our_own_cost_of_a_job_is_flat(root, tmp_path):
    """Equal steps of the number of runs add equal numbers of calls: no function is quadratic."""
    few, more, most = (calls(root, tmp_path, seeds) for seeds in (5, 10, 15))
    first = sum(more.values()) - sum(few.values())
    second = sum(most.values()) - sum(more.values())
    assert first > 100  # runs do cost something
    assert second <= 1.1 * first
    for name in ("_tree", "_source", "_imported"):  # once, however many jobs there are
        assert few[name] == most[name]


@pytest.fixture(scope="module")
def commands(root, tmp_path_factory):
    """The commands of a dry-run whose runs, written after each other, take over 64 KB."""
    folder = tmp_path_factory.mktemp("long")
    # Names as long as they may be, so that a few hundred runs do what thousands would.
    configuration = factorial(root, 110, ["none", "recency", "dyck+recency"])
    names = {"baby-f": "filtered-" + LETTERS, "gpt2-mini": "learner-" + LETTERS,
             "sentence": "regimen-" + LETTERS}  # fmt: skip
    configuration["conditions"] = [configuration["conditions"][0]]
    configuration["conditions"][0]["name"] = names["baby-f"]
    configuration["audit"]["conditions"] = []
    configuration["learners"][0]["name"] = names["gpt2-mini"]
    configuration["regimens"][1]["name"] = names["sentence"]
    configuration["models"] = []
    configuration["suites"] = [s for s in configuration["suites"]
                               if s["name"] in ("blimp", "filler-gap")]  # fmt: skip
    configuration["results"] = "results/" + "/".join(f"depth-{n}" for n in range(20))
    configuration["experiments"][0].update(
        conditions=[names["baby-f"]], learners=[names["gpt2-mini"]], regimen=names["sentence"]
    )
    checkout = Checkout(root, folder, configuration)
    result = checkout.snakemake("-n", "-p", "--nolock")
    assert not (folder / "results").exists()  # a dry-run writes nothing
    runs = set(re.findall(r"/models/(\S+)/model\.safetensors", result.stdout))
    assert sum(len(name) for name in runs) > LONGEST / 2
    return re.findall(r"^Shell command: *(poshgrid .*)$", result.stdout, re.M)


def test_no_command_is_too_long_for_linux(commands):
    stages = {command.split()[1] for command in commands}
    assert {"train", "score", "accuracy", "curves", "quality", "measures", "report"} <= stages
    longest = {}
    for command in commands:
        stage = command.split()[1]
        longest[stage] = max(longest.get(stage, 0), len(command.encode()))
    assert {stage: n for stage, n in longest.items() if n > LONGEST / 2} == {}


def test_short_commands_hold_their_whole_spec(root, tmp_path, tiny_configuration):
    """What fits stays in the command line, where a person can read and paste it."""
    checkout = Checkout(root, tmp_path, tiny_configuration)
    output = checkout.snakemake("-n", "-p", "--nolock", "exp1").stdout
    command = re.search(r"^Shell command: (poshgrid accuracy .*) > ", output, re.M)
    words = shlex.split(command[1])
    spec = json.loads(words[words.index("--spec") + 1])
    assert "baby-f/20K/gpt2-tiny/packed/none/seed42" in spec["runs"]
