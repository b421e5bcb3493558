"""What would run, and why: as Snakemake's own dry-run says, and in words that name the cause."""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from pathlib import Path

import pytest
import yaml

from poshgrid.errors import PoshgridError
from poshgrid.planning import jobs
from tests import forks
from tests.workflow.conftest import Checkout

PLAN = "import poshgrid.commands.plan; from poshgrid.cli import main; main()"


@pytest.fixture(scope="module")
def checkout(root, tmp_path_factory):
    """The smallest grid that has two biases and parses, completed by a stub."""
    configuration = yaml.safe_load(
        (root / "studies/posh-bench/toy.yaml").read_text(encoding="utf-8")
    )
    configuration["experiments"] = [
        {"name": "arms", "conditions": ["baby-f"], "sizes": ["20K"], "learners": ["gpt2-tiny"],
         "regimen": "sentence", "biases": ["none", "recency"], "seeds": [42]},
    ]  # fmt: skip
    configuration["suites"] = configuration["suites"][:1]
    configuration["models"] = configuration["models"][2:]
    configuration["filtering"] = {"perplexity": False}
    made = Checkout(root, tmp_path_factory.mktemp("checkout"), configuration)
    made.complete("arms")
    return made


def planned(checkout, *arguments):
    """The plan as JSON, and Snakemake's own count of jobs by rule."""
    said = checkout.snakemake("-n", "--rerun-incomplete", "--", "arms").stdout
    table = said.split("Job stats:")[1].split("total")[0] if "Job stats:" in said else ""
    counts = {rule: int(n) for rule, n in re.findall(r"^(\w+) +(\d+)$", table, re.M)}
    words = ("-c", PLAN, "plan", "config.yaml", "--target", "arms", "--json")
    found = forks.python((*words, *arguments), checkout.folder, checkout.environment)
    assert found.returncode == 0, found.stderr
    assert found.stderr == ""
    counts.pop("arms", None)
    return json.loads(found.stdout), counts


def reasons(plan):
    return {(group["rule"], *group["reasons"]): group for group in plan["reasons"]}


@pytest.mark.slow
def test_causes_are_told_apart_and_nothing_else_would_run(checkout):
    plan, counts = planned(checkout)
    assert counts == {}
    assert plan["jobs"]["run"] == 0
    total = plan["jobs"]["up_to_date"]
    assert total > 20

    elsewhere, _ = planned(checkout, "--results", "elsewhere")
    assert elsewhere["jobs"] == {"run": total, "up_to_date": 0}
    assert elsewhere["results"] == "elsewhere"

    # A parameter of one bias, the code of one stage, an input file, and a result that is gone.
    configuration, checkout.configuration = checkout.configuration, json.loads(
        json.dumps(checkout.configuration)
    )  # fmt: skip
    checkout.configuration["biases"]["recency"] = {"decay": 0.7}
    checkout.append("src/poshgrid/tokenization/sweep.py", "ANOTHER = 1")
    scores = checkout.folder / "results/posh-bench-toy/scores"
    for path in scores.rglob("untrained/none/seed42/posh*"):
        path.unlink()
    plan, counts = planned(checkout, "--examples", "1")
    assert {rule["rule"]: rule["run"] for rule in plan["rules"] if rule["run"]} == counts
    assert plan["jobs"]["run"] + plan["jobs"]["up_to_date"] == total
    found = reasons(plan)
    assert found["train", "parameter"]["changes"] == ["options.recency.decay: null -> 0.7"]
    assert found["train", "parameter"]["cells"] == ["baby-f/20K/gpt2-tiny/sentence/recency/42"]
    assert found["train", "parameter"]["jobs"] == 1
    assert found["sweep", "code"]["changes"] == []
    assert ("score", "upstream") in found
    assert found["untrained", "missing"]["cells"] == ["baby-f/20K/gpt2-tiny/untrained/none/42"]
    assert (counts["score"], counts["untrained"]) == (1, 1)
    assert {key[0] for key in found} == set(counts)

    # A job that was cut off leaves a mark; its results are made again.
    checkout.configuration = configuration
    checkout.append("src/poshgrid/tokenization/sweep.py", "")
    output = "results/posh-bench-toy/tokenizers/baby-f/20K/tokenizer.json"
    mark = checkout.folder / ".snakemake/incomplete"
    mark.mkdir(exist_ok=True)
    (mark / base64.b64encode(output.encode(), altchars=b"_-").decode()).write_text("1")
    plan, counts = planned(checkout)
    assert {rule["rule"]: rule["run"] for rule in plan["rules"] if rule["run"]} == counts
    assert ("tokenizer", "incomplete") in reasons(plan)


def test_a_plan_of_the_papers_grid_needs_no_data(root, tmp_path):
    """Every job of every rule is planned, from nothing, in an empty folder."""
    (tmp_path / "c.yaml").write_text("{results: r, data: d}")
    words = (root / "config/config.yaml", "c.yaml", "--target", "exp2", "--json")
    found = forks.python(("-c", PLAN, "plan", *words), tmp_path)
    assert found.returncode == 0, found.stderr
    plan = json.loads(found.stdout)
    by_rule = {rule["rule"]: rule["run"] for rule in plan["rules"]}
    # 11 cells x 3 seeds; as many untrained; two word nulls a cell
    assert (plan["runs"], plan["nulls"]) == (33, 33 + 22)
    assert (by_rule["train"], by_rule["untrained"], by_rule["count"]) == (33, 33, 22)
    assert by_rule["score"] == 33 + 22
    assert plan["jobs"]["up_to_date"] == 0
    assert "childes" in plan["sources_missing"]
    assert not (tmp_path / "r").exists()
    assert {tuple(group["reasons"]) for group in plan["reasons"]} == {("missing",)}


def test_snakemakes_refusal_is_an_error_for_people(root, tmp_path, monkeypatch):
    """A rule's input that no job makes: Snakemake's reason, no traceback."""
    (tmp_path / "Snakefile").write_text(
        "rule all:\n    input: 'made.txt'\nrule make:\n    input: 'gone.txt'\n"
        "    output: 'made.txt'\n    shell: 'cp {input} {output}'\n"
    )
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PoshgridError, match=r"all: Snakemake cannot plan it: .*gone\.txt"):
        jobs.read([], "all")
    assert Path.cwd() == tmp_path
    (tmp_path / "gone.txt").write_text("here")
    found = jobs.read([], "all")
    assert [(job.rule, job.reasons) for job in found] == [("make", ("missing",))]


def test_differences_name_keys_and_values():
    old = {"a": {"b": 1, "c": [1, 2]}, "d": None}
    new = {"a": {"b": 2, "c": [1, 2]}, "e": "x"}
    assert Counter(jobs.differences(old, new)) == Counter(["a.b: 1 -> 2", 'e: null -> "x"'])
