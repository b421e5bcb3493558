"""Dry-runs of the shipped grids, the profiles, the environments and the error messages."""

import re
import subprocess
from pathlib import Path

import pytest

from tests import forks
from tests.cases import read_cases
from tests.shipped import STUDIES

EXPECTED = read_cases(__file__, "dry_run")
JOBS = EXPECTED["studies"] | EXPECTED["whole"]


def snakemake(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return forks.python(("-m", "snakemake", *arguments), root)


def counts(root: Path, *arguments: str) -> dict[str, int]:
    """Return rule -> jobs of a dry-run."""
    done = snakemake(root, "-n", "--nolock", "--quiet", "rules", *arguments)
    assert done.returncode == 0, done.stderr
    table = re.findall(r"^(\w+)\s+(\d+)$", done.stdout + done.stderr, re.M)
    jobs = {rule: int(number) for rule, number in table}
    assert jobs.pop("total") == sum(jobs.values())
    return jobs


@pytest.mark.parametrize(
    "profile", [pytest.param("profiles/slurm", marks=pytest.mark.slow), "slurm"]
)
def test_full_factorial_job_by_job(root, profile):
    assert counts(root, "--profile", profile, "full") == EXPECTED["full"]


@pytest.mark.parametrize("study", STUDIES)
def test_studies_job_by_job(root, study, tmp_path):
    assert (root / "studies" / study / "toy.yaml").is_file()
    path = str(root / "studies" / study / "config.yaml")
    # A run here may have left results
    jobs = counts(root, "--configfile", path, "--config", f"results={tmp_path / 'none'}")
    if study in EXPECTED["whole"]:
        assert jobs == JOBS[study]
    assert {rule: jobs.get(rule, 0) for rule in JOBS[study]} == JOBS[study]


def test_a_file_of_a_name_that_the_grid_has_not_is_not_made(root):
    """Of another size it would hold what the corpus has, and bear the wrong name."""
    named = "results/tiny/conditions/baby-f/30K/train.parquet"
    result = snakemake(root, "-n", "--nolock", named, "--configfile", "config/tiny.yaml")
    assert result.returncode
    assert f"No rule to produce {named}" in result.stderr + result.stdout
    assert "Traceback" not in result.stderr


def test_the_default_profile_is_found(root):
    """Snakemake finds it by itself, so that an interrupted run needs no flag."""
    listed = snakemake(root, "--list-rules", "--nolock")
    assert "workflow specific profile profiles/default" in listed.stderr


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
    file = snakemake(root, *arguments, "--config", f"results={path}")
    assert f"error: results: {path}" in file.stderr
    for result in (key, ours, file):
        assert result.returncode == 1
        assert "Traceback" not in result.stdout + result.stderr
