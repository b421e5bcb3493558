"""Before a run: what is missing is named with its remedy, and no run begins without it."""

import os
import shutil
from pathlib import Path

import huggingface_hub
import pytest

from poshgrid.config import Source, specs
from poshgrid.core import files
from poshgrid.grid import configfile
from poshgrid.planning import ready
from tests import shipped


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """The tiny configuration with data of its own, as a mapping."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ready, "BEGINNING", 500)
    data = shipped.toy()
    shutil.copytree(shipped.ROOT / "resources/examples", tmp_path / "data/examples")
    shutil.copytree(shipped.ROOT / "resources/toy", tmp_path / "data/toy")
    return {**data, "data": "data", "results": "results"}


def findings(data, target="all"):
    return {entry.check: entry for entry in ready.examine(configfile.validate(data), target)}


def wrong(data, target="all"):
    return {check for check, entry in findings(data, target).items() if entry.state == "error"}


def test_the_tiny_configuration_is_ready(tiny):
    checks = findings(tiny)
    assert {entry.state for entry in checks.values()} == {"ok"}
    assert {"source toy-wiki", "parser spacy", "evidence.gold", "suite choices"} <= checks.keys()


CASES = {
    "a folder for results": (lambda c: c.update(results=__file__), "results", "is a file"),
    "a treebank": (
        lambda c: c["parsers"][0].update(treebank={"path": ["toy", "trees"]}),
        "parser spacy-long", "data/trees: no treebank",
    ),
    "a parser's model": (
        lambda c: c["parsers"][1].update(treebank=None, model="parsers/spacy", options={}),
        "parser spacy", "parsers/spacy: no trained model there",
    ),
    "a model's folder": (
        lambda c: c.update(pretrained=[{"name": "m", "path": "./models/m"}]),
        "pretrained m", "models/m: not found",
    ),
    "a source": (
        lambda c: c["sources"][0].update(reader="text", path="t", options={}),
        "source toy-baby", "data/t: not found",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_is_missing_is_named_with_a_remedy(tiny, case):
    change, check, said = CASES[case]
    assert check not in wrong(tiny)
    change(tiny)
    finding = findings(tiny)[check]
    assert (finding.state, said in finding.what, bool(finding.remedy)) == ("error", True, True)
    assert wrong(tiny) == {check}


UNREADABLE = {
    "bytes of no text": (b"caf\xe9 is here .\n", {}, "not UTF-8"),
    "another encoding": ("the dog runs .\n".encode("utf-16"), {}, "utf-16"),
    "a table without a column": (b"gloss,speaker\nhello,MOT\n", {"reader": "childes-db"}, "type"),
    "too few words": (b"the dog runs .\n" * 3, {}, "too small"),
    "no word left": (b"\x01\n", {}, "no sentence left"),
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_a_source_that_its_job_would_refuse(tiny, tmp_path, capsys, case):
    content, source, said = UNREADABLE[case]
    (tmp_path / "data/own.csv").write_bytes(content)
    tiny["sources"][0] = {"name": "toy-baby", "reader": "text", "path": "own.csv"} | source
    finding = findings(tiny)["source toy-baby"]
    assert (finding.state, said in finding.what) == ("error", True)
    assert wrong(tiny) == {"source toy-baby"}
    assert capsys.readouterr() == ("", "")


def test_only_the_beginning_of_a_source_is_read(tiny, tmp_path):
    (tmp_path / "data/own.txt").write_bytes(b"the dog runs .\n" * 2_000 + b"caf\xe9 .\n" * 20_000)
    tiny["sources"][0] = {"name": "toy-baby", "reader": "text", "path": "own.txt"}
    assert not wrong(tiny)


def test_a_suite_that_its_job_would_refuse(tiny, tmp_path):
    (tmp_path / "data/own.csv").write_text("good,worse\nThe dog runs.,The dog run.\n")
    tiny["suites"].append({"name": "own", "reader": "pairs", "path": "own.csv"})
    finding = findings(tiny)["suite own"]
    assert (finding.state, "worse" in finding.what) == ("error", True)


def test_a_result_counts_if_it_was_made_of_the_same_file(tiny):
    suite = {"name": "own", "reader": "pairs", "path": "own.csv"}
    tiny["suites"].append(suite)
    manifest = Path("results/benchmark/own/manifest.json")
    files.write_json(manifest, {"spec": {"suite": dict(suite), "top_k": None}})
    manifest.with_name("items.parquet").touch()
    assert findings(tiny)["suite own"].state == "warning"  # the file is gone, the items stay
    suite["path"] = "other.csv"
    assert findings(tiny)["suite own"].state == "error"
    suite["path"] = "own.csv"
    Path("data/own.csv").write_text("good,worse\nThe dog runs.,The dog run.\n")
    assert findings(tiny)["suite own"].state == "error"  # the file is newer
    os.utime("data/own.csv", (0, 0))
    assert findings(tiny)["suite own"].state == "ok"


def test_a_suite_that_was_fetched_in_part_is_told(tiny, tmp_path):
    tiny["suites"].append({"name": "zorro", "reader": "pairs", "path": "suites/zorro"})
    folder = tmp_path / "data/suites/zorro"
    folder.mkdir(parents=True)
    (folder / "irregular-verb.txt").write_text("the dog seed .\nthe dog saw .\n")
    finding = findings(tiny)["suite zorro"]
    assert (finding.state, "22 of 23 files" in finding.what) == ("warning", True)
    assert finding.remedy == "run: poshgrid fetch zorro --data data"


def test_a_path_with_a_typo_is_named_with_its_neighbour(tiny):
    Path("data/texts").mkdir()
    tiny["sources"][0].update(reader="text", path="textx", options={})
    assert "'texts'" in findings(tiny)["source toy-baby"].what


def test_a_path_that_begins_with_the_data_folder(tiny):
    tiny["sources"][0].update(reader="text", path="data/toy/text", options={})
    Path("data/toy/text").mkdir()
    assert findings(tiny)["source toy-baby"].remedy.endswith("write toy/text")


def test_what_needs_trees_needs_a_parser(tiny):
    tiny["parsers"].append({"name": "flat", "engine": "words", "model": "toy"})
    tiny["evidence"].update(parser="flat", compare=[])
    tiny["conditions"][2].update(rewrite=["drop-articles"])
    filters = {"filter binding", "filter question-formation"}
    assert wrong(tiny) == {*filters, "condition wiki"}
    for condition in tiny["conditions"]:
        if condition.get("filters") or condition.get("rewrite"):
            condition["allow"] = ["void"]
    assert not wrong(tiny)


def test_only_what_a_target_needs_is_asked_for(tiny):
    """Trees are for the conditions that go without evidence; a bias's parser for its runs alone."""
    tiny["suites"] = tiny["suites"][2:]  # none is made from all corpora
    tiny["regressions"] = []
    tiny["parsers"][1].update(treebank={"path": "trees"})
    tiny["evidence"]["compare"] = []
    tiny["sources"][1].update(reader="text", path="t", options={})
    tiny["biases"]["tree-planting"] = {"parser": "spacy"}
    assert wrong(tiny, "all") == {"parser spacy", "source toy-wiki"}
    assert wrong(tiny, "exp1") == set()
    assert wrong(tiny, "exp2") == {"source toy-wiki"}
    assert wrong(tiny, "exp3") == {"parser spacy"}


def test_what_was_read_already_is_not_missed(tiny, tmp_path):
    """Results that were moved to another machine are gone on with, without the corpora."""
    tiny["sources"][0].update(reader="text", path="t", options={})
    assert wrong(tiny) == {"source toy-baby"}
    table = tmp_path / "results/sources/toy-baby/sentences.parquet"
    spec = specs.SourceSpec(source=Source(**tiny["sources"][0])).written()
    files.write_json(table.with_name("manifest.json"), {"spec": spec})
    table.touch()
    assert wrong(tiny) == set()
    assert findings(tiny)["source toy-baby"].state == "warning"


def test_a_model_of_phenomena_that_its_suite_does_not_make(tiny):
    tiny["regressions"] = [tiny["regressions"][-1] | {"phenomena": ["wanna", "bindng"]}]
    assert wrong(tiny) == {"model bias"}


def test_no_run_begins_without_its_inputs(tiny, capsys):
    grid = configfile.validate({**tiny, "data": "nowhere"})
    ready.announce(grid, "exp1", dry=True)
    _, *lines = capsys.readouterr().err.splitlines()
    wrong = [entry.line() for entry in ready.examine(grid, "exp1") if entry.state == "error"]
    assert [line.strip() for line in lines] == wrong and wrong
    with pytest.raises(SystemExit) as end:
        ready.announce(grid, "exp1", dry=False)
    assert end.value.code == 1
    assert capsys.readouterr().err.startswith("error: exp1: ")


def test_a_model_of_a_hub_is_named_with_the_command_that_fetches_it(tiny, monkeypatch):
    cached = {"owner/here"}
    whole = huggingface_hub.try_to_load_from_cache
    monkeypatch.setattr(
        huggingface_hub, "try_to_load_from_cache",
        lambda name, *rest, **words: "file" if name in cached else whole(name, *rest, **words),
    )  # fmt: skip
    tiny["pretrained"] = [
        {"name": "gone", "path": "owner/gone", "revision": "1f2e"},
        {"name": "here", "path": "owner/here"},
        {"name": "odd", "path": "owner/here@1f2e"},
    ]
    checks = findings(tiny)
    assert checks["pretrained odd"].state == "error"
    assert "hf download owner/gone --revision 1f2e" in checks["pretrained gone"].remedy
    assert "pretrained[].revision" in checks["pretrained here"].remedy
