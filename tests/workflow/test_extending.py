"""docs/extending.md, carried out: docs/examples in the folder of a study, edits in a checkout."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys

import polars as pl
import pytest
import yaml

from poshgrid.benchmark.schema import ITEMS
from poshgrid.corpora.schema import SENTENCES
from poshgrid.evidence.schema import CONDITION
from poshgrid.files import write_table
from tests.unit.training.training_support import corpus


class Extended:
    """A study with the files of the page as its own plug-ins."""

    def __init__(self, root, folder):
        self.folder, self.path = folder, f"{root / 'src'}{os.pathsep}{root}"
        shutil.copytree(root / "resources", folder / "resources", symlinks=True)
        examples = root / "docs/examples"
        shutil.copytree(examples / "plugins", folder / "plugins")
        self.files = [p.relative_to(examples) for p in examples.glob("plugins/*/*/*.py")]
        self.overlay = yaml.safe_load((examples / "plugins.yaml").read_text(encoding="utf-8"))
        # The overlay's words beside those of the tiny grid.
        self.config = yaml.safe_load(
            (root / "studies/posh-bench/toy.yaml").read_text(encoding="utf-8")
        )
        for key, value in self.overlay.items():
            if isinstance(value, list):
                self.config[key] = self.config.get(key, []) + value
            else:
                self.config[key] = self.config.get(key, {}) | value
        (folder / "config.yaml").write_text(yaml.safe_dump(self.config))

    def run(self, code, *arguments, check=True):
        """Run Python in the study."""
        result = subprocess.run(
            [sys.executable, "-c", code, *map(str, arguments)],
            cwd=self.folder,
            env=os.environ | {"PYTHONPATH": self.path},
            capture_output=True,
            text=True,
            check=False,
        )
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
    found = extended.poshgrid("ready", "config.yaml", check=False)
    assert "1 of 8 are missing or wrong" in found.stderr  # the reader's files are the user's
    assert "suite mine: resources/pairs: not found" in found.stdout
    text = (extended.folder / "config.yaml").read_text()
    (extended.folder / "wrong.yaml").write_text(text.replace("start: 0.3", "strat: 0.3"))
    result = extended.poshgrid("ready", "wrong.yaml", check=False)
    assert result.returncode == 1
    assert "strat" in result.stderr


def test_every_file_is_a_plug_in_of_its_kind(extended):
    code = "import sys; from poshgrid import plugins; plugins.load(sys.argv[1], sys.argv[2])"
    assert len(extended.files) == 8
    for path in extended.files:
        *package, name = path.with_suffix("").parts[1:]
        extended.run(code, ".".join(["poshgrid", *package]), name.replace("_", "-"))


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
    from poshgrid.parsing.schema import PARSES

    parses = [
        (i, words.split(), ["X"] * len(head), ["_"] * len(head), head, deprel)
        for i, (words, head, deprel) in enumerate(PARSED)
    ]
    sentences = [
        (i, "s", "d", i, words, len(head), "train", i, "20K")
        for i, (words, head, _) in enumerate(PARSED)
    ]
    for name, rows, schema in (("parses", parses, PARSES), ("sentences", sentences, SENTENCES)):
        frame = pl.DataFrame(rows, schema=schema, orient="row")
        write_table(frame, extended.folder / f"{name}.parquet", schema)
    inputs = {"sentences": "sentences.parquet", "parses": ["parses.parquet"]}
    cell = {"corpus": "baby", "parser": "stanza"}
    job = extended.job("evidence", cell, inputs=inputs, output="labels.parquet")
    assert job["spec"]["filters"] == ["binding", "double-object", "question-formation", "wanna"]
    extended.stage("evidence", job)
    return pl.read_parquet(extended.folder / "labels.parquet")


def test_filter(labels):
    assert labels["wanna_paper"].to_list() == [True, False, False, False, False, False]
    assert labels["wanna_direct"].to_list() == [True, False, False, False, False, False]
    assert labels["wanna_paper_backstop"].to_list() == [False, True, False, False, False, False]
    assert "wanna_direct_backstop" not in labels.columns
    assert labels["wanna_paper_tokens"].to_list()[:3] == [[2, 3], [2], []]
    assert labels["double_object_paper"].to_list() == [False, False, False, True, False, False]
    assert labels["double_object_paper_tokens"].to_list()[3] == [1, 2, 3]


def test_learner_and_bias(extended, tmp_path):
    tokens, tokenizer = corpus(tmp_path)
    (experiment,) = extended.overlay["experiments"]
    axes = {"condition": "conditions", "size": "sizes", "model": "models", "bias": "biases",
            "seed": "seeds"}  # fmt: skip
    cell = {axis: experiment[key][0] for axis, key in axes.items()}
    inputs = {
        "tokens": [str(tokens / "train.bin")],
        "tokenizer": [str(tokenizer / "tokenizer.json")],
    }
    job = extended.job(
        "train", cell | {"recipe": experiment["recipe"]}, inputs=inputs,
        output=str(tmp_path / "model"), results=str(tmp_path),
    )  # fmt: skip
    spec = job["spec"]
    assert spec["bias"] == "fading-dropout"
    assert spec["options"] == {"fading-dropout": {"start": 0.3}}
    spec["recipe"] |= {
        "steps": 4, "warmup_steps": 1, "evaluate_every": 2, "batch_size": 2, "checkpoints": [],
    }  # fmt: skip
    extended.stage("train", job)
    model = json.loads((tmp_path / "model" / "config.json").read_text())
    assert model["model_type"] == "llama"
    assert model["hidden_size"] == 32
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
        name: kind() if isinstance(kind, type) else kind for name, kind in ITEMS.items()
    }
    row = pairs.row(0, named=True)
    assert row["good"][row["good_start"] : row["good_end"]] == "herself"
    file.write_text('{"himself": [')
    result = extended.stage("items", job | {"output": "again"}, check=False)
    assert result.returncode == 1
    assert "mine.json: not JSON" in result.stderr


JOBS = """
import json, sys
from poshgrid.grid import configfile
from poshgrid.grid.grid import Grid
from poshgrid.stages import Stages
from tests.jobs import Cell
tokenizer = json.loads(sys.argv[1])
data = configfile.read("studies/posh-bench/toy.yaml")
data["tokenizer"] |= tokenizer
stages = Stages(configfile.validate(data))
cell = Cell(condition="baby", size="20K")
print(json.dumps({name: getattr(stages, name).describe(cell).get("spec")
                  for name in ("condition", "tokenizer", "tokens", "sweep")}))
"""


@pytest.fixture
def checkout(root, tmp_path):
    """Carry out the page's edits in a copy; return the folder, and section -> files."""
    for name in ("src", "workflow", "resources", "studies", "config"):
        shutil.copytree(root / name, tmp_path / name, symlinks=True)
    shutil.copy(root / "Snakefile", tmp_path)
    (tmp_path / "tests").symlink_to(root / "tests")
    page = (root / "docs/extending.md").read_text(encoding="utf-8")
    edited = {}
    for section, text in re.findall(
        r"^## (A key of .*?|A stage)\n(.*?)(?=^## |\Z)", page, re.S | re.M
    ):
        for header, block in re.findall(
            r"```python\n# ((?:src|workflow)/.*?)\n(.*?)```", text, re.S
        ):
            name, _, place = header.partition(", ")
            path = tmp_path / name
            edited.setdefault(section.partition(" of")[0], set()).add(name)
            lines = path.read_text(encoding="utf-8").splitlines(True) if place else []
            anchor = place.removeprefix("below `").removesuffix("`")
            number = len(lines)
            if anchor != place:
                (number,) = [n for n, line in enumerate(lines, 1) if anchor in line]
            path.write_text("".join([*lines[:number], block, *lines[number:]]), encoding="utf-8")
    return tmp_path, edited


def test_a_key_and_a_stage_of_the_page_touch_three_files_each(checkout, root):
    folder, edited = checkout
    assert {section: len(files) for section, files in edited.items()} == {"A key": 2, "A stage": 3}

    def run(where, *words, check=True):
        paths = os.pathsep.join([str(where / "src"), str(where)])
        result = subprocess.run(
            [sys.executable, *words], cwd=where, env=os.environ | {"PYTHONPATH": paths},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert not check or result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    # A new key reruns nothing until it is set, and then what reads it
    before, after = (json.loads(run(where, "-c", JOBS, "{}")) for where in (root, folder))
    assert after == before
    found = json.loads(run(folder, "-c", JOBS, '{"strip_accents": true}'))
    assert {name for name in found if found[name] != before[name]} == {"tokenizer", "sweep"}
    # A new stage has a rule, a manifest and a log
    target = "results/tiny/lengths/baby/60K.json"
    words = ("-m", "snakemake", "--configfile", "config/tiny.yaml", "--cores", "1", target)
    assert "lengths" in run(folder, *words, "-n")
    train = folder / "train.parquet"
    columns = {"text": ["a b", "c d", "e"], "n_words": [2, 2, 1], "source": ["x"] * 3,
               "document": ["d"] * 3, "sent_id": [0, 1, 2], "position": [0, 1, 2],
               "replaced": [None] * 3}  # fmt: skip
    rows = pl.DataFrame(columns, schema_overrides=CONDITION).select(*CONDITION)
    write_table(rows, train, CONDITION)
    job = {"inputs": {"sentences": str(train)}, "output": target, "results": "results/tiny"}
    run(folder, "-m", "poshgrid", "stage", "lengths", json.dumps(job))
    assert json.loads((folder / target).read_text()) == {"1": 1, "2": 2}
    assert (folder / target).with_name("60K.manifest.json").exists()
