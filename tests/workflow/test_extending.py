"""docs/extending.md, carried out: docs/examples in the folder of a study, edits in a checkout."""

import json
import os
import shutil

import polars as pl
import pytest
import yaml

from poshgrid.benchmark.schema import PAIRS
from poshgrid.parsing.tree import Tree
from tests import forks, shipped
from tests.unit.evidence.trees import write_parses
from tests.unit.models.training.training_support import corpus, write_sentences


class Extended:
    """A study with the files of the page as its own plug-ins."""

    def __init__(self, root, folder):
        self.folder, self.path = folder, f"{root / 'src'}{os.pathsep}{root}"
        shutil.copytree(root / "resources", folder / "resources", symlinks=True)
        examples = root / "docs/examples"
        shutil.copytree(examples / "plugins", folder / "plugins")
        self.overlay = yaml.safe_load((examples / "plugins.yaml").read_text(encoding="utf-8"))
        # The overlay's words beside those of the tiny grid.
        self.config = shipped.toy()
        for key, value in self.overlay.items():
            own = self.config.get(key, type(value)())
            self.config[key] = own + value if isinstance(value, list) else own | value
        (folder / "config.yaml").write_text(yaml.safe_dump(self.config))

    def run(self, code, *arguments, check=True):
        """Run Python in the study."""
        environment = os.environ | {"PYTHONPATH": self.path}
        result = forks.python(("-c", code, *arguments), self.folder, environment)
        assert not check or result.returncode == 0, result.stdout + result.stderr
        return result

    def poshgrid(self, *arguments, check=True):
        """Run a command in the study."""
        return self.run("from poshgrid.cli import main; main()", *arguments, check=check)

    def job(self, stage, cell, **changes):
        """Return a job of the extended configuration, with changes."""
        code = (
            "import json, sys; from poshgrid.grid import configfile\n"
            "from poshgrid.grid.grid import Grid\nfrom poshgrid.stages import Stages\n"
            "from tests.jobs import Cell\nstages = Stages(Grid(configfile.load('config.yaml')))\n"
            "job = getattr(stages, sys.argv[1]).describe(Cell(**json.loads(sys.argv[2])))\n"
            "print(json.dumps(job))"
        )
        return json.loads(self.run(code, stage, json.dumps(cell)).stdout) | changes

    def stage(self, name, job, check=True):
        """Run a job in the study."""
        return self.poshgrid("stage", name, json.dumps(job), check=check)


@pytest.fixture(scope="module")
def extended(root, tmp_path_factory):
    return Extended(root, tmp_path_factory.mktemp("extended"))


def test_the_words_are_known_and_their_options_checked(extended):
    ready = extended.poshgrid("ready", "config.yaml", check=False)
    assert "1 of 9 are missing or wrong" in ready.stderr  # the reader's files are the user's
    assert "suite mine: resources/pairs: not found" in ready.stdout
    text = (extended.folder / "config.yaml").read_text()
    (extended.folder / "wrong.yaml").write_text(text.replace("start: 0.3", "strat: 0.3"))
    result = extended.poshgrid("ready", "wrong.yaml", check=False)
    assert result.returncode == 1
    assert "strat" in result.stderr


def test_source(extended):
    folder = extended.folder / "resources" / "films"
    folder.mkdir()
    (folder / "park.srt").write_text(
        "1\n00:00:01,000 --> 00:00:02,000\nHello. Who are you?\n\n"
        "2\n00:00:03,000 --> 00:00:04,000\n[thunder]\n"
    )
    extended.stage("read", extended.job("read", {"source": "films"}, output="out"))
    output = extended.folder / "out"
    assert pl.read_parquet(output / "sentences.parquet")["text"].to_list() == [
        "Hello.", "Who are you?",
    ]  # fmt: skip
    assert json.loads((output / "statistics.json").read_text())["dropped"] == {"sound": 1}


# Words, and for each its governor and relation.
PARSED = [
    ("I wan na go", [2, 0, 4, 2], ["nsubj", "root", "mark", "xcomp"]),
    ("I wana go", [3, 3, 0], ["nsubj", "aux", "root"]),
    ("I want to go", [2, 0, 4, 2], ["nsubj", "root", "mark", "xcomp"]),
    ("Give me it", [0, 1, 1], ["root", "iobj", "obj"]),
    ("Give it to me", [0, 1, 4, 1], ["root", "obj", "case", "obl"]),
    ("Tell me it", [0, 1, 1], ["root", "iobj", "obj"]),
]


@pytest.fixture(scope="module")
def labels(extended):
    """Labels of the sentences above, as a job makes them."""
    trees = [
        Tree(words.split(), ["X"] * len(head), ["_"] * len(head), head, deprel)
        for words, head, deprel in PARSED
    ]
    write_parses(extended.folder / "parses.parquet", trees)
    sentences = [(words, "train", "20K") for words, *_ in PARSED]
    write_sentences(extended.folder / "sentences.parquet", sentences)
    inputs = {"sentences": "sentences.parquet", "parses": ["parses.parquet"]}
    cell = {"corpus": "baby", "parser": "spacy-long"}
    job = extended.job("evidence", cell, inputs=inputs, output="labels")
    assert job["spec"]["filters"] == ["binding", "double-object", "question-formation", "wanna"]
    extended.stage("evidence", job)
    return pl.read_parquet(extended.folder / "labels/evidence.parquet")


def test_filter(labels):
    for column, number in (("wanna_paper", 0), ("wanna_direct", 0), ("wanna_paper_backstop", 1),
                           ("double_object_paper", 3)):  # fmt: skip
        assert labels[column].arg_true().to_list() == [number]
    assert "wanna_direct_backstop" not in labels.columns
    assert labels["wanna_paper_tokens"].to_list()[:3] == [[2, 3], [2], []]
    assert labels["double_object_paper_tokens"].to_list()[3] == [1, 2, 3]


def test_learner_and_bias(extended, tmp_path):
    tokens, tokenizer = corpus(tmp_path)
    (experiment,) = extended.overlay["experiments"]
    axes = ("condition", "size", "model", "seed")
    cell = {axis: experiment[f"{axis}s"][0] for axis in axes} | {"bias": experiment["biases"][0]}
    inputs = {"tokens": [str(tokens / "train.bin")],
              "tokenizer": [str(tokenizer / "tokenizer.json")]}  # fmt: skip
    job = extended.job(
        "train", cell | {"recipe": experiment["recipe"]}, inputs=inputs,
        output=str(tmp_path / "model"), results=str(tmp_path),
    )  # fmt: skip
    assert job["spec"]["options"] == {"fading-dropout": {"start": 0.3}}
    job["spec"]["recipe"] |= {"steps": 4, "warmup_steps": 1, "evaluate_every": 2, "batch_size": 2,
                              "checkpoints": []}  # fmt: skip
    extended.stage("train", job)
    model = json.loads((tmp_path / "model" / "config.json").read_text())
    assert (model["model_type"], model["hidden_size"]) == ("llama", 32)
    lines = (tmp_path / "model" / "training.jsonl").read_text().splitlines()
    losses = [json.loads(line)["dev_loss"] for line in lines]
    assert losses[-1] < losses[0]


def test_suite(extended):
    folder = extended.folder / "resources" / "pairs"
    folder.mkdir()
    file, job = folder / "mine.json", extended.job("items", {"suite": "mine"}, output="items")
    file.write_text('{"himself": [["The girl hurt herself.", "The girl hurt himself."]]}')
    extended.stage("items", job)
    pairs = pl.read_parquet(extended.folder / "items/items.parquet")
    assert dict(pairs.schema) == {
        name: kind() if isinstance(kind, type) else kind for name, kind in PAIRS.items()
    }
    assert pairs["good"].to_list() == ["The girl hurt herself."]
    file.write_text('{"himself": [')
    result = extended.stage("items", job | {"output": "again"}, check=False)
    assert result.returncode == 1
    assert "mine.json: not JSON" in result.stderr
