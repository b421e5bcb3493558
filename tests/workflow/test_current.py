"""Manifests decide what runs where Snakemake has no record of results, or one of other files."""

import copy
import json
import os
import random
import re
import shutil
import time

import pytest

from poshgrid.core import lock
from poshgrid.planning import current
from tests import forks, shipped

from .conftest import Checkout

PLAN = """
import json
from poshgrid.planning import launch, plan

parser, args, _ = launch.parsed(["-n", "config.yaml", "--", "arms"])
jobs = [job for job in plan.graph(parser, args, plan.read) if job.reasons]
print(json.dumps([(job.rule, job.reasons, job.changes) for job in jobs]))
"""
MANIFESTS = """
from poshgrid.core import verification

files = [[each] if isinstance(each, str) else each for each in job["inputs"].values()]
read = [file for each in files for file in (each.values() if isinstance(each, dict) else each)]
declared = list(read)
for file in [name for name in read if name.endswith("/manifest.json")]:  # of a folder that is read
    outputs = json.loads(Path(file).read_text())["outputs"]
    read += [str(Path(file).with_name(name)) for name in outputs]
for path in made:
    if path.is_file() and not path.stat().st_size and "manifest" not in path.name:
        path.write_text(str(job.get("spec")))
path = output / "manifest.json"
path.unlink()
digests = verification.check(read)
path.write_text(json.dumps({
    "path": str(path.absolute()), "command": sys.argv,
    "spec": job.get("spec"), "code": "-".join(filter(None, [job["code"], job["files"]])),
    "reads": verification.reads(path, declared, job["results"]),
    "inputs": {verification.relative(path, file): digests[file] for file in digests},
    "outputs": verification.outputs(path)[0]}))
"""
"""What the stub adds: manifests as stages write them, with the inputs of their jobs."""


@pytest.fixture(scope="module")
def made(root, tmp_path_factory):
    """The smallest grid that has a filter and two seeds, completed by a stub.

    Long jobs are long from 1,000 bytes: those of tables and reports lie in files.
    """
    configuration = shipped.toy()
    configuration["experiments"] = [
        {"name": "arms", "conditions": ["baby-f"], "sizes": ["20K"], "models": ["gpt2-tiny"],
         "recipe": "packed", "biases": ["none"], "seeds": [42, 53]},
    ]  # fmt: skip
    configuration["suites"] = configuration["suites"][:1]
    configuration["regressions"] = configuration["regressions"][2:]
    configuration["filtering"] = {"perplexity": False}
    checkout = Checkout(root, tmp_path_factory.mktemp("checkout"), configuration)
    stub = checkout.folder / "bin/poshgrid"
    stub.write_text(stub.read_text() + MANIFESTS)
    checkout.append("src/poshgrid/stages/stage.py", "MAX_ARGUMENT = 1_000")
    checkout.complete("arms")
    assert list((checkout.folder / "results/posh-bench-toy/arguments").iterdir())
    return checkout


@pytest.fixture
def checkout(made):
    """The completed grid without Snakemake's records; all is put back after a test."""
    kept, configuration = made.folder.with_name("kept"), copy.deepcopy(made.configuration)
    for name in ("results", ".snakemake", "src"):
        shutil.copytree(made.folder / name, kept / name, symlinks=True)
    shutil.rmtree(made.folder / ".snakemake")
    yield made
    made.configuration = configuration
    for name in ("results", ".snakemake", "src"):
        shutil.rmtree(made.folder / name, ignore_errors=True)
    shutil.copytree(kept, made.folder, symlinks=True, dirs_exist_ok=True)
    shutil.rmtree(kept)


def runs(checkout, *arguments):
    """Return rule -> number of jobs of a dry-run, and the lines that say what runs again."""
    done = checkout.snakemake("-n", *arguments, "--", "arms")
    table = done.stdout.split("Job stats:")[1].split("total")[0] if "Job st" in done.stdout else ""
    counts = {rule: int(n) for rule, n in re.findall(r"^(\w+) +(\d+)$", table, re.M)}
    counts.pop("arms", None)
    return counts, [line for line in done.stderr.splitlines() if " run again: " in line]


def plan(checkout):
    """Return the plan's (rule, reasons) -> what of the configuration has changed."""
    done = forks.python(("-c", PLAN), checkout.folder, checkout.environment)
    assert done.returncode == 0, done.stderr
    return {(rule, *why): changes for rule, why, changes in json.loads(done.stdout)}


def files(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def shuffle(folder):
    """Give all files of a folder times in any order, as a copy does."""
    draw = random.Random(1)
    for path in files(folder):
        moment = time.time() - draw.uniform(1_000, 100_000)
        os.utime(path, (moment, moment))


def test_a_copy_runs_nothing_and_has_records_from_then_on(checkout):
    shuffle(checkout.folder / "results")
    before = files(checkout.folder / "results")
    assert runs(checkout) == ({}, [])
    assert plan(checkout) == {}
    assert files(checkout.folder / "results") == before, "a dry-run changes nothing"
    assert not any((checkout.folder / ".snakemake/metadata").iterdir())
    shutil.move(checkout.folder / "results", checkout.folder / "moved")
    checkout.configuration["results"] = "moved/posh-bench-toy"
    assert runs(checkout) == ({}, [])
    done = checkout.snakemake("--cores", "1", "--", "arms")
    assert "Nothing to be done" in done.stdout + done.stderr
    shutil.move(checkout.folder / "moved", checkout.folder / "results")
    assert any((checkout.folder / ".snakemake/metadata").rglob("*"))
    # Records decide now: of a change, and of no change, although manifests are looked at no more
    checkout.configuration["results"] = "results/posh-bench-toy"
    checkout.snakemake("--cores", "1", "--", "arms")
    for manifest in (checkout.folder / "results").rglob("manifest.json"):
        moment = manifest.stat().st_mtime_ns
        manifest.write_text("{}")
        os.utime(manifest, ns=(moment, moment))
    assert runs(checkout) == ({}, [])
    checkout.configuration["recipes"][0]["learning_rate"] = "2e-3"
    assert runs(checkout)[0]["train"] == 2
    assert runs(checkout)[1] == []


def test_another_size_of_the_vocabulary_runs_the_cells_concerned(checkout):
    checkout.configuration["tokenizer"]["vocabulary_size"] += 8
    counts, lines = runs(checkout)
    assert (counts["tokenizer"], counts["train"]) == (1, 2)
    assert not counts.keys() & {"read", "mix", "parse", "evidence", "condition", "items"}
    assert "tokenizer: 1 run again: spec (1)" in lines
    assert plan(checkout)["tokenizer", "parameter"]
    # and so it stays until it was run
    assert runs(checkout) == (counts, lines)


def test_each_reason_is_counted(checkout):
    """Other code, other inputs, a manifest that is gone, and a spec in a file."""
    checkout.append("src/poshgrid/models/tokenization/sweep.py", "ANOTHER = 1")
    results = checkout.folder / "results/posh-bench-toy"
    tokens = next((results / "tokens").rglob("train.bin"))
    content = json.loads(tokens.with_name("manifest.json").read_text())
    content["outputs"]["train.bin"] = "0" * 64  # another run wrote it, elsewhere
    tokens.with_name("manifest.json").write_text(json.dumps(content))
    next((results / "models").rglob("packed/none/seed53/manifest.json")).unlink()
    checkout.configuration["scoring"] = {"reduction": "sum"}
    counts, lines = runs(checkout)
    assert set(lines) >= {
        "sweep: 1 run again: code (1)",
        "train: 2 run again: inputs (1), no manifest (1)",
        "accuracy: 1 run again: spec (1)",
    }
    assert (counts["sweep"], counts["train"], counts["accuracy"]) == (1, 2, 1)
    assert "tokens" not in counts


def test_results_that_another_folder_replaced_are_not_what_the_record_says(checkout):
    checkout.snakemake("--cores", "1", "--", "arms")
    models = checkout.folder / "results/posh-bench-toy/models"
    model = next(models.rglob("packed/none/seed53/manifest.json"))
    content = json.loads(model.read_text())
    content["spec"]["recipe"]["steps"] = 7
    model.write_text(json.dumps(content))
    counts, lines = runs(checkout)
    assert (counts["train"], lines) == (1, ["train: 1 run again: spec (1)"])
    assert plan(checkout)["train", "parameter"] == ["recipe.steps: 7 -> 300"]


def test_one_workflow_runs_on_the_results(checkout):
    """A dry-run may look."""
    release = lock.own(checkout.folder / "results/posh-bench-toy")
    assert runs(checkout) == ({}, [])
    refused = checkout.snakemake("--cores", "1", "--", "arms", check=False)
    (line,) = [line for line in refused.stderr.splitlines() if line.startswith("error: ")]
    assert refused.returncode == 1
    assert f"process {os.getpid()} on " in line
    release()
    assert checkout.snakemake("--cores", "1", "--", "arms").returncode == 0


JOB = {"spec": {"a": 1}, "code": "1f", "files": ""}


@pytest.mark.parametrize("content", [None, "{}", '{"spec": 1, "code": "1f"}'])
def test_a_result_without_a_sound_manifest_is_made_again(tmp_path, content):
    manifest = tmp_path / "manifest.json"
    if content is not None:
        manifest.write_text(content)
    assert current.differences({"job": json.dumps(JOB)}, str(manifest)) == ["no manifest"]


def test_a_job_that_would_read_other_results_runs_again(checkout):
    """No spec says which parser decides what is removed."""
    checkout.configuration["evidence"] |= {"parser": "spacy", "compare": ["spacy-long"]}
    checkout.configuration["experiments"][0]["seeds"] = [42]
    counts, lines = runs(checkout)
    assert "condition: 1 run again: inputs (1)" in lines
    assert counts["train"] == 1
