"""Whatever the names in a configuration hold, a job reaches its stage as it was described.

Command lines are run by real shells, with a `poshgrid` that notes its words.
"""

from __future__ import annotations

import json
import os
import subprocess

import pytest
import yaml

from poshgrid.planning import launch, plan
from poshgrid.stages import STAGES
from tests import shipped

HOSTILE = (
    "-x $(touch pwned)`touch pwned`;touch pwned&|a b'c\"d\\f>g<h ~ * ? [a-z] # ! %s =, @f Zoë 你"
)
NAMES = {
    name: f"{HOSTILE} {name}"
    for name in ("results", "data", "text", "treebank", "gold", "parser", "norms",
                 "suite", "pretrained")
}  # fmt: skip
"""What is a path in the configuration -> its name."""
STUB = """#!/bin/sh
{ printf '%s\\0' "$@"; printf '\\1\\0'; } >> calls
"""


def configuration() -> dict:
    """Return the toy, which has every rule, its folders and files so named."""
    toy = shipped.toy()
    toy["sources"][1] = {"name": "toy-wiki", "reader": "text", "path": NAMES["text"]}
    for parser in toy["parsers"]:
        parser["treebank"] = {"path": [NAMES["treebank"]]}
    toy["parsers"].append({"name": "given", "engine": "spacy", "model": NAMES["parser"]})
    toy["evidence"] |= {"compare": ["given"], "gold": [NAMES["gold"]]}
    choices = toy["suites"][2] | {"norms": NAMES["norms"], "path": NAMES["suite"]}
    return toy | {
        "results": NAMES["results"],
        "data": NAMES["data"],
        "suites": [toy["suites"][0], choices],
        "pretrained": [{"name": "ours", "path": NAMES["pretrained"]}],
    }


def shelled(workflow):
    """Return the rules with a command, and their jobs with theirs."""
    made = [(job, job.shellcmd) for job in workflow.dag.jobs if job.shellcmd]
    return [rule for rule in workflow.rules if rule.shellcmd], made


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    """The folder, Snakemake's rules, and its jobs."""
    folder = tmp_path_factory.mktemp("hostile")
    data = folder / NAMES["data"]
    files = [data / NAMES[name] / "a b.conllu" for name in ("treebank", "gold")]
    files += [data / NAMES[name] for name in ("text", "norms", "suite")]
    files += [data / NAMES["pretrained"] / "config.json", data / NAMES["parser"] / "meta.json"]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x\n")
    (folder / "mine.yaml").write_text(yaml.safe_dump(configuration()), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        parser, arguments, _ = launch.parsed(["--configfile", "mine.yaml"])
        yield folder, *plan.graph(parser, arguments, shelled)


def test_every_rule_is_tried_with_every_name(planned):
    _, rules, made = planned
    assert {job.rule.name for job, _ in made} == {rule.name for rule in rules} == STAGES.keys()
    texts = [text for job, _ in made for text in strings(json.loads(job.params.job))]
    assert [name for name in NAMES.values() if not any(name in text for text in texts)] == []


def strings(value):
    """Yield the texts in a JSON value."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from strings(inner)
    elif isinstance(value, str):
        yield value


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_a_job_reaches_its_stage_as_it_was_described(planned, shell):
    folder, _, made = planned
    (folder / "bin").mkdir(exist_ok=True)
    stub = folder / "bin" / "poshgrid"
    stub.write_text(STUB)
    stub.chmod(0o755)
    environment = {
        "PATH": os.pathsep.join([str(folder / "bin"), "/usr/bin", "/bin"]), "HOME": str(folder)
    }  # fmt: skip
    for job, line in made:
        log = folder / job.log[0]
        log.parent.mkdir(parents=True, exist_ok=True)
        log.unlink(missing_ok=True)
        run = subprocess.run(
            [shell, "-c", line], cwd=folder, env=environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert (run.returncode, run.stderr) == (0, "") and log.is_file(), line
    called = (folder / "calls").read_text(encoding="utf-8")
    (folder / "calls").unlink()
    calls = [call.split("\0")[:-1] for call in called.split("\1\0")[:-1]]
    assert [call[1:3] for call in calls] == [[job.rule.name, job.params.job] for job, _ in made]
    options = {call[1]: call[3:] for call in calls}
    assert options["fit"] == ["--threads", "2"]
    assert (options["train"], options["read"]) == ([], [])
    assert list(folder.rglob("pwned*")) == []
