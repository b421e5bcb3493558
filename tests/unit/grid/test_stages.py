"""What jobs read of the configuration and of files: worked out by hand for posh-bench's toy grid.

A job that holds too little leaves stale results; one that holds too much trains again for nothing.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import poshgrid
from poshgrid.config import Config, specs
from poshgrid.config.runs import Run
from poshgrid.core import fingerprint, resources
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import read_json
from poshgrid.core.manifest import recorded
from poshgrid.grid.grid import Grid
from poshgrid.stages import STAGES, Stages
from poshgrid.stages import stage as stages
from tests.cases import read_cases
from tests.jobs import CELLS, Cell, of_run, put

PINNED = Path(__file__).with_name("jobs.json")


def described(made: Stages) -> dict[str, Any]:
    """Return stage -> one of its jobs, whose slice the stage reads back as it was."""
    jobs = {name: getattr(made, name).describe(cell) for name, cell in CELLS.items()}
    for name, job in jobs.items():
        if "spec" in job:
            text = json.dumps(job["spec"])
            assert specs.parse(STAGES[name].Spec, text).written() == job["spec"]
    return jobs


@pytest.mark.parametrize(
    ("keys", "changes", "expected"),
    read_cases(__file__, "stages")["edits"],
)  # fmt: skip
def test_an_edit_changes_the_jobs_that_it_can_change(
    stages_of: Any,
    tiny: Stages,
    keys: list[str | int],
    changes: dict[str, Any],
    expected: list[str],
) -> None:
    def edited(data: dict[str, Any]) -> None:
        data.setdefault("scoring", {})
        put(*keys, **changes)(data)

    before, after = described(tiny), described(stages_of(edited))
    assert sorted(name for name in CELLS if before[name] != after[name]) == expected


def test_jobs_are_pinned(tiny: Stages) -> None:
    """What each stage runs, reads and writes; ``jobs.json`` holds all of it, to be read in a diff.

    Files of the package and of a study are left out: their content is digested, not their place.
    """
    jobs = {}
    for name, job in described(tiny).items():
        modules = list(getattr(tiny, name).modules(CELLS[name]))
        assert job["code"] == fingerprint.code(*modules)
        inputs = {
            key: [file for file in stages.flat(files) if file.startswith("R/")]
            for key, files in job["inputs"].items()
        }
        made = {key: job.get(key) for key in ("arguments", "output", "spec")}
        own = [module for module in modules if not module.startswith("poshgrid.report.sections")]
        written = getattr(tiny, name).written()
        jobs[name] = {"inputs": inputs, "modules": own, "written": written} | made
    assert jobs.keys() == STAGES.keys()
    pinned = json.loads(PINNED.read_text(encoding="utf-8"))
    changed = [name for name in jobs if jobs[name] != pinned.get(name)]
    text = json.dumps(jobs, indent=1, sort_keys=True)
    assert not changed, f"jobs of {changed} changed; if that is meant, {PINNED.name} is\n{text}"


def test_a_condition_at_the_sizes_where_nothing_is_removed(stages_of: Any) -> None:
    made = stages_of(put("conditions", 0, unfiltered_sizes=["40K"], filtered=True), audit={})
    small, large = (
        made.condition.spec(Cell(condition="baby-f", size=size)).condition
        for size in ("20K", "40K")
    )
    assert (small.unfiltered_sizes, large.unfiltered_sizes) == ([], ["40K"])
    assert small.filtered is large.filtered is None
    assert small.allow == []


def test_a_rewriter_is_code_of_the_conditions_that_use_it(stages_of: Any) -> None:
    def with_control(data: dict[str, Any]) -> None:
        control = {"name": "control", "corpus": "baby", "control": "baby-f"}
        data["conditions"].append(control)
        data["experiments"][1]["conditions"].append("control")
        data["experiments"][2]["conditions"] = ["baby"]  # no bias learns from rewritten trees

    def rewritten(data: dict[str, Any]) -> None:
        with_control(data)
        data["conditions"][0]["rewrite"] = ["drop-articles"]

    before, after = described(stages_of(with_control)), described(stages_of(rewritten))
    changed = ["audit", "condition", "side_effects"]
    assert sorted(name for name in CELLS if before[name] != after[name]) == changed
    stage = stages_of(rewritten).condition
    for name in ("baby", "baby-f", "control"):
        cell = Cell(condition=name, size="20K")
        rewritten = name != "baby"
        module = "poshgrid.evidence.rewriters.drop_articles"
        assert (module in stage.modules(cell)) == rewritten
        assert ("parses" in stage.inputs(cell)) == rewritten


def test_slices_of_scores(stages_of: Any, written: Any) -> None:
    scoring = {"reduction": "sum", "masked": "holistic", "bos": False}
    posh = written["suites"][0]
    again = posh | {"name": "again", "masked": "pseudo-log-likelihood"}
    made = stages_of(suites=[posh, again], scoring=scoring)
    score = made.score.spec(CELLS["score"])
    assert (score.scoring.reduction, score.scoring.masked) == ("mean", "holistic")
    assert (score.scoring.bos, score.revision) == (False, None)
    assert score.rescored == {"again": "pseudo-log-likelihood"}
    assert made.items.spec(Cell(suite="again")).suite.masked is None  # items do not depend on it
    perplexity = made.perplexity.spec(CELLS["perplexity"])
    assert perplexity.scoring.bos
    assert (perplexity.scoring.decoding_seed, perplexity.tested) == (None, "baby")
    # a judgement depends on how two scores are compared, and on nothing else of them
    judged = made.accuracy.spec(CELLS["accuracy"]).scoring
    assert judged.written() == {"reduction": "sum"}
    pretrained = stages_of(pretrained=[
        {"name": "mine", "path": "owner/mine", "revision": "1f2e"},
        {"name": "other", "path": "owner/other"},
    ]).score  # fmt: skip
    mine, other = (
        pretrained.spec(of_run(f"pretrained/given/{name}/pretrained/none/seed0"))
        for name in ("mine", "other")
    )
    assert (mine.revision, other.revision) == ("1f2e", None)
    assert mine.hub == "owner/mine"  # two models under one name are two specs
    assert mine.scoring.masked == other.scoring.masked == "pseudo-log-likelihood"


def test_a_page_is_about_what_its_target_has(stages_of: Any) -> None:
    plain = stages_of(put("experiments", 1, conditions=["wiki"]), regressions=[])
    bare = plain.report.spec(CELLS["report"])
    assert (bare.parsers, bare.evidence_parser, bare.gold) == ([], None, [])
    suite = {"name": "zorro", "reader": "pairs", "path": "zorro"}
    config = Config.model_validate({"pretrained": ["gpt2"], "regressions": [], "suites": [suite]})
    alone = Stages(Grid(config)).report.spec(Cell(target="all"))
    assert alone.cells == {
        "pretrained/given": specs.Cell(filtered=False, source="pretrained", words=0)
    }
    assert (alone.sizes, alone.conditions, alone.corpora) == ([], ["pretrained"], [])


# Files


def test_a_page_is_laid_out_with_files_of_the_package(tiny: Stages) -> None:
    read = {Path(path).resolve() for path in tiny.report.inputs(CELLS["report"])["page"]}
    for room in ("report", "tables"):
        files = (Path(poshgrid.__file__).parent / room).rglob("*.*")
        assert {path for path in files if path.suffix not in (".py", ".pyc")} <= read
    published = {
        "posh-bench/published/v1/table3.csv",
        "fict/published/paper/numbers.csv",
        "posh-bench/children.csv",
    }
    assert {resources.STUDIES / name for name in published} <= read


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, which is the data folder, too."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lay(folder: Path, *names: str) -> None:
    """Write empty files."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def test_filtered_models_are_only_compared_on_pairs(
    tiny: Stages, stages_of: Any, written: Any
) -> None:
    choices = [suite for suite in written["suites"] if suite["reader"] == "choices"]
    without = stages_of(suites=choices, regressions=[])
    for study, compared in ((tiny, True), (without, False)):
        shown = study.report.inputs(Cell(target="all"))["shown"]
        assert any(path.endswith("/deltas.parquet") for path in shown) == compared


def test_files_of_other_people(here: Path, stages_of: Any, written: Any) -> None:
    """As seen from the working folder; a missing one is none: the job says so."""

    def change(data: Any) -> None:
        data["data"] = str(here)
        data["sources"] = [{"name": name, "reader": "text", "path": f"{name} b.txt"}
                           for name in ("toy-baby", "toy-wiki")]  # fmt: skip
        data["suites"][2] |= {"path": "choices.csv", "norms": "norms.csv"}
        data["evidence"]["gold"] = ["one.conllu", "bank", "toy"]
        data["parsers"].append({"name": "bought", "engine": "spacy", "model": "bought"})
        data["evidence"]["compare"] = ["bought"]
        data["biases"]["tree-planting"] = {"parser": "bought"}
        data["tokenizer"] |= {"file": "words.json", "sweep": []}

    lay(here, "toy-baby b.txt", "choices.csv", "norms.csv", "one.conllu", "bank/b.conllu",
        "bank/a.conllu", "bank/notes.txt", "bought/b/weights.bin", "bought/a.json")  # fmt: skip
    made = stages_of(change)
    for name, key, cell, files in (
        ("read", "files", Cell(source="toy-baby"), ["toy-baby b.txt"]),
        ("items", "files", Cell(suite="choices"), ["choices.csv"]),
        ("measures", "norms", CELLS["measures"], ["norms.csv"]),
        ("parse", "model", Cell(corpus="baby", parser="bought", shard="0"),
         ["bought/a.json", "bought/b/weights.bin"]),
        ("tokenizer", "file", CELLS["tokenizer"], "words.json"),
    ):  # fmt: skip
        assert getattr(made, name).inputs(cell)[key] == files
    assert made.read.inputs(Cell(source="toy-wiki"))["files"] == []
    recall = made.recall.inputs(Cell(parser="bought"))
    assert recall["parser"] == recall["treebank"] == []  # nobody knows what it has learned from
    assert {Path(path).name for path in recall["gold"]} == {
        "a.conllu", "b.conllu", "one.conllu", "grammar.yaml", "lexicon.yaml",
    }  # fmt: skip
    shown = made.report.inputs(Cell(target="exp1"))["shown"]
    assert "R/recall/bought/recall.parquet" in shown
    assert "R/evidence/baby/bought/evidence.parquet" not in shown
    assert not any("parsers/bought" in path for path in shown)


def test_files_of_other_people_are_digested(here: Path, stages_of: Any) -> None:
    def change(data: Any) -> None:
        data["data"] = str(here)
        data["sources"][0] = {"name": "toy-baby", "reader": "text", "path": "a.txt"}

    (here / "a.txt").write_text("one")
    stage = stages_of(change).read
    before = stage.describe(CELLS["read"])
    (here / "a.txt").write_text("two")
    after = stages_of(change).read.describe(CELLS["read"])
    assert before["files"] and before["files"] != after["files"]
    assert before | {"files": ""} == after | {"files": ""}


def test_a_file_that_snakemake_takes_for_a_pattern_is_named(here: Path, stages_of: Any) -> None:
    lay(here, "toy-baby/{x}.txt")
    source = {"name": "toy-baby", "reader": "text", "path": "toy-baby"}
    made = stages_of(lambda data: data["sources"].__setitem__(0, source), data=str(here))
    with pytest.raises(PoshgridError, match=r"\{x\}\.txt"):
        made.read.inputs(CELLS["read"])


def test_a_pretrained_model_is_a_folder_or_an_id(here: Path, grid_of: Any) -> None:
    lay(here, "mine/b.bin", "mine/a.json", "mine/deep/c.bin")
    models = [{"name": "mine", "path": "mine"}, {"name": "hub", "path": "owner/name"}]
    made = Stages(grid_of(data=str(here), pretrained=models))
    mine, hub = (Run("pretrained", "given", n, "pretrained", "none", 0) for n in ("mine", "hub"))
    assert made.score.arguments(mine)["model"] == str(here / "mine")
    assert made.score.model(mine) == ["mine/a.json", "mine/b.bin"]
    assert made.score.pretrained_folder(hub) is None and made.score.model(hub) == []
    assert made.score.arguments(hub)["model"] == "owner/name"


# Jobs as text


def test_a_long_job_is_in_a_file_that_a_real_run_alone_writes(
    here: Path, grid_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    dry = [True]
    stage = Stages(grid_of(), lambda: not dry[0]).accuracy
    short = stage.job(CELLS["accuracy"])
    assert json.loads(short) == stages.load(short) == stage.describe(CELLS["accuracy"])
    monkeypatch.setattr(stages, "MAX_ARGUMENT", len(short.encode()) - 1)
    long = stage.job(CELLS["accuracy"])
    assert long.startswith("@R/arguments/") and len(long) < 100
    assert list(here.iterdir()) == []
    dry[0] = False  # Snakemake says so late
    assert stage.job(CELLS["accuracy"]) == long
    assert stages.load(long) == json.loads(short)
    first = Path(long[1:]).stat().st_mtime_ns
    stage.job(CELLS["accuracy"])
    assert Path(long[1:]).stat().st_mtime_ns == first
    assert stage.job(Cell(target="exp1")) != long
    assert stages.MAX_ARGUMENT < 64 * 1024  # Linux takes no argument of 128 KB


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"output": "x"}', "@gone.json", "@.", "x"])
def test_what_is_no_job_is_one_line(here: Path, text: str) -> None:
    with pytest.raises(PoshgridError) as caught:
        stages.load(text)
    assert str(caught.value).startswith("job: ") and "\n" not in str(caught.value)


def test_a_manifest_says_what_a_job_was(here: Path) -> None:
    """The digest of its code and outside files, its spec, and what it read, folders whole."""

    class Stub(stages.Stage):
        function, output = "poshgrid.core.errors.plain", "{results}/x"
        outputs, Spec = ("made",), specs.CountSpec

        @staticmethod
        def run(job: stages.Job) -> dict[str, Any]:
            assert (job.spec.order, job.path("text")) == (3, Path("words.txt"))
            assert job.file("nothing") is None
            assert job.threads == 2
            (job.output / "made").write_text("made")
            return {"fact": 7}

    lay(here, "words.txt", "model/weights")
    with recorded(here / "model/manifest.json"):
        pass
    job = {
        "code": "1f", "files": "9", "output": "R/x", "results": "R", "spec": {"order": 3},
        "inputs": {"text": "words.txt", "model": ["model/manifest.json"]},
    }  # fmt: skip
    (here / "R/x").mkdir(parents=True)
    stages.run(Stub, json.dumps(job), threads=2)
    manifest = read_json(Path("R/x/manifest.json"))
    assert (manifest["code"], manifest["spec"], manifest["fact"]) == ("1f-9", {"order": 3}, 7)
    assert {Path(name).name for name in manifest["inputs"]} == {"words.txt", "weights"}
    assert set(manifest["outputs"]) == {"made"}


def test_a_job_gets_more_each_time_except_time_that_a_training_resumes(tiny: Stages) -> None:
    parse, train = tiny.parse.resources, tiny.train.resources
    assert [parse["mem_mb"](None, attempt) for attempt in (1, 2, 3)] == [8000, 16000, 24000]
    assert [parse["runtime"](None, attempt) for attempt in (1, 2)] == [240, 480]
    assert (train["mem_mb"](None, 2), train["runtime"]) == (16000, 1440)
