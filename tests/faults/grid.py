"""A grid that is as small as can be and yet runs every stage: what the drills disturb."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
RESULTS = "results"
TARGET = "drill"


def configuration() -> dict[str, Any]:
    """Return config/tiny.yaml cut down to one condition, one size and one seed."""
    tiny = yaml.safe_load((ROOT / "config/tiny.yaml").read_text(encoding="utf-8"))

    def named(section: str, *names: str) -> list[dict[str, Any]]:
        return [entry for entry in tiny[section] if entry["name"] in names]

    sentence = named("regimens", "sentence")[0] | {"epochs": 1, "checkpoint_every": 20}
    return tiny | {
        "results": RESULTS,
        "sources": named("sources", "toy-baby"),
        "bases": named("bases", "baby"),
        "conditions": named("conditions", "baby-f"),
        "parsers": named("parsers", "spacy"),
        "evidence": {"parser": "spacy", "shard_words": "200K"},
        "learners": named("learners", "gpt2-tiny"),
        "regimens": [sentence],
        "biases": {"tree-planting": {"parser": "spacy"}},
        "experiments": [
            {
                "name": TARGET,
                "conditions": ["baby-f"],
                "sizes": ["20K"],
                "learners": ["gpt2-tiny"],
                "regimen": "sentence",
                "biases": ["none", "tree-planting"],
                "seeds": [42],
            }
        ],
        "suites": named("suites", "posh", "choices"),
        "models": [{"name": "paper", "formula": "p(correct, n) ~ S(category) + (1|phenomenon)"}],
    }


def checkout(folder: Path) -> None:
    """Copy what a run needs of this checkout: edits that are made meanwhile disturb no drill."""
    folder.mkdir(parents=True)
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("src", "workflow", "resources"):
        shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=ignored)
    shutil.copy(ROOT / "Snakefile", folder)
    text = yaml.safe_dump(configuration(), sort_keys=False)
    (folder / "grid.yaml").write_text(text, encoding="utf-8")
    # `poshgrid` of the copy, whatever is installed
    binaries = folder / "bin"
    binaries.mkdir()
    command = binaries / "poshgrid"
    command.write_text(
        f"#!{sys.executable}\nimport sys\nfrom poshgrid.cli import main\nsys.exit(main())\n"
    )
    command.chmod(0o755)


def environment(folder: Path) -> dict[str, str]:
    """Return the environment in which a copy runs: its own code, one thread for each library."""
    path = [str(folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
    return os.environ | {
        "PATH": os.pathsep.join(path),
        "PYTHONPATH": str(folder / "src"),
        "OMP_NUM_THREADS": "1",
        "XDG_CACHE_HOME": str(folder / ".cache"),
    }


def snakemake(*arguments: str) -> list[str]:
    """Return the command that makes the drill's target, with more arguments."""
    return [
        *(sys.executable, "-m", "snakemake", "--configfile", "grid.yaml", "--cores", "2"),
        *("--rerun-incomplete", "--quiet", "rules", "--latency-wait", "5"),
        *arguments,
    ]
