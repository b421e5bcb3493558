"""Bad input, as a person meets it: one line, a status, and nothing half-written."""

from __future__ import annotations

import sys

import pytest
import yaml

from poshgrid import cli, config
from poshgrid.config import specs
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


@pytest.mark.parametrize(
    ("name", "reader", "content", "place"),
    [
        ("a.txt", "text", "Café crème.".encode("latin-1"), "line 1 "),
        ("a.csv", "childes-db", b"id,gloss\n1,hello\n", "line 1: "),
    ],
)
def test_broken_corpus_files(refused, tmp_path, name, reader, content, place):
    data = tmp_path / "data"
    data.mkdir()
    (data / name).write_bytes(content)
    source = config.Source(name="mine", reader=reader, path=name)
    line = refused("read", specs.SourceSpec(source=source), data=data)
    assert f"{name}: {place}" in line and ";" in line


def test_a_results_folder_that_cannot_be_written(poshgrid, tmp_path):
    results = tmp_path / "results"
    results.write_text("a file where the folder should be")
    (tmp_path / "a.txt").write_text("The dog sat.\n")
    spec = specs.SourceSpec(source=config.Source(name="mine", reader="text", path="a.txt"))
    status, errors = poshgrid("stage", "read", jobs.text(results / "it", spec, data=str(tmp_path)))
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
