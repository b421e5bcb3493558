"""What would run, and why: as Snakemake's own dry-run says, and in words that name the cause."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from poshgrid.errors import PoshgridError
from poshgrid.planning import jobs, launch
from tests import forks

PLAN = "import poshgrid.commands.plan; from poshgrid.cli import main; main()"


def test_a_plan_of_the_papers_grid_needs_no_data(root, tmp_path):
    """Every job of every rule is planned, from nothing, in an empty folder."""
    (tmp_path / "c.yaml").write_text("{results: r, data: d}")
    words = (root / "config/config.yaml", "c.yaml", "--target", "exp2", "--json", "--gpu", "h100")
    found = forks.python(("-c", PLAN, "plan", *words), tmp_path)
    assert found.returncode == 0, found.stderr
    plan = json.loads(found.stdout)
    by_rule = plan["rules"]
    # 11 cells x 3 seeds; as many untrained; three word baselines a cell
    assert plan["training"]["runs"] == 33
    assert (by_rule["train"], by_rule["untrained"], by_rule["count"]) == (33, 33, 33)
    assert by_rule["score"] == 33 + 33
    assert plan["jobs"]["up_to_date"] == 0
    assert any(note.startswith("not ready: exp2: ") for note in plan["notes"])
    assert not (tmp_path / "r").exists()
    assert {tuple(group["reasons"]) for group in plan["reasons"]} == {("missing",)}
    words = ("-c", PLAN, "plan", root / "config/tiny.yaml", "c.yaml")
    shown = forks.python(words, tmp_path)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "train_parser" in shown.stdout


def test_snakemakes_refusal_is_an_error_for_people(root, tmp_path, monkeypatch):
    """A rule's input that no job makes: Snakemake's reason, no traceback."""
    (tmp_path / "Snakefile").write_text(
        "rule all:\n    input: 'made.txt'\nrule make:\n    input: 'gone.txt'\n"
        "    output: 'made.txt'\n    shell: 'cp {input} {output}'\n"
    )
    monkeypatch.chdir(tmp_path)

    def planned():
        _, args, _ = launch.parsed(["-n", "--", "all"])
        with jobs.graph(args) as (workflow, _):
            return jobs.read(workflow)

    with pytest.raises(PoshgridError, match=r"all: Snakemake cannot plan it: .*gone\.txt"):
        planned()
    assert Path.cwd() == tmp_path
    (tmp_path / "gone.txt").write_text("here")
    found = planned()
    assert [(job.rule, job.reasons) for job in found] == [("make", ("missing",))]


def test_differences_name_keys_and_values():
    old = {"a": {"b": 1, "c": [1, 2]}, "d": None}
    new = {"a": {"b": 2, "c": [1, 2]}, "e": "x"}
    assert Counter(jobs.differences(old, new)) == Counter(["a.b: 1 -> 2", 'e: null -> "x"'])
