"""Dry-runs of the shipped grids, the profiles, the environments and the error messages."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests import forks
from tests.shipped import STUDIES


def snakemake(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return forks.python(("-m", "snakemake", *arguments), root, os.environ | {"PATH": path})


def counts(output: str) -> dict[str, int]:
    return {rule: int(n) for rule, n in re.findall(r"^(\w+)\s+(\d+)$", output, re.M)}


def expected_full() -> dict[str, int]:
    """The jobs of `full` by hand: 11 cells, 5 biases, 3 seeds.

    Baselines: an untrained one for each cell and seed, three that count for each cell.
    """
    runs, untrained, counted = 11 * 5 * 3, 11 * 3, 11 * 3
    return {
        "read": 8, "mix": 2,
        # 100.2M words in shards of 2M: the labels of baby (wiki has no filter), trees of both
        # corpora
        "parse": 3 * 51, "evidence": 1, "distances": 11,
        "condition": 11, "tokenizer": 11, "sweep": 11, "tokens": 11,
        "audit": 1,  # of baby-f, at its largest size
        "side_effects": 2 * 3,  # of baby and baby-f below 100M, which is the bare corpus
        "ngrams": 2 * 4,  # of both corpora at four sizes
        "items": 8, "quality": 7, "measures": 1,  # one suite is not of pairs
        "train": runs, "untrained": untrained, "count": counted,
        "score": runs + counted,
        "accuracy": 1, "curves": 1, "report": 1, "full": 1,
        "heuristic_choices": 1, "heuristic_shares": 1,  # of all suites
        "deltas": 1,  # baby-f against baby
        "fit": 2,  # bias and factorial: the other models are of packed runs
    }  # fmt: skip


@pytest.mark.parametrize(
    "profile", [pytest.param("profiles/slurm", marks=pytest.mark.slow), "slurm"]
)
def test_full_factorial_job_by_job(root, profile):
    words = ("--profile", profile, "full", "-n", "--nolock", "--quiet", "rules")
    result = snakemake(root, *words)
    assert result.returncode == 0, result.stderr
    found = counts(result.stdout + result.stderr)
    found.pop("total")
    assert found == expected_full()


GIVEN = {"heuristic_choices": 1, "heuristic_shares": 1, "accuracy": 1, "report": 1, "all": 1}
"""What there is one of wherever minimal pairs are judged."""

JOBS = {
    # 11 cells of exp2 (exp1 is inside) and a recipe more for exp3's 5 arms and 5 controls
    "posh-bench/config.yaml": {"train": 33 + 30, "untrained": 33, "count": 33, "fit": 4},
    "posh-bench/toy.yaml": {"train": 6 * 2 + 6 + 2, "count": 18, "fit": 4},
    # Three conditions at three sizes and, at one, four doses more; five seeds each, one vocabulary
    "direct-evidence/config.yaml": {"condition": 3 * 3 + 4, "tokenizer": 1, "tokens": 13,
                                    "train": 5 * 13, "fit": 2},
    "direct-evidence/toy.yaml": {"condition": 4, "tokenizer": 1, "train": 2 * 4, "fit": 2},
    # Fifteen filters and the control, two models, five seeds; the whole corpus's condition, too,
    # on which the one list of words is made; BLiMP needs no n-gram model of the corpus
    "fict/config.yaml": {
        "read": 1, "mix": 1, "parse": 33, "evidence": 1, "condition": 16 + 1, "tokenizer": 1,
        "tokens": 16, "side_effects": 15, "items": 1, "quality": 1, "train": 160, "untrained": 160,
        "count": 3 * 16, "score": 160 + 3 * 16, "perplexity": 160, "deltas": 1, "fit": 1,
        "curves": 1, **GIVEN,
    },
    "fict/toy.yaml": {"train": 3 * 2 * 2, "count": 9, "perplexity": 12, "deltas": 1,
                      "tokenizer": 1},
    # Unmasking, corpora, concatenations, what comes first, ages: ten seeds each; the curriculum
    # and its rivals, six, in a recipe that goes on to the end of the pass
    "babyberta/config.yaml": {"train": 10 * (2 + 2 + 2 + 4 + 3) + 6 * 3,
                              "untrained": 10 * (2 + 2 + 2 + 4 + 2) + 6 * 2, "count": 3 * 11,
                              "fit": 1},
    "babyberta/toy.yaml": {"train": 2 * (2 + 2 + 3), "untrained": 2 * (2 + 2 + 2), "count": 5,
                           "curves": 1, "tokenizer": 1},
    # Nothing is trained; words are counted by two baselines
    "parasitic-gaps/config.yaml": {
        "read": 1, "mix": 1, "condition": 1, "items": 3, "count": 2, "score": 1 + 2, "measures": 3,
        "report": 1, "all": 1,
    },
    "babies/config.yaml": {"items": 8, "score": 1, "measures": 8, "report": 1, "all": 1},
    "parasitic-gaps/toy.yaml": {"train": 2, "measures": 1, "report": 1},
    "babies/toy.yaml": {"train": 2, "measures": 4, "report": 1},
}  # fmt: skip


@pytest.mark.parametrize("path", sorted(JOBS))
def test_studies_job_by_job(root, path, tmp_path):
    """Each study at both scales; one that trains nothing has no other job than these."""
    configuration = root / "studies" / path
    assert {f"{study}/{name}.yaml" for study in STUDIES for name in ("config", "toy")} == set(JOBS)
    result = snakemake(
        root, "-n", "--nolock", "--quiet", "rules", "--configfile", str(configuration),
        "--config", f"results={tmp_path / 'none'}",  # a run here may have left some
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    found = counts(result.stdout + result.stderr)
    total = found.pop("total")
    assert total == sum(found.values())
    assert {rule: found.get(rule, 0) for rule in JOBS[path]} == JOBS[path]
    if "train" not in JOBS[path] or "parse" in JOBS[path]:  # all that there is, by hand
        assert found == JOBS[path]


@pytest.mark.parametrize(
    "file", ["conditions/baby-f/30K/train.parquet", "corpora/babyf/sentences.parquet",
             "models/baby/20K/gpt3-tiny/packed/none/seed42/config.json"]
)  # fmt: skip
def test_a_file_of_a_name_that_the_grid_has_not_is_not_made(root, file):
    """Of another size it would hold what the corpus has, and bear the wrong name."""
    named = f"results/tiny/{file}"
    result = snakemake(root, "-n", "--nolock", named, "--configfile", "config/tiny.yaml")
    assert result.returncode
    assert f"No rule to produce {named}" in result.stderr + result.stdout
    assert "Traceback" not in result.stderr


def test_profiles_name_rules_that_exist(root):
    """Snakemake ignores unknown names in set-resources without a word."""
    listed = snakemake(root, "--list-rules", "--nolock")
    rules = set(listed.stdout.split())
    # Snakemake finds the default profile by itself, so that an interrupted run needs no flag
    assert "workflow specific profile profiles/default" in listed.stderr
    given = yaml.safe_load((root / "profiles/default/config.yaml").read_text(encoding="utf-8"))
    assert given == {
        "rerun-incomplete": True, "show-failed-logs": True, "scheduler": "greedy",
    }  # fmt: skip
    profile = yaml.safe_load((root / "profiles/slurm/config.yaml").read_text(encoding="utf-8"))
    assert set(profile["set-resources"]) <= rules


def test_misspelt_words_are_one_line_and_no_traceback(root, tmp_path):
    """`poshgrid run` checks targets before Snakemake starts; `snakemake` has its own message."""
    path = tmp_path / "mine.yaml"
    text = (root / "config/tiny.yaml").read_text(encoding="utf-8")
    path.write_text(text.replace("    learning_rate: 5e-3", "    learnig_rate: 5e-3", 1))
    key = snakemake(root, "-n", "--nolock", "--configfile", str(path))
    (line,) = [line for line in key.stderr.splitlines() if "error:" in line]
    assert "mine.yaml:" in line and "'learning_rate'" in line
    arguments = ("-n", "--nolock", "exp9", "--configfile", "config/tiny.yaml")
    launch = "from poshgrid.planning.launch import main; main()"
    ours = forks.python(("-c", launch, *arguments), root)
    assert ours.stderr.splitlines()[-1].startswith("error: unknown target 'exp9'; ")
    plain = snakemake(root, *arguments)
    assert "exp9" in plain.stdout + plain.stderr
    file = snakemake(root, *arguments, "--config", f"results={path}")
    assert f"error: results: {path}" in file.stderr
    for result in (key, ours, plain, file):
        assert result.returncode == 1
        assert "Traceback" not in result.stdout + result.stderr
