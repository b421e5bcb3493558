"""Whatever the names in a configuration hold, a rule's command line says what it should, and runs.

A configuration with tame names and one with hostile names differ in nothing else. What `poshgrid`
is given must therefore be the tame line's words with the names exchanged. The tame lines are split
by :mod:`shlex`; the hostile ones are run by a real shell, with a `poshgrid` that notes its words.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import string
import subprocess
import sys
from pathlib import Path

import polars
import pytest
import yaml
from poshgrid.grid.arguments import Shell

from poshgrid.grid import workflow
from poshgrid.planning import jobs
from tests.faults import grid

TAME = {
    name: name.upper() + "NAME"
    for name in ("results", "data", "text", "treebank", "gold", "detector", "parser", "prebuilt",
                 "norms", "suite", "pretrained")
}  # fmt: skip
"""What is a path in the configuration -> its name."""
HOSTILE = {
    "commands": "$(touch pwned)`touch pwned`;touch pwned&touch pwned|touch pwned",
    "quotes": "a b'c\"d$(touch pwned)\\f>g<h'",
    "patterns": "~ * ? [a-z] # ! %s %(x)s @f =, $HOME $(id) \\n",
    "options": "-x --output elsewhere",
    "letters": "Ergebnisse für Zoë 你好 \N{COMBINING ACUTE ACCENT}",
}
DIGEST = re.compile("^([0-9a-f]{16}-)[0-9a-f]{32}$")
STUB = """#!/bin/sh
{ printf '%s\\0' "$@"; printf '\\1\\0'; } >> calls
"""


def hostile(kind):
    """Other names in place of the tame ones."""
    text = HOSTILE[kind]
    return {name: f"{text} {name}" for name in TAME}


def configuration(names):
    """The smallest grid with every rule and every option, its folders and files so named."""
    found = grid.configuration()
    choices = next(suite for suite in found["suites"] if suite["name"] == "choices")
    given = {"name": "given", "engine": "spacy", "model": names["parser"]}
    trees = {"path": [names["treebank"]]}
    ready = {"name": "ready", "base": "baby", "prebuilt": names["prebuilt"]}
    drill = found["experiments"][0]
    found["sources"][1]["path"] = names["text"]
    found["parsers"][0]["treebank"] = trees
    return found | {
        "results": names["results"],
        "data": names["data"],
        "parsers": [*found["parsers"], given],
        "conditions": [*found["conditions"], ready],
        "evidence": found["evidence"] | {
            "compare": ["given"], "gold": [names["gold"]], "detector": {"path": names["detector"]},
        },
        "suites": [
            suite | {"norms": names["norms"], "path": names["suite"]} if suite == choices else suite
            for suite in found["suites"]
        ],
        "experiments": [
            drill,
            drill | {"name": "ready", "conditions": ["ready"], "biases": ["none"], "exclude": []},
            *found["experiments"][1:],
        ],
        "pretrained": [{"name": "ours", "model": names["pretrained"]}],
    }  # fmt: skip


def loaded(folder, names):
    """Snakemake's workflow and its jobs, with the files that a configuration names."""
    data = folder / names["data"]
    for name in ("treebank", "gold", "detector", "prebuilt", "pretrained"):
        (data / names[name]).mkdir(parents=True)
    for name in ("treebank", "gold", "detector"):
        (data / names[name] / "a b.conllu").touch()
    for name in ("text", "norms", "suite"):
        (data / names[name]).touch()
    (data / names["prebuilt"] / "20K").mkdir()
    for split in ("train", "dev", "test"):
        (data / names["prebuilt"] / "20K" / f"{split}.txt").touch()
    (data / names["pretrained"] / "config.json").touch()
    (folder / names["parser"]).mkdir()
    (folder / names["parser"] / "meta.json").touch()
    (folder / "mine.yaml").write_text(yaml.safe_dump(configuration(names)), encoding="utf-8")
    with jobs.graph([folder / "mine.yaml"], "all", None) as found:
        made = [job for job in found.dag.jobs if job.shellcmd]
        return list(found.rules), [(job, job.shellcmd) for job in made]


def key(job):
    return job.rule.name, *sorted(job.wildcards_dict.items())


@pytest.fixture(scope="module")
def tame(tmp_path_factory):
    """Rules, and the jobs of the grid with tame names: key -> words before the log, and it."""
    folder = tmp_path_factory.mktemp("tame")
    before = Path.cwd()
    os.chdir(folder)
    try:
        rules, found = loaded(folder, TAME)
    finally:
        os.chdir(before)
    return rules, {key(job): (job, shlex.split(line)) for job, line in found}


def exchanged(value, names):
    """A word of a tame line, or a part of one that is JSON, with other names."""
    if isinstance(value, dict):
        return {exchanged(k, names): exchanged(v, names) for k, v in value.items()}
    if isinstance(value, list):
        return [exchanged(each, names) for each in value]
    if isinstance(value, str):
        pattern = "|".join(TAME.values())
        known = {tame: names[name] for name, tame in TAME.items()}
        return re.sub(pattern, lambda found: known[found[0]], value)
    return value


def parsed(word):
    """A word of a line; without the digest of files, which have other names."""
    return json.loads(word) if word.startswith("{") else re.sub(DIGEST, r"\1", word)


def called(folder):
    """The words of each call of `poshgrid` since the last time."""
    calls = folder / "calls"
    text = calls.read_text(encoding="utf-8") if calls.exists() else ""
    calls.unlink(missing_ok=True)
    return [call.split("\0")[:-1] for call in text.split("\1\0")[:-1]]


def differences(folder, names, tame):
    """Run every job's line in two shells; yield what is not as it should be."""
    (folder / "bin").mkdir()
    stub = folder / "bin" / "poshgrid"
    stub.write_text(STUB)
    stub.chmod(0o755)
    path = os.pathsep.join([str(folder / "bin"), "/usr/bin", "/bin"])
    found = loaded(folder, names)[1]
    if {key(job) for job, _ in found} != set(tame):
        yield "other jobs"
    for (job, line), shell in itertools.product(found, ("sh", "bash")):
        for log in job.log:
            Path(log).parent.mkdir(parents=True, exist_ok=True)
        run = subprocess.run(
            [shell, "-c", line], env={"PATH": path, "HOME": str(folder)}, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        wanted = [exchanged(parsed(word), names) for word in tame[key(job)][1]]
        command, (arrow, log, both) = wanted[:-3], wanted[-3:]
        assert (command[0], arrow, both) == ("poshgrid", ">", "2>&1")
        said = called(folder)
        if [list(map(parsed, words)) for words in said] != [command[1:]]:
            yield f"{job.rule.name}: {line}\nwanted {command[1:]}\nfound {said}"
        if (run.returncode, run.stderr) != (0, "") or not Path(log).is_file():
            yield f"{job.rule.name}: {run.returncode} {run.stderr}"
    yield from (f"{found} was made" for found in folder.rglob("pwned*"))


@pytest.mark.parametrize("kind", HOSTILE)
def test_every_rule_says_what_it_should_whatever_the_names_hold(tmp_path, monkeypatch, tame, kind):
    monkeypatch.chdir(tmp_path)
    assert list(differences(tmp_path, hostile(kind), tame[1])) == []


def test_what_is_not_quoted_would_be_found(tmp_path, monkeypatch, tame):
    """The faults that the test above is for: options that are joined with spaces alone."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(workflow, "quoted", lambda *words: Shell(" ".join(words)))
    found = list(differences(tmp_path, hostile("commands"), tame[1]))
    assert any(each.endswith("pwned was made") for each in found)
    rules = {each.split(":")[0] for each in found}
    assert {"mix", "evidence", "recall", "train", "items", "measures", "accuracy"} <= rules


def test_every_rule_and_option_is_tried(tame):
    rules, found = tame
    assert {name for name, *_ in found} == grid.rules()
    names = {name for name, text in TAME.items() for _, words in found.values()
             if any(text in word for word in words)}  # fmt: skip
    assert names == set(TAME)
    empty = {field for rule in rules if rule.shellcmd for field, _ in fields(rule.shellcmd)}
    tried = {
        f"params.{name}"
        for job, _ in found.values()
        for name, value in job.params.items()
        if str(value)
    }
    assert {name for name in empty if name.startswith("params.")} <= tried


def test_what_no_job_writes_is_a_parameter_of_the_job_that_reads_it(tame):
    """Snakemake would see a newer file alone, not an older one, nor a link that is turned."""
    readers = {
        job.rule.name: str(job.params.get("given", ""))
        for job, _ in tame[1].values()
        if any(not str(path).startswith(f"{TAME['results']}/") for path in job.input)
    }
    assert {"read", "items", "score", "treebank", "parse", "recall", "condition"} < set(readers)
    assert {
        rule for rule, digest in readers.items() if not re.fullmatch("[0-9a-f]{32}", digest)
    } == set()


def fields(template):
    """The values that a command's template is filled with, and how they are formatted."""
    return [(name, how) for _, name, how, _ in string.Formatter().parse(template) if name]


def unquoted(template, params):
    """The values of a command that a shell would read as they are: neither ``:q`` nor quoted.

    The profile's command before training (``step``) is the user's own text for a shell, and
    the tracker and the interval of checkpoints are resources, which rerun nothing: Snakemake takes
    from them that they are a :class:`Shell`.
    """
    known = {"resources.step", "resources.tracker", "resources.checkpoint_every", "threads"}
    return [
        name
        for name, how in fields(template)
        if how != "q"
        and name not in known
        and not isinstance(params.get(name.removeprefix("params.")), Shell)
    ]


def test_every_value_of_a_command_is_quoted(tame):
    rules, found = tame
    assert {rule.name for rule in rules if rule.shellcmd} == {name for name, *_ in found}
    for job, _ in found.values():
        assert unquoted(job.rule.shellcmd, job.params) == [], job.rule.name


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("poshgrid mix {params.sources} --output {output:q}", []),
        ("poshgrid mix --data {params.data} {params.sources}", ["params.data"]),
        ("poshgrid mix --data {params.data:s} > {log}", ["params.data", "log"]),
        ("{resources.step} poshgrid x {threads} {resources.mem_mb}", ["resources.mem_mb"]),
        ("poshgrid mix --base {wildcards.base} {input.sentences}",
         ["wildcards.base", "input.sentences"]),
    ],
)  # fmt: skip
def test_a_value_that_is_not_quoted_is_found(template, expected):
    params = {"sources": workflow.quoted("--source", "a=b c"), "data": "a b"}
    assert unquoted(template, params) == expected


def test_text_is_made_in_a_folder_of_any_name(root, tmp_path):
    """The real commands, by the real Snakemake: from the toy grammar to a condition and items."""
    command = tmp_path / "bin" / "poshgrid"
    command.parent.mkdir()
    command.write_text(
        f"#!{sys.executable}\nimport sys\nfrom poshgrid.cli import main\nsys.exit(main())\n"
    )
    command.chmod(0o755)
    tiny = yaml.safe_load((root / "config/tiny.yaml").read_text(encoding="utf-8"))
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
    assert [polars.read_parquet(tmp_path / file).height > 0 for file in made] == [True, True]
    assert list(tmp_path.rglob("pwned")) == []
