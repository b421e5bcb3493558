"""Bad input, as a person meets it: one line, a status, and nothing half-written."""

from __future__ import annotations

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
        assert (status, len(errors)) == (1, 1)
        assert [path for path in results.rglob("*") if path.is_file()] == [], "half-written"
        return errors[0].removeprefix("error: ")

    return run


def table(path, schema, rows):
    write_table(pl.DataFrame(rows, schema=schema, orient="row"), path, schema)
    return path


@pytest.mark.parametrize(
    ("name", "reader", "content", "place"),
    [
        ("a.txt", "text", b"", ""),
        ("a.txt", "text", b"A fine line.\n\x00\x01\x02", "line 2: "),
        ("a.txt", "text", "Café crème.".encode("latin-1"), "line 1 "),
        ("a.txt", "text", None, "not found"),
        ("a.csv", "childes-db", b"id,gloss\n1,hello\n", "line 1: "),
    ],
)
def test_broken_corpus_files(refused, tmp_path, name, reader, content, place):
    data = tmp_path / "data"
    data.mkdir()
    if content is not None:
        (data / name).write_bytes(content)
    source = config.Source(name="mine", reader=reader, path=name)
    line = refused("read", specs.SourceSpec(source=source), data=data)
    assert f"{name}: {place}" in line and ";" in line


def mix(tmp_path, sentences=2000):
    """Return spec and input of a job that mixes a corpus of 1,000 words and a few from a source."""
    rows = [("d", i, f"Sentence number {i}.", 3) for i in range(sentences)]
    path = table(tmp_path / "source.parquet", SOURCE, rows)
    portion = config.Portion(source="mine", words={"1K": "1K"})
    corpus = config.Corpus(name="baby", dev_words=3, test_words=3, sources=[portion])
    return specs.CorpusSpec(corpus=corpus, sizes=["1K"]), {"mine": path}


def test_inputs_that_do_not_bear_what_is_asked_of_them(refused, tmp_path):
    spec, sources = mix(tmp_path, 20)
    assert "mine" in refused("mix", spec, sources=sources)  # a size larger than the source holds

    rows = [(0, "mine", "d", 0, "Will she go?", 3, "train", 0, "1K")]
    sentences = table(tmp_path / "s.parquet", SENTENCES, rows)
    parser = config.Parser(name="spacy", engine="spacy", model="nowhere/model")
    spec = specs.ParseSpec(parser=parser, shard=0, shards=1)
    line = refused("parse", spec, sentences=sentences, arguments={"model": "nowhere/model"})
    assert line.startswith("nowhere/model")

    rows = [(i, "mine", "d", i, f"The girl sees dog {i % 7}.", 5, None) for i in range(50)]
    text = table(tmp_path / "condition/train.parquet", CONDITION, rows)
    spec = specs.TokenizerSpec(tokenizer=config.Tokenizer(vocabulary_size=9000))
    assert "vocabulary_size" in refused("tokenizer", spec, texts=[text])


def test_a_results_folder_that_cannot_be_written(poshgrid, tmp_path):
    results = tmp_path / "results"
    spec, sources = mix(tmp_path)
    results.write_text("a file where the folder should be")
    status, errors = poshgrid("stage", "mix", jobs.text(results / "it", spec, sources=sources))
    assert (status, len(errors)) == (1, 1) and errors[0].startswith(f"error: {results}")


@pytest.mark.parametrize(
    ("stage", "job", "place"),
    [
        ("tokenizer", '{"tok', "job: "),
        ("tokenizer", jobs.text("x/it", {"tokenizer": 3}), "job: spec: tokenizer: "),
        ("sweep", jobs.text("x/it", {"tokenizer": {}}), "job: inputs: condition: "),
        ("tokens", jobs.text("x/it", condition="gone/a", tokenizer="gone/b"), "gone/"),
        ("tokeniser", "{}", "unknown stage 'tokeniser'; did you mean 'tokenizer'"),
    ],
)
def test_a_job_that_was_cut_or_copied_in_part(poshgrid, tmp_path, monkeypatch, stage, job, place):
    monkeypatch.chdir(tmp_path)
    status, (line,) = poshgrid("stage", stage, job)
    assert status == 1 and line.startswith(f"error: {place}")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.fixture
def toy(root, tmp_path):
    """Write the toy grid after its exp3 and its data were changed; return the path."""

    def write(exp3, change=lambda data: None):
        data = yaml.safe_load((root / "studies/posh-bench/toy.yaml").read_text())
        (experiment,) = [e for e in data["experiments"] if e["name"] == "exp3"]
        experiment.update({"biases": ["none"]} | exp3)
        change(data)
        path = tmp_path / "mine.yaml"
        path.write_text(yaml.safe_dump(data))
        return path

    return write


@pytest.mark.parametrize(
    ("experiment", "key", "word"),
    [
        ({"biases": ["tree-planting"], "recipe": "packed"}, "recipes[0]", "sentence"),
        ({"biases": ["recency"], "models": ["lstm-tiny"]}, "models[1]", "the bias recency"),
        ({"models": ["babyberta-tiny"], "recipe": "packed"}, "recipes[0]", "sentence"),
        ({"biases": ["dyck+dyck"]}, "experiments[2].biases[0]", "write dyck"),
    ],
)
def test_a_run_that_cannot_be_trained_is_told_before_any_job(poshgrid, toy, experiment, key, word):
    path = toy(experiment)
    status, (line, *_) = poshgrid("ready", path)
    file, _, place, reason = line.removeprefix("error: ").split(":", 3)
    assert (status, file, place.strip()) == (1, str(path), key)
    assert word in reason and ";" in reason


def test_every_mistake_is_told_at_once(poshgrid, toy, root):
    runs = {
        "biases": ["none", "recency", "tree-planting"], "models": ["lstm-tiny", "gpt2-tiny"]
    }  # fmt: skip
    path = toy(runs)
    status, errors = poshgrid("ready", path)
    assert (status, len(errors)) == (1, 2)
    for word in ("the bias recency", "the bias tree-planting"):
        assert [f"{path}:" in line for line in errors if word in line] == [True]
    assert poshgrid("ready", root / "config/tiny.yaml") == (0, [])
