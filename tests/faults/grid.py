"""A grid that is as small as can be and yet runs every stage: what the drills disturb."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import yaml

from poshgrid.corpora import toy

ROOT = Path(__file__).resolve().parents[2]
RESULTS = "results"
TARGET = "all"
"""Both experiments: their tables are one."""
TEXT = "drill.txt"
"""A source that is a file, in the data folder: the toy grammar's sentences have none to disturb."""
LINES = 10_000
"""Lines of it: enough to be reading them for a while."""


def configuration() -> dict[str, Any]:
    """Return the toy grid cut down to one size, and to the least that every rule needs."""
    tiny = yaml.safe_load((ROOT / "studies/posh-bench/toy.yaml").read_text(encoding="utf-8"))

    def named(section: str, *names: str) -> list[dict[str, Any]]:
        return [entry for entry in tiny[section] if entry["name"] in names]

    sentence = named("recipes", "sentence")[0] | {"epochs": 1, "checkpoint_every": 20}
    text = {"name": "text", "reader": "text", "path": TEXT}
    words = {"toy-baby": "19K", "text": "1K"}
    mixed = [{"source": name, "words": {"20K": number}} for name, number in words.items()]
    return tiny | {
        "results": RESULTS,
        "sources": [*named("sources", "toy-baby"), text],
        "corpora": [named("corpora", "baby")[0] | {"sources": mixed}],
        # The toy's own "baby" wants more evidence put back than one small corpus holds
        "conditions": [{"name": "baby", "corpus": "baby"}, *named("conditions", "baby-f")],
        "parsers": named("parsers", "spacy"),
        "evidence": tiny["evidence"] | {"compare": [], "parser": "spacy", "shard_words": "200K"},
        "models": named("models", "gpt2-tiny"),
        "recipes": [sentence],
        "biases": {"tree-planting": {"parser": "spacy"}},
        "experiments": [{
            # Two conditions that filtering alone tells apart: what deltas and perplexity are for
            "name": "drill", "conditions": ["baby", "baby-f"], "sizes": ["20K"], "seeds": [42],
            "models": ["gpt2-tiny"], "recipe": "sentence", "biases": ["none", "tree-planting"],
            "exclude": [{"condition": "baby", "bias": "tree-planting"}],
        }],
        "suites": named("suites", "posh", "choices"),
        "regressions": [
            {"name": "paper", "formula": "p(correct, n) ~ S(category) + (1|phenomenon)"}
        ],
    }  # fmt: skip


def rules() -> set[str]:
    """Return the names of the workflow's rules, less those that are only targets."""
    defined = re.compile(r"^(?:use rule \w+ as|rule) (\w+)", re.MULTILINE)
    files = (ROOT / "workflow" / "rules").glob("*.smk")
    return {name for file in files for name in defined.findall(file.read_text(encoding="utf-8"))}


def checkout(folder: Path) -> None:
    """Copy what a run needs of this checkout: edits that are made meanwhile disturb no drill."""
    folder.mkdir(parents=True)
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("src", "workflow", "resources", "studies"):
        shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=ignored)
    shutil.copy(ROOT / "Snakefile", folder)
    sentences = itertools.islice(toy.sentences("baby", seed=3), LINES)
    (folder / "resources" / TEXT).write_text("".join(f"{s.text}\n" for s in sentences))
    text = yaml.safe_dump(configuration(), sort_keys=False)
    (folder / "grid.yaml").write_text(text, encoding="utf-8")
    # `poshgrid` of the copy, whatever is installed
    binaries = folder / "bin"
    binaries.mkdir()
    command = binaries / "poshgrid"
    command.write_text(
        f"#!{sys.executable}\nimport sys\nfrom poshgrid.__main__ import main\nsys.exit(main())\n"
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
