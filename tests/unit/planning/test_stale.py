"""What Snakemake has no record of: manifests tell it, and the remedy runs that and no more."""

from __future__ import annotations

import copy
import json
import os
import re
import shutil
from dataclasses import replace

import pytest
import yaml

from poshgrid import verification
from poshgrid.files import write_json
from poshgrid.planning import jobs, stale
from poshgrid.planning.jobs import Job
from tests import forks
from tests.workflow.conftest import Checkout

COMMAND = "import poshgrid.commands.plan; from poshgrid.cli import main; main()"
MANIFESTS = """
import json
from poshgrid.grid import arguments

given = arguments.expanded(sys.argv[1:])
option = lambda name: given[given.index(name) + 1] if name in given else None
found = {"command": ["poshgrid", *given], "code": option("--code")}
if option("--spec"):
    found["spec"] = json.loads(option("--spec"))
for path in [output.with_name(output.stem + ".manifest.json"), output / "manifest.json",
             output.parent / "manifest.json"]:
    if path in made:  # not a neighbour's, which may not have filled its own yet
        path.write_text(json.dumps(found))
        break
"""
"""What the stub adds: manifests with the spec and the code of its command line, as stages write."""


@pytest.fixture(scope="module")
def made(root, tmp_path_factory):
    """The smallest grid that has a filter and two seeds, completed by a stub.

    Long arguments are long from 300 bytes: the specs of tables and reports lie in files.
    """
    configuration = yaml.safe_load((root / "config/tiny.yaml").read_text(encoding="utf-8"))
    configuration["experiments"] = [
        {"name": "arms", "conditions": ["baby-f"], "sizes": ["20K"], "learners": ["gpt2-tiny"],
         "regimen": "packed", "biases": ["none"], "seeds": [42, 53]},
    ]  # fmt: skip
    configuration["suites"] = configuration["suites"][:1]
    configuration["models"] = configuration["models"][2:]
    configuration["filtering"] = {"perplexity": False}
    checkout = Checkout(root, tmp_path_factory.mktemp("checkout"), configuration)
    stub = checkout.folder / "bin/poshgrid"
    stub.write_text(stub.read_text() + MANIFESTS)
    checkout.append("src/poshgrid/grid/arguments.py", "LONGEST = 300")
    checkout.complete("arms")
    assert list((checkout.folder / "results/tiny/arguments").iterdir())
    return checkout


@pytest.fixture
def checkout(made):
    """The completed grid; the configuration, results and records are put back after a test."""
    kept, configuration = made.folder.with_name("kept"), copy.deepcopy(made.configuration)
    for name in ("results", ".snakemake", "src"):
        shutil.copytree(made.folder / name, kept / name, symlinks=True)
    yield made
    made.configuration = configuration
    for name in ("results", ".snakemake", "src"):
        shutil.rmtree(made.folder / name)
    shutil.copytree(kept, made.folder, symlinks=True, dirs_exist_ok=True)
    shutil.rmtree(kept)


def forget(checkout):
    """Take Snakemake's record away, as in a clone."""
    shutil.rmtree(checkout.folder / ".snakemake")


def plan(checkout, *arguments):
    (checkout.folder / "config.yaml").write_text(
        yaml.safe_dump(checkout.configuration, sort_keys=False)
    )
    words = ("-c", COMMAND, "plan", "config.yaml", "--target", "arms", *arguments)
    found = forks.python(words, checkout.folder, checkout.environment)
    assert (found.returncode, found.stderr) == (0, "")
    return found.stdout


def planned(checkout):
    """The plan, its groups by rule and reasons, and its numbers of jobs."""
    found = json.loads(plan(checkout, "--json", "--examples", "9"))
    groups = {(group["rule"], *group["reasons"]): group for group in found["reasons"]}
    return found, groups, {r["rule"]: r["run"] for r in found["rules"] if r["run"]}


def dry(checkout, *arguments):
    """The numbers of jobs of Snakemake's dry-run."""
    said = checkout.snakemake("-n", "--rerun-incomplete", *arguments, "--", "arms").stdout
    table = said.split("Job stats:")[1].split("total")[0] if "Job stats:" in said else ""
    counts = {rule: int(n) for rule, n in re.findall(r"^(\w+) +(\d+)$", table, re.M)}
    counts.pop("arms", None)
    return counts


def files(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_without_a_record_nothing_is_stale_that_is_not_changed(checkout):
    forget(checkout)
    before = files(checkout.folder / "results")
    found, groups, _ = planned(checkout)
    assert groups == {}
    assert found["unrecorded"] == {"jobs": 0, "remedy": None}
    # Fewer runs: what compares them is another, no run is.
    checkout.configuration["experiments"][0]["seeds"] = [42]
    assert set(planned(checkout)[1]) == {
        ("accuracy", "parameter", "unrecorded"),
        ("curves", "parameter", "unrecorded"),
        ("rule_shares", "parameter", "unrecorded"),
        ("report", "upstream", "unrecorded"),
    }
    # Nothing was written, not even the arguments that a run would put into files.
    assert files(checkout.folder / "results") == before


@pytest.mark.slow
def test_the_remedy_runs_what_is_stale_and_what_follows(checkout):
    checkout.configuration["regimens"][0]["learning_rate"] = "2e-3"
    by_record, groups, counts = planned(checkout)
    assert by_record["unrecorded"] == {"jobs": 0, "remedy": None}
    told = groups["train", "parameter"]["changes"]
    assert told == ["regimen.learning_rate: 0.005 -> 0.002"]

    forget(checkout)
    assert dry(checkout) == {}
    found, groups, unrecorded = planned(checkout)
    assert unrecorded == counts  # as with the record
    assert groups["train", "parameter", "unrecorded"]["changes"] == told
    assert set(groups) == {("train", "parameter", "unrecorded")} | {
        (rule, "upstream", "unrecorded") for rule in counts if rule != "train"
    }
    assert found["unrecorded"]["jobs"] == sum(counts.values())
    assert found["unrecorded"]["remedy"] == (
        "snakemake --configfile config.yaml "
        "-R $(poshgrid plan config.yaml --target arms --stale) -- arms"
    )
    assert found["unrecorded"]["remedy"] in plan(checkout)  # in one line

    listed = plan(checkout, "--stale").split()
    cell = "results/tiny/models/baby-f/20K/gpt2-tiny/packed/none"
    assert listed == [f"{cell}/seed{seed}/manifest.json" for seed in (42, 53)]
    assert dry(checkout, "-R", *listed) == counts
    for manifest in listed:  # the stub fills empty ones
        (checkout.folder / manifest).unlink()
    checkout.snakemake("--cores", "1", "--quiet", "all", "-R", *listed, "--", "arms")
    assert planned(checkout)[1] == {}


@pytest.mark.slow
def test_what_is_missing_for_the_remedy_runs_too(checkout):
    """Code of one stage; a spec in a file; and scores that Snakemake does not miss by itself."""
    forget(checkout)
    checkout.append("src/poshgrid/tokenization/sweep.py", "ANOTHER = 1")
    checkout.configuration["quality"] = {"tolerance": 0.09}
    for path in (checkout.folder / "results/tiny/scores").rglob("untrained/none/seed42/posh*"):
        path.unlink()
    assert dry(checkout) == {}
    _, groups, counts = planned(checkout)
    assert groups["sweep", "code", "unrecorded"]["changes"] == []
    assert groups["score", "missing", "unrecorded"]["cells"] == [
        "baby-f/20K/gpt2-tiny/untrained/none/42"
    ]
    (told,) = groups["quality", "parameter", "unrecorded"]["changes"]
    assert told.startswith("tolerance: ")
    assert told.endswith(" -> 0.09")
    assert groups["accuracy", "parameter", "unrecorded"]["changes"] == []  # in a file
    listed = plan(checkout, "--stale").split()
    assert "results/tiny/tokenizers/baby-f/20K/sweep.manifest.json" in listed
    assert dry(checkout, "-R", *listed) == counts


def test_results_of_another_checkout_are_not_what_the_record_here_says(checkout):
    """Snakemake's record is of results that were made again elsewhere since."""
    path = next((checkout.folder / "results/tiny/models").rglob("packed/none/seed53/manifest.json"))
    before, content = path.stat(), json.loads(path.read_text())
    content["spec"]["regimen"]["steps"] = 7
    path.write_text(json.dumps(content))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert dry(checkout) == {}
    _, groups, _ = planned(checkout)
    group = groups["train", "parameter", "unrecorded"]
    assert group["changes"] == ["regimen.steps: 7 -> 600"]
    assert group["cells"] == ["baby-f/20K/gpt2-tiny/packed/none/53"]


SPEC = {"a": 1, "b": {"c": "x y"}}
TEXT = '{"a":1,"b":{"c":"x y"}}'


def warned(checkout, *arguments):
    """Return the lines in which a dry-run tells of models that Snakemake takes for up to date."""
    told = checkout.snakemake("-n", "--quiet", "all", *arguments).stderr.splitlines()
    return [line for line in told if "models were trained with another configuration" in line]


@pytest.mark.slow
def test_snakemake_itself_is_told_of_models_of_another_configuration(checkout):
    assert warned(checkout, "--", "arms", "all") == []
    kept = checkout.folder / "kept_record"
    shutil.move(checkout.folder / ".snakemake", kept)
    assert warned(checkout, "--", "arms", "all") == []  # no record, and nothing has changed
    assert warned(checkout, "--config", "only=seed=42", "--", "arms") == []
    shutil.rmtree(checkout.folder / ".snakemake")
    shutil.move(kept, checkout.folder / ".snakemake")
    checkout.configuration["regimens"][0]["learning_rate"] = "2e-3"
    assert warned(checkout, "--", "arms") == []  # Snakemake sees it, and trains them
    forget(checkout)
    (line,) = warned(checkout, "--", "arms")
    assert "arms: 2 models" in line
    assert len(warned(checkout, "--", "arms", "all")) == 2
    listed = plan(checkout, "--stale").split()
    assert warned(checkout, "-R", *listed, "--", "arms") == []
    assert warned(checkout, "--", listed[0]) == []  # single files are no target


def job(manifest, **params):
    return Job(0, "train", {}, (), (), (), str(manifest), params)


@pytest.mark.parametrize(
    ("content", "params", "reasons", "changes"),
    [
        ({"spec": SPEC, "code": "1f"}, {"spec": TEXT, "code": "1f"}, (), ()),
        ({"spec": SPEC, "code": "1f"}, {"spec": f"--spec '{TEXT}'", "code": "1f"}, (), ()),
        ({"spec": SPEC}, {"spec": TEXT.replace("1", "2")}, ("parameter",), ("a: 1 -> 2",)),
        ({"spec": SPEC}, {"spec": f"--spec '{TEXT.replace('1', '2')}'"}, ("parameter",),
         ("a: 1 -> 2",)),
        # Equal in Python, not in the text that Snakemake compares.
        ({"spec": {"a": 1}}, {"spec": '{"a":true}'}, ("parameter",), ()),
        ({"spec": SPEC}, {"spec": "@r/0123456789abcdef.arguments"}, ("parameter",), ()),
        ({"spec": SPEC, "code": "1f"}, {"spec": TEXT, "code": "2f"}, ("code",), ()),
        ({"spec": {}, "code": "1f"}, {"spec": '{"a":1}', "code": "2f"}, ("parameter", "code"),
         ("a: null -> 1",)),
        # Stages without a spec; run by hand without a code; of earlier versions; no manifest.
        ({"spec": None, "code": "1f"}, {"code": "1f"}, (), ()),
        ({"spec": SPEC, "code": ""}, {"spec": TEXT, "code": "2f"}, (), ()),
        ({"outputs": {}}, {"spec": TEXT, "code": "2f"}, (), ()),
        ([], {"spec": TEXT, "code": "2f"}, (), ()),
        (None, {"spec": TEXT, "code": "2f"}, (), ()),
    ],
)  # fmt: skip
def test_a_manifest_is_held_to_its_jobs_spec_and_code(tmp_path, content, params, reasons, changes):
    path = tmp_path / "manifest.json"
    if content is not None:
        write_json(path, content)
    found = stale.compare(job(path, **params))
    assert tuple(map(tuple, found)) == (reasons, changes)


@pytest.mark.parametrize(
    ("read", "reasons"),
    [("as it was", []), ("another text", ["input"]), (None, [])],
)
def test_a_manifest_is_held_to_the_files_that_no_job_writes(tmp_path, monkeypatch, read, reasons):
    """Another folder, with other data under the same names, may have made the result."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("as it was")
    inputs = {"corpus.txt": verification.sha256(corpus), "gone.txt": "0"}
    write_json(tmp_path / "manifest.json", {"spec": SPEC, "inputs": inputs})
    corpus.write_text(read) if read else corpus.unlink()
    mine = replace(job(tmp_path / "manifest.json", spec=TEXT), reads=("corpus.txt", "other.txt"))
    assert stale.compare(mine) == (reasons, [])
    absolute = replace(mine, reads=(str(corpus),))
    assert stale.compare(absolute) == (reasons, [])


def test_a_long_spec_is_known_by_the_name_of_its_file(tmp_path, monkeypatch):
    monkeypatch.setattr("poshgrid.grid.arguments.LONGEST", 10)
    path = tmp_path / "manifest.json"
    write_json(path, {"spec": SPEC})
    for folder in ("r/arguments", "of two words/arguments"):
        from poshgrid.grid import arguments

        spec = arguments.short(["--spec", TEXT], folder, write=False)
        assert spec.lstrip("'").startswith("@")
        assert stale.compare(job(path, spec=spec)) == ([], [])
        other = spec.replace("arguments/", "arguments/0")
        assert stale.compare(job(path, spec=other)) == (["parameter"], [])


def test_only_the_cause_is_listed(tmp_path, monkeypatch):
    """Two stale jobs in a chain, and one that has a reason by itself; in any workflow."""
    (tmp_path / "Snakefile").write_text(
        "rule all:\n    input: 'c/manifest.json', 'other'\n"
        "rule a:\n    output: 'a/manifest.json'\n    params: code='new'\n    shell: 'false'\n"
        "rule b:\n    input: 'a/manifest.json'\n    output: 'b'\n    shell: 'false'\n"
        "rule c:\n    input: 'b'\n    output: 'c/manifest.json'\n    params: code='new'\n"
        "    shell: 'false'\n"
        "rule d:\n    input: 'a/manifest.json'\n    output: 'other'\n    shell: 'false'\n"
    )
    for name in ("a/manifest.json", "b", "c/manifest.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write_json(tmp_path / name, {"code": "old"})
    monkeypatch.chdir(tmp_path)
    assert [j.reasons for j in jobs.read([], "all")] == [(), (), ("missing",), ()]
    found = jobs.read([], "all", None, stale.compare)
    assert {each.rule: each.reasons for each in found} == {
        "a": ("code", "unrecorded"), "b": ("upstream", "unrecorded"), "d": ("missing",),
        "c": ("upstream", "unrecorded"),
    }  # fmt: skip
    assert list(stale.manifests(found)) == ["a/manifest.json"]
