"""Bad input, as a person meets it: one line, a status, and nothing half-written."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys

import polars as pl
import pytest

from poshgrid import cli, config
from poshgrid.config import specs
from poshgrid.corpora.schema import SENTENCES, SOURCE
from poshgrid.evidence.schema import CONDITION
from poshgrid.files import write_table


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


def files_below(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def read(poshgrid, tmp_path, content, *, reader="text", name="corpus.txt", missing=False):
    data, output = tmp_path / "data", tmp_path / "results" / "sentences.parquet"
    data.mkdir()
    if not missing:
        (data / name).write_bytes(content)
    source = config.Source(name="mine", reader=reader, path=name)
    spec = specs.canonical(specs.SourceSpec(source=source))
    status, errors = poshgrid("read", "--spec", spec, "--data", data, "--output", output)
    assert files_below(tmp_path / "results") == [], "nothing half-written"
    return status, errors


@pytest.mark.parametrize(
    ("content", "remedy"),
    [
        (b"", "empty file; replace it"),
        (b"A fine line.\n\x00\x01\x02", "binary file (a NUL byte); give a text file"),
        ("Café crème.".encode("latin-1"), "not UTF-8"),
        (b"\n\n\n", "no sentence left"),
    ],
)
def test_broken_corpus_files(poshgrid, tmp_path, content, remedy):
    status, errors = read(poshgrid, tmp_path, content)
    assert status == 1
    assert len(errors) == 1
    assert "corpus.txt" in errors[0]
    assert remedy in errors[0]


def test_missing_corpus(poshgrid, tmp_path):
    status, errors = read(poshgrid, tmp_path, b"", missing=True)
    assert status == 1
    assert "corpus.txt: not found; check `data`" in errors[0]


@pytest.mark.parametrize(
    ("reader", "header", "missing"),
    [
        ("childes-db", b"id,gloss\n1,hello\n", "type"),
        ("wikipedia-sentences", b"sentence\nA.\n", "text"),
    ],
)
def test_missing_column(poshgrid, tmp_path, reader, header, missing):
    status, errors = read(poshgrid, tmp_path, header, reader=reader, name="table.csv")
    assert status == 1
    assert "table.csv: line 1: no column" in errors[0]
    assert missing in errors[0]


def source_table(path, sentences=20):
    rows = [("d", i, f"Sentence number {i}.", 3) for i in range(sentences)]
    write_table(pl.DataFrame(rows, schema=SOURCE, orient="row"), path, SOURCE)


def base_spec(size):
    base = config.Base(
        name="baby",
        dev_words=3,
        test_words=3,
        sources=[config.Portion(source="mine", words={size: size})],
    )
    return specs.canonical(specs.BaseSpec(base=base, sizes=[size]))


def test_a_size_larger_than_the_source_holds(poshgrid, tmp_path):
    source_table(tmp_path / "source.parquet")
    output = tmp_path / "results" / "sentences.parquet"
    status, errors = poshgrid(
        "mix", "--spec", base_spec("1K"), "--source", f"mine={tmp_path / 'source.parquet'}",
        "--output", output,
    )  # fmt: skip
    assert status == 1
    assert len(errors) == 1
    assert "mine" in errors[0]
    assert "short" in errors[0]
    assert files_below(tmp_path / "results") == []


def test_a_results_folder_that_cannot_be_written(poshgrid, tmp_path):
    source_table(tmp_path / "source.parquet", sentences=2000)
    results = tmp_path / "results"
    results.write_text("a file where the folder should be")
    status, errors = poshgrid(
        "mix", "--spec", base_spec("1K"), "--source", f"mine={tmp_path / 'source.parquet'}",
        "--output", results / "corpora" / "sentences.parquet",
    )  # fmt: skip
    assert status == 1
    assert len(errors) == 1
    assert "results" in errors[0]
    assert "cannot write" in errors[0]
    assert "permissions" in errors[0]


def test_a_results_folder_without_permission(tmp_path):
    source_table(tmp_path / "source.parquet", sentences=2000)
    results = tmp_path / "results"
    results.mkdir(mode=0o500)
    command = [
        sys.executable, "-m", "poshgrid", "mix", "--spec", base_spec("1K"),
        "--source", f"mine={tmp_path / 'source.parquet'}",
        "--output", str(results / "sentences.parquet"),
    ]  # fmt: skip
    if os.geteuid() == 0:  # root may write anywhere unless it gives that up
        if shutil.which("setpriv") is None:
            pytest.skip("no setpriv")
        less = "-dac_override,-dac_read_search"
        command = ["setpriv", f"--inh-caps={less}", f"--bounding-set={less}", *command]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"error: {results}")
    assert "cannot write" in line
    assert files_below(results) == []


def test_a_missing_parser_model(poshgrid, tmp_path):
    rows = [(0, "mine", "d", 0, "Will she go?", 3, "train", 0, "1K")]
    write_table(
        pl.DataFrame(rows, schema=SENTENCES, orient="row"), tmp_path / "s.parquet", SENTENCES
    )
    parser = config.Parser(name="spacy", engine="spacy", model="nowhere/model")
    spec = specs.canonical(specs.ParseSpec(parser=parser, shard=0, shards=1))
    output = tmp_path / "results" / "0.parquet"
    status, errors = poshgrid(
        "parse", "--spec", spec, "--sentences", tmp_path / "s.parquet",
        "--model", "nowhere/model", "--output", output,
    )  # fmt: skip
    assert status == 1
    assert len(errors) == 1
    assert "nowhere/model" in errors[0]
    assert "treebank" in errors[0]
    assert files_below(tmp_path / "results") == []


def test_a_vocabulary_larger_than_the_data_support(poshgrid, tmp_path):
    rows = [(i, "mine", "d", i, f"The girl sees dog {i % 7}.", 5, None) for i in range(50)]
    table = pl.DataFrame(rows, schema=CONDITION, orient="row")
    for split in ("train", "dev", "test"):
        write_table(table, tmp_path / "condition" / f"{split}.parquet", CONDITION)
    spec = specs.canonical(specs.TokenizerSpec(tokenizer=config.Tokenizer(vocabulary_size=9000)))
    status, errors = poshgrid(
        "tokenizer", "--spec", spec, "--condition", tmp_path / "condition",
        "--output", tmp_path / "results",
    )  # fmt: skip
    assert status == 1
    assert len(errors) == 1
    assert "9,000" in errors[0] or "9000" in errors[0]
    assert "vocabulary_size" in errors[0]
    assert files_below(tmp_path / "results") == []


@pytest.mark.parametrize(
    ("experiment", "message"),
    [
        ({"biases": ["tree-planting"], "regimen": "packed"}, "packed: tree-planting needs one"),
        ({"biases": ["recency"], "learners": ["lstm-tiny"]}, "lstm-tiny: .* not for 'lstm'"),
        ({"biases": ["dyck"], "learners": ["babyberta-tiny"]}, "babyberta-tiny: predicts masked"),
        ({"biases": ["recency+dyck"]}, "write dyck.recency"),
        ({"biases": ["tree-planting+recency"]}, "write recency.tree-planting"),
        ({"learners": ["babyberta-tiny"], "regimen": "packed"}, "set input to sentence"),
        ({"biases": ["dyck+dyck"]}, "write dyck"),
        ({"biases": ["none+recency"]}, "write recency"),
    ],
)
def test_a_run_that_cannot_be_trained_is_told_before_any_job(
    poshgrid, tmp_path, root, experiment, message
):
    import yaml

    config = yaml.safe_load((root / "config/tiny.yaml").read_text())
    exp3 = next(e for e in config["experiments"] if e["name"] == "exp3")
    exp3.update({"biases": ["none"]} | experiment)
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(config))
    status, errors = poshgrid("ready", path)
    assert (status, len(errors)) == (1, 1)
    assert re.search(f"mine.yaml: (learners|regimens|biases|experiments): .*{message}", errors[0])
    assert errors[0].count(";") >= 1  # what to do


def test_every_run_that_cannot_be_trained_is_told_at_once(poshgrid, tmp_path, root):
    import yaml

    config = yaml.safe_load((root / "config/tiny.yaml").read_text())
    exp3 = next(e for e in config["experiments"] if e["name"] == "exp3")
    exp3.update(biases=["none", "recency", "tree-planting"], learners=["lstm-tiny", "gpt2-tiny"])
    config["biases"]["tree-planting"]["layers"] = [0, 2]
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(config))
    status, errors = poshgrid("ready", path)
    assert (status, len(errors)) == (1, 3)
    for message in ("lstm-tiny: the bias recency", "lstm-tiny: the bias tree",
                    "biases.tree-planting.layers: learner 'gpt2-tiny' has 2"):  # fmt: skip
        (line,) = [each for each in errors if message in each]
        assert f"{path}: " in line


def test_a_spec_that_was_cut(poshgrid, tmp_path):
    status, errors = poshgrid(
        "tokenizer", "--spec", '{"tok', "--condition", tmp_path, "--output", tmp_path
    )
    assert status == 1
    assert "--spec" in errors[0]


def test_check_reports_every_mistake(poshgrid, tmp_path, root):
    text = (root / "config/tiny.yaml").read_text(encoding="utf-8")
    path = tmp_path / "mine.yaml"
    path.write_text(text.replace("learning_rate:", "learnig_rate:").replace("20K: 20K", "20Q: 20K"))
    status, errors = poshgrid("ready", path)
    assert status == 1
    assert len(errors) >= 3
    assert all(f"{path}:" in error for error in errors)


def test_a_good_configuration_is_good(poshgrid, root):
    assert poshgrid("ready", root / "config/tiny.yaml") == (0, [])


def test_specs_round_trip(root):
    from poshgrid.grid import configfile
    from poshgrid.grid.grid import Grid
    from poshgrid.grid.slices import Slices

    grid = Grid(configfile.load(root / "config/tiny.yaml"))
    text = Slices(grid).train(grid.targets["all"][0])
    assert specs.canonical(specs.parse(specs.TrainSpec, text)) == text
    assert json.loads(text)["regimen"]["learning_rate"] == 5e-3
