"""What rules ask of a grid: inputs, options, modules. Worked out by hand for config/tiny.yaml."""

import copy
from pathlib import Path

import pytest
import yaml
from poshgrid.grid.slices import Slices
from poshgrid.grid.workflow import Modules, Options

import poshgrid
from poshgrid import resources
from poshgrid.config.runs import Run
from poshgrid.errors import PoshgridError
from poshgrid.grid import configfile, workflow
from poshgrid.grid.inputs import Inputs
from poshgrid.provenance import fingerprint

RUN = Run("baby-f", "20K", "gpt2-tiny", "sentence", "tree-planting", 42)
PLAIN = Run("baby-f", "20K", "gpt2-tiny", "sentence", "none", 42)


@pytest.fixture(scope="module")
def written(root):
    return yaml.safe_load((root / "config/tiny.yaml").read_text(encoding="utf-8"))


@pytest.fixture
def grid_of(written, tmp_path, monkeypatch):
    """Makes the grid of config/tiny.yaml with some sections replaced, seen from an empty folder."""
    monkeypatch.chdir(tmp_path)

    def make(**sections):
        return configfile.validate(copy.deepcopy(written) | {"results": "R"} | sections)

    return make


def test_files_of_other_peoples_are_inputs_as_seen_from_here(grid_of, tmp_path):
    text = {"name": "toy-baby", "reader": "text", "path": "a b.txt"}
    sources = [text, {"name": "toy-wiki", "reader": "text", "path": "none.txt"}]
    found = Inputs(grid_of(data=str(tmp_path), sources=sources))
    (tmp_path / "a b.txt").touch()
    assert found.source("toy-baby") == ["a b.txt"]
    assert found.source("toy-wiki") == []  # the job itself says that it is missing


def test_a_file_that_snakemake_takes_for_a_pattern_is_named(grid_of, tmp_path):
    sources = [{"name": name, "reader": "text", "path": name} for name in ("toy-baby", "toy-wiki")]
    found = Inputs(grid_of(data=str(tmp_path), sources=sources))
    (tmp_path / "toy-baby").mkdir()
    (tmp_path / "toy-baby" / "{x}.txt").touch()
    with pytest.raises(PoshgridError, match=r"\{x\}\.txt.* holds \{, which Snakemake takes"):
        found.source("toy-baby")


def test_the_trees_of_a_treebank_are_its_files_and_those_of_its_folders(grid_of, tmp_path, written):
    (tmp_path / "bank").mkdir()
    for name in ("b.conllu", "a.conllu", "notes.txt"):
        (tmp_path / "bank" / name).touch()
    (tmp_path / "one.conllu").touch()
    gold = ["one.conllu", "bank", "toy"]
    found = Inputs(grid_of(data=str(tmp_path), evidence=written["evidence"] | {"gold": gold}))
    *grammar, first, second, third = sorted(found.gold(), key=lambda path: "conllu" in path)
    assert [first, second, third] == [
        f"{tmp_path}/{n}" for n in ("bank/a.conllu", "bank/b.conllu", "one.conllu")
    ]
    assert [Path(path).name for path in grammar] == ["grammar.yaml", "lexicon.yaml"]


def test_the_page_is_made_again_after_a_change_of_anything_it_is_laid_out_with(grid_of):
    found = {Path(p).resolve() for p in Inputs(grid_of()).page()}
    room = Path(poshgrid.__file__).parent / "report"
    laid = {p for p in room.rglob("*.*") if p.suffix not in (".py", ".pyc")}
    assert laid <= found
    assert room / "methods.txt" in found
    published = {"posh-bench/published/v1/table3.csv", "fict/published/paper/numbers.csv"}
    assert {resources.STUDIES / name for name in published} <= found


def test_a_parser_is_waited_for_if_it_is_trained_and_watched_if_it_is_given(
    grid_of, tmp_path, written
):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "meta.json").touch()
    parsers = [
        {"name": "spacy", "engine": "spacy", "model": "model"} if p["name"] == "spacy" else p
        for p in written["parsers"]
    ]
    found = grid_of(parsers=parsers)
    inputs = Inputs(found)
    options = Options(inputs, Slices(found), lambda: False)
    assert inputs.trained_parser("stanza") == ["R/parsers/stanza/manifest.json"]
    assert inputs.seen_trees("stanza") == [
        f"R/treebanks/stanza/{split}.conllu" for split in ("train", "dev")
    ]
    assert options.treebank("stanza") == "--treebank R/treebanks/stanza"
    assert inputs.given_parser("stanza") == []
    assert inputs.trained_parser("spacy") == inputs.seen_trees("spacy") == []
    assert options.treebank("spacy") == ""
    assert inputs.given_parser("spacy") == ["model/meta.json"]


def test_a_bias_that_is_trained_with_trees_waits_for_their_distances(grid_of):
    found = grid_of()
    inputs = Inputs(found)
    options = Options(inputs, Slices(found), lambda: False)
    assert inputs.distances(PLAIN) == []
    assert options.distances(PLAIN) == ""
    folder = "R/distances/baby-f/20K/spacy"
    assert inputs.distances(RUN) == [f"{folder}/statistics.json"]
    assert options.distances(RUN) == f"--distances {folder}"


def test_a_condition_is_made_of_sentences_and_labels_or_of_ready_files(grid_of, tmp_path, written):
    ready = {"name": "ready", "base": "baby", "prebuilt": "it's ready"}
    found = grid_of(data=str(tmp_path), conditions=[*written["conditions"], ready])
    inputs = Inputs(found)
    options = Options(inputs, Slices(found), lambda: False)
    folder = tmp_path / "it's ready" / "20K"
    folder.mkdir(parents=True)
    (folder / "train.txt").touch()
    assert inputs.condition("ready", "20K") == ["it's ready/20K/train.txt"]
    quoted = str(folder).replace("'", "'\"'\"'")
    assert options.origin("ready", "20K") == f"--prebuilt '{quoted}'"
    sentences, labels = "R/corpora/baby/sentences.parquet", "R/evidence/baby/stanza.parquet"
    assert inputs.condition("baby-f", "20K") == [sentences]
    assert inputs.labels("baby-f") == [labels]
    assert options.origin("baby-f", "20K") == f"--sentences {sentences} --evidence {labels}"
    assert inputs.labels("wiki") == []
    assert options.origin("wiki", "20K") == "--sentences R/corpora/wiki/sentences.parquet"
    modules = Modules(found)
    assert modules.condition("ready") == "poshgrid.evidence.prebuilt"
    assert modules.condition("wiki") == "poshgrid.evidence.condition"


def test_a_file_is_written_by_a_real_run_alone(grid_of, tmp_path):
    found = grid_of()
    place = Options(Inputs(found), Slices(found), lambda: False).beside("baby", "20K")
    assert not (tmp_path / place).exists()
    dry = [True]
    options = Options(Inputs(found), Slices(found), lambda: not dry[0])
    options.beside("baby", "20K")
    assert not (tmp_path / place).exists()
    dry[0] = False  # Snakemake says so late
    assert options.beside("baby", "20K") == place
    first = (tmp_path / place).stat().st_mtime_ns
    options.beside("baby", "20K")
    assert (tmp_path / place).stat().st_mtime_ns == first
    long = options.spec("x" * 30_000)
    assert long.startswith("@R/arguments/")
    assert (tmp_path / long[1:]).read_text(encoding="utf-8") == "--spec\n" + "x" * 30_000 + "\n"


def test_code_is_that_of_the_command_and_of_the_plug_ins(grid_of):
    found = Modules(grid_of())
    assert found.learner(Run("baby-f", "20K", "gpt2-tiny", "sentence", "dyck+recency", 42)) == [
        "poshgrid.models.architectures.gpt2",
        "poshgrid.training.biases.dyck",
        "poshgrid.training.biases.recency",
    ]
    assert found.engine("stanza") == "poshgrid.parsing.engines.stanza"
    assert "poshgrid.evidence.filters.binding" in found.filters(["binding"])
    assert workflow.code("poshgrid.errors") == fingerprint.code("poshgrid.errors")


def test_a_job_gets_more_each_time(grid_of):
    assert [workflow.growing(4000)(None, attempt) for attempt in (1, 2, 3)] == [4000, 8000, 12000]
    assert workflow.folder_files("a", "b") == ["a/b", "a/manifest.json"]


def test_a_page_of_a_target_shows_what_its_runs_have(grid_of):
    found = grid_of()
    shown = Inputs(found).report("exp3")
    assert "R/statistics/exp3/accuracy.parquet" in shown
    fits = {f"R/statistics/exp3/models/{name}/diagnostics.json" for name in found.fitted("exp3")}
    assert fits
    assert fits <= set(shown)
    names = [run.name for run in found.made("exp3")]
    assert names
    assert {f"R/models/{name}/statistics.json" for name in names} <= set(shown)
    assert len(shown) == len(set(shown))


def test_a_tracker_is_an_option_of_no_slice(grid_of):
    """To change it trains nothing again: what Snakemake compares is as it was."""
    plain, tracked = grid_of(), grid_of(tracker="tensorboard")
    one, two = (Options(Inputs(each), Slices(each), lambda: False) for each in (plain, tracked))
    assert (one.tracker(), two.tracker()) == ("", "--tracker tensorboard")
    for run in plain.targets["all"]:
        assert Slices(plain).train(run) == Slices(tracked).train(run)
