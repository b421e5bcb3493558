"""Bad input, as a person meets it: one line, a status, and nothing half-written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import polars as pl
import pytest
import yaml

from poshgrid import cli, config
from poshgrid.config import specs
from poshgrid.corpora.schema import SENTENCES, SOURCE
from poshgrid.evidence.schema import CONDITION
from poshgrid.files import write_table
from tests import jobs


@pytest.fixture
def poshgrid(monkeypatch, capfd):
    """Run the command line in this process: returns (status, lines of standard error)."""

    def run(*arguments: object) -> tuple[int, list[str]]:
        monkeypatch.setattr(sys, "argv", ["poshgrid", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            cli.main()
        error = capfd.readouterr().err
        assert "Traceback" not in error
        return int(caught.value.code or 0), [
            x for x in error.splitlines() if x.startswith("error:")
        ]

    return run


@pytest.fixture
def refused(poshgrid, tmp_path):
    """The one line of a job that is refused; it leaves no file."""

    def run(stage, spec, **inputs):
        results = tmp_path / "results"
        status, errors = poshgrid("stage", stage, jobs.text(results / "it", spec, **inputs))
        assert status == 1
        (line,) = errors
        assert [path for path in results.rglob("*") if path.is_file()] == [], "half-written"
        return line.removeprefix("error: ")

    return run


def table(path, schema, rows):
    write_table(pl.DataFrame(rows, schema=schema, orient="row"), path, schema)
    return path


@pytest.mark.parametrize(
    ("name", "reader", "content", "said"),
    [
        ("a.txt", "text", b"", ""),
        ("a.txt", "text", b"A fine line.\n\x00\x01\x02", "line 2: "),
        ("a.txt", "text", "Café crème.".encode("latin-1"), "line 1 or soon after: not UTF-8"),
        ("a.txt", "text", b"\n\n\n", ""),
        ("a.txt", "text", None, "not found"),
        ("a.csv", "childes-db", b"id,gloss\n1,hello\n", "line 1: no column"),
        ("a.csv", "wikipedia-sentences", b"sentence\nA.\n", "line 1: no column"),
    ],
)
def test_broken_corpus_files(refused, tmp_path, name, reader, content, said):
    data = tmp_path / "data"
    data.mkdir()
    if content is not None:
        (data / name).write_bytes(content)
    source = config.Source(name="mine", reader=reader, path=name)
    line = refused("read", specs.SourceSpec(source=source), data=data)
    assert f"{name}: {said}" in line and ";" in line


def mixed(tmp_path, output, sentences=2000):
    """Return a job that mixes a base of 1,000 words and a few from one source."""
    rows = [("d", i, f"Sentence number {i}.", 3) for i in range(sentences)]
    path = table(tmp_path / "source.parquet", SOURCE, rows)
    portion = config.Portion(source="mine", words={"1K": "1K"})
    base = config.Base(name="baby", dev_words=3, test_words=3, sources=[portion])
    spec = specs.BaseSpec(base=base, sizes=["1K"])
    return jobs.text(output, spec, sources={"mine": path})


def test_a_size_larger_than_the_source_holds(poshgrid, tmp_path):
    status, errors = poshgrid("stage", "mix", mixed(tmp_path, tmp_path / "results/it", 20))
    assert (status, len(errors)) == (1, 1)
    assert "mine" in errors[0]
    assert list((tmp_path / "results").rglob("*.parquet")) == []


def test_a_results_folder_that_cannot_be_written(poshgrid, tmp_path):
    results = tmp_path / "results"
    results.write_text("a file where the folder should be")
    status, errors = poshgrid("stage", "mix", mixed(tmp_path, results / "corpora"))
    assert (status, len(errors)) == (1, 1)
    assert errors[0].startswith(f"error: {results}") and "cannot write" in errors[0]


def test_a_results_folder_without_permission(tmp_path):
    results = tmp_path / "results"
    results.mkdir(mode=0o500)
    job = mixed(tmp_path, results / "it")
    command = [sys.executable, "-m", "poshgrid", "stage", "mix", job]
    if os.geteuid() == 0:  # root may write anywhere unless it gives that up
        if shutil.which("setpriv") is None:
            pytest.skip("no setpriv")
        less = "-dac_override,-dac_read_search"
        command = ["setpriv", f"--inh-caps={less}", f"--bounding-set={less}", *command]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"error: {results}") and "cannot write" in line
    assert list(results.iterdir()) == []


def test_a_missing_parser_model(refused, tmp_path):
    rows = [(0, "mine", "d", 0, "Will she go?", 3, "train", 0, "1K")]
    sentences = table(tmp_path / "s.parquet", SENTENCES, rows)
    parser = config.Parser(name="spacy", engine="spacy", model="nowhere/model")
    spec = specs.ParseSpec(parser=parser, shard=0, shards=1)
    line = refused("parse", spec, sentences=sentences, arguments={"model": "nowhere/model"})
    assert line.startswith("nowhere/model")


def test_a_vocabulary_larger_than_the_data_support(refused, tmp_path):
    rows = [(i, "mine", "d", i, f"The girl sees dog {i % 7}.", 5, None) for i in range(50)]
    texts = [
        table(tmp_path / "condition" / f"{split}.parquet", CONDITION, rows)
        for split in ("train", "dev", "test")
    ]
    spec = specs.TokenizerSpec(tokenizer=config.Tokenizer(vocabulary_size=9000))
    assert "vocabulary_size" in refused("tokenizer", spec, texts=texts[:1])


@pytest.mark.parametrize(
    ("stage", "job", "said"),
    [
        ("tokenizer", '{"tok', "job: "),
        ("tokenizer", "@gone.json", "job: "),
        ("tokenizer", jobs.text("x/it", {"tokenizer": 3}), "job: spec: tokenizer: "),
        ("sweep", jobs.text("x/it", {"tokenizer": {}}), "job: inputs: condition: "),
        ("tokens", jobs.text("x/it", condition="gone/a", tokenizer="gone/b"), "gone/"),
        ("tokeniser", "{}", "unknown stage 'tokeniser'; did you mean 'tokenizer'"),
    ],
)
def test_a_job_that_was_cut_or_copied_in_part(poshgrid, tmp_path, monkeypatch, stage, job, said):
    monkeypatch.chdir(tmp_path)
    status, errors = poshgrid("stage", stage, job)
    assert (status, len(errors)) == (1, 1)
    assert errors[0].startswith(f"error: {said}")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.fixture
def toy(root, tmp_path):
    """Write the toy grid after its exp3 and its data were changed; return the path."""

    def write(exp3, change=lambda data: None):
        data = yaml.safe_load((root / "studies/posh-bench/toy.yaml").read_text())
        (found,) = [each for each in data["experiments"] if each["name"] == "exp3"]
        found.update({"biases": ["none"]} | exp3)
        change(data)
        path = tmp_path / "mine.yaml"
        path.write_text(yaml.safe_dump(data))
        return path

    return write


@pytest.mark.parametrize(
    ("experiment", "place", "word"),
    [
        ({"biases": ["tree-planting"], "regimen": "packed"}, "regimens", "packed"),
        ({"biases": ["recency"], "learners": ["lstm-tiny"]}, "learners", "lstm-tiny"),
        ({"biases": ["dyck"], "learners": ["babyberta-tiny"]}, "learners", "babyberta-tiny"),
        ({"biases": ["recency+dyck"]}, "experiments|biases", "write dyck+recency"),
        (
            {"biases": ["tree-planting+recency"]},
            "experiments|biases",
            "recency+tree-planting",
        ),
        ({"learners": ["babyberta-tiny"], "regimen": "packed"}, "regimens|learners", "sentence"),
        ({"biases": ["dyck+dyck"]}, "experiments", "write dyck"),
    ],
)
def test_a_run_that_cannot_be_trained_is_told_before_any_job(
    poshgrid, toy, experiment, place, word
):
    path = toy(experiment)
    status, (line,) = poshgrid("ready", path)
    assert status == 1
    where, _, reason = line.removeprefix("error: ").partition(": ")
    assert where == str(path)
    assert reason.split(": ")[0].split(".")[0] in place.split("|")
    assert word in reason and ";" in reason


def test_every_mistake_is_told_at_once(poshgrid, toy):
    runs = {
        "biases": ["none", "recency", "tree-planting"], "learners": ["lstm-tiny", "gpt2-tiny"]
    }  # fmt: skip
    path = toy(runs, jobs.put("biases", "tree-planting", layers=[0, 2]))
    status, errors = poshgrid("ready", path)
    assert (status, len(errors)) == (1, 3)
    for word in ("lstm-tiny: the bias recency", "lstm-tiny: the bias tree-planting",
                 "biases.tree-planting.layers: learner 'gpt2-tiny'"):  # fmt: skip
        assert [f"{path}: " in line for line in errors if word in line] == [True]


def test_a_good_configuration_is_good(poshgrid, root):
    assert poshgrid("ready", root / "config/tiny.yaml") == (0, [])
