"""Whatever the names in a configuration hold, a job reaches its stage as it was described.

Command lines are run by real shells, with a `poshgrid` that notes its words.
"""

from __future__ import annotations

import json
import os
import re
import string
import subprocess
import sys
from pathlib import Path

import polars
import pytest
import yaml

from poshgrid.planning import jobs
from tests.faults import grid

HOSTILE = (
    "-x $(touch pwned)`touch pwned`;touch pwned&|a b'c\"d\\f>g<h ~ * ? [a-z] # ! %s =, @f Zoë 你"
)
NAMES = {
    name: f"{HOSTILE} {name}"
    for name in ("results", "data", "text", "treebank", "gold", "parser", "prebuilt",
                 "norms", "suite", "pretrained")
}  # fmt: skip
"""What is a path in the configuration -> its name."""
STUB = """#!/bin/sh
{ printf '%s\\0' "$@"; printf '\\1\\0'; } >> calls
"""


def configuration() -> dict:
    """Return the smallest grid with every rule, its folders and files so named."""
    found = grid.configuration()
    drill = found["experiments"][0]
    ready = drill | {"name": "ready", "conditions": ["ready"], "biases": ["none"], "exclude": []}
    found["sources"][1]["path"] = NAMES["text"]
    found["parsers"][0]["treebank"] = {"path": [NAMES["treebank"]]}
    found["parsers"].append({"name": "given", "engine": "spacy", "model": NAMES["parser"]})
    found["conditions"].append({"name": "ready", "base": "baby", "prebuilt": NAMES["prebuilt"]})
    found["experiments"].append(ready)
    suite = next(suite for suite in found["suites"] if suite["name"] == "choices")
    suite |= {"norms": NAMES["norms"], "path": NAMES["suite"]}
    found["evidence"] |= {"compare": ["given"], "gold": [NAMES["gold"]]}
    return found | {
        "results": NAMES["results"],
        "data": NAMES["data"],
        "pretrained": [{"name": "ours", "model": NAMES["pretrained"]}],
    }


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """The folder, Snakemake's rules, and its jobs."""
    folder = tmp_path_factory.mktemp("hostile")
    data = folder / NAMES["data"]
    files = [data / NAMES[name] / "a b.conllu" for name in ("treebank", "gold")]
    files += [data / NAMES[name] for name in ("text", "norms", "suite")]
    splits = ("train", "dev", "test")
    files += [data / NAMES["prebuilt"] / "20K" / f"{split}.txt" for split in splits]
    files += [data / NAMES["pretrained"] / "config.json", folder / NAMES["parser"] / "meta.json"]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    (folder / "mine.yaml").write_text(yaml.safe_dump(configuration()), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        with jobs.graph([Path("mine.yaml")], "all", None) as workflow:
            made = [(job, job.shellcmd) for job in workflow.dag.jobs if job.shellcmd]
            yield folder, [rule for rule in workflow.rules if rule.shellcmd], made


def test_every_rule_is_tried_with_every_name(found):
    _, rules, made = found
    assert {job.rule.name for job, _ in made} == {rule.name for rule in rules} == grid.rules()
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
def test_a_job_reaches_its_stage_as_it_was_described(found, shell):
    folder, _, made = found
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
    assert options["train"] == ["--checkpoint-every", "20"]
    assert (options["untrained"], options["read"]) == ([], ["--threads", "1"])
    assert list(folder.rglob("pwned*")) == []


def test_what_no_job_writes_is_digested_in_the_job_that_reads_it(found):
    """Snakemake would see a newer file alone, not an older one, nor a link that is turned."""
    digests = {
        job.rule.name: json.loads(job.params.job)["files"]
        for job, _ in found[2]
        if any(not str(path).startswith(f"{NAMES['results']}/") for path in job.input)
    }
    assert {"read", "items", "score", "treebank", "parse", "recall", "condition"} < set(digests)
    assert [
        rule for rule, digest in digests.items() if not re.fullmatch("[0-9a-f]{32}", digest)
    ] == []


def unquoted(template: str) -> list[str]:
    """Return the values of a command that a shell would read as they are.

    The profile's command before training (``step``) is a person's own text for a shell; the
    options of a training are words of ours.
    """
    ours = {"threads", "resources.step", "resources.options"}
    fields = [(name, how) for _, name, how, _ in string.Formatter().parse(template) if name]
    return [name for name, how in fields if how != "q" and name not in ours]


def test_every_value_of_a_command_is_quoted(found):
    for rule in found[1]:
        assert "{params.job:q}" in rule.shellcmd
        assert unquoted(rule.shellcmd) == [], rule.name
    assert unquoted("poshgrid {params.job} {threads} > {log:s}") == ["params.job", "log"]


def test_text_is_made_in_a_folder_of_any_name(root, tmp_path):
    """The real commands, by the real Snakemake: from the toy grammar to a condition and items."""
    command = tmp_path / "bin" / "poshgrid"
    command.parent.mkdir()
    command.write_text(
        f"#!{sys.executable}\nimport sys\nfrom poshgrid.cli import main\nsys.exit(main())\n"
    )
    command.chmod(0o755)
    tiny = yaml.safe_load((root / "studies/posh-bench/toy.yaml").read_text(encoding="utf-8"))
    results = "Ergebnisse für Zoë $(touch pwned)"
    tiny |= {"data": str(root / "resources"), "results": results}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(tiny), encoding="utf-8")
    made = [
        f"{results}/conditions/wiki/20K/train.parquet",
        f"{results}/benchmark/choices/items.parquet",
    ]
    path = [str(command.parent), str(Path(sys.executable).parent), os.environ["PATH"]]
    run = subprocess.run(
        [sys.executable, "-m", "snakemake", "--snakefile", str(root / "Snakefile"),
         "--configfile", "mine.yaml", "--cores", "1", "--quiet", "all", "--", *made],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env=os.environ | {"PATH": os.pathsep.join(path), "PYTHONPATH": str(root / "src")},
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    assert "Error" not in run.stderr  # of what the Snakefile does at the end
    assert [polars.read_parquet(tmp_path / file).height > 0 for file in made] == [True, True]
    assert list(tmp_path.rglob("pwned")) == []
