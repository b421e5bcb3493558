"""What jobs read of the configuration and of files: worked out by hand for posh-bench's toy grid.

A job that holds too little leaves stale results; one that holds too much trains again for nothing.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import poshgrid
from poshgrid import resources
from poshgrid.config import Config, specs
from poshgrid.config.runs import Run
from poshgrid.errors import PoshgridError
from poshgrid.files import read_json
from poshgrid.grid import configfile
from poshgrid.grid.grid import Grid
from poshgrid.grid.inputs import Inputs, relative
from poshgrid.provenance import fingerprint
from poshgrid.provenance.manifest import recorded
from poshgrid.stages import STAGES, Stages
from poshgrid.stages import stage as stages
from tests.jobs import CELLS, RUN, Cell, of_run, put
from tests.shipped import shipped, shipped_name

PACKED = [f"gpt2-tiny/packed/none/seed{seed}" for seed in (42, 53)]
BASELINES = ["ngram/counted/none/seed0", "unigram/counted/none/seed0"]
JUDGED = {"quality", "rule_shares", "accuracy", "curves", "deltas"}
OF_RUNS = {"rule_shares", "accuracy", "curves", "measures", "report", "deltas"}
OF_TEXT = {"condition", "collateral"}


def described(found: Stages) -> dict[str, Any]:
    """Return stage -> one of its jobs."""
    return {name: getattr(found, name).describe(cell) for name, cell in CELLS.items()}


def test_every_stage_has_a_job_here() -> None:
    assert set(CELLS) == set(STAGES)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        # text and trees
        (put("sources", 0, "options", seed=3), {"read"}),
        (put("bases", 0, seed=3), {"mix"}),
        (put("bases", 0, reading="paper", downsample=0.5), set()),  # of names like baby~binding
        (put("parsers", 0, options={}), {"parse"}),  # of stanza
        (put("parsers", 1, options={}), {"train_parser", "recall"}),  # of spacy
        (put("parsers", 1, "treebank", sentences=900), {"treebank", "train_parser", "recall"}),
        (put("evidence", shard_words="20K"), {"parse", "evidence", "distances"}),
        # evidence and conditions
        (put("evidence", parse="all"), {"parse"}),
        (put("evidence", gold=[]), {"recall", "report"}),
        (put("evidence", backstop=False), OF_TEXT),
        (put("evidence", parser="spacy", compare=["stanza"]), {*OF_TEXT, "audit", "report"}),
        (put("conditions", 0, seed=3), OF_TEXT),
        (put("conditions", 0, filters=["question-formation.direct", "binding"]),
         {*OF_TEXT, "audit", "deltas", "report"}),
        (put("conditions", 0, allow=["void"]), set()),
        (put("conditions", 0, unfiltered_sizes=["60K"]),
         {"accuracy", "curves", "deltas", "report"}),
        (put("audit", sample=20), {"audit"}),
        # tokens and models
        (put("tokenizer", vocabulary_size=600), {"tokenizer"}),
        (put("tokenizer", sweep=[500]), {"sweep"}),
        (put("learners", 0, "options", layers=3), {"train", "untrained"}),
        (put("learners", 1, "options", hidden_size=64), set()),
        (put("regimens", 1, learning_rate="1e-3"), {"train"}),
        (put("regimens", 1, checkpoint_every=7, learning_rate="0.00500", dropout="0e0"), set()),
        (put("regimens", 1, checkpoint_epochs=[2]), {"train", "score"}),
        (put("biases", "tree-planting", weight=2.0), {"train"}),
        (put("biases", "recency", decay=0.7), set()),
        (put("ngram", order=3), {"count", "ngrams"}),
        (put(tracker="tensorboard"), set()),
        # items, scores, statistics
        (put("suites", 0, "options", pairs=100), {"items"}),
        (put("lexicon", top_k=500), {"items", "quality"}),
        (put("scoring", reduction="sum"), JUDGED),
        (put("scoring", bos=False), {"score", "untrained"}),
        (put("scoring", per_token=True), {"score", "untrained"}),
        (put("quality", tolerance=0.1), {"quality", "accuracy", "curves"}),
        (put("measures", reduction="mean"), {"measures"}),
        (put("filtering", perplexity=False), {"deltas"}),
        (put("models", 0, slope_sd=0.4), {"fit"}),
        (put("models", 1, slope_sd=0.4), set()),
        (put(study={"name": "fict"}), {"report"}),
        (put("experiments", 1, seeds=[42, 53, 76]), {"quality", *OF_RUNS}),
        (put("experiments", 1, seeds=[42]), {"quality", *OF_RUNS}),
        (put("experiments", 2, seeds=[42, 53]), set()),
        (put(only="seed=42"), {"quality", *OF_RUNS}),
    ],
)  # fmt: skip
def test_an_edit_changes_the_jobs_that_it_can_change(
    stages_of: Any, tiny: Stages, change: Any, expected: set[str]
) -> None:
    def edited(data: dict[str, Any]) -> None:
        for name in ("lexicon", "scoring", "quality", "measures", "ngram"):
            data.setdefault(name, {})
        change(data)

    before, after = described(tiny), described(stages_of(edited))
    assert {name for name in CELLS if before[name] != after[name]} == expected


def test_a_job_is_its_slice_its_code_its_files_and_its_output(tiny: Stages) -> None:
    tokens = "R/tokens/baby-f/20K"
    assert tiny.train.describe(of_run(RUN)) == {
        "cell": {"condition": "baby-f", "size": "20K", "learner": "gpt2-tiny",
                 "regimen": "sentence", "bias": "tree-planting", "seed": "42"},
        "code": fingerprint.code(
            "poshgrid.training.train", "poshgrid.models.architectures.gpt2",
            "poshgrid.training.biases.tree_planting",
        ),
        "files": "",
        "inputs": {
            "tokens": [f"{tokens}/{split}{kind}" for split in ("train", "dev", "test")
                       for kind in (".bin", ".offsets.npy")] + [f"{tokens}/statistics.json"],
            "tokenizer": ["R/tokenizers/baby-f/20K/tokenizer.json"],
            "distances": ["R/distances/baby-f/20K/spacy/statistics.json"],
        },
        "output": f"R/models/{RUN}",
        "results": "R",
        "spec": {
            "bias": "tree-planting",
            "learner": {"name": "gpt2-tiny",
                        "options": {"hidden_size": 96, "heads": 4, "layers": 2, "ffn": 384}},
            "options": {"tree-planting": {"parser": "spacy"}},
            "regimen": {
                "name": "sentence", "input": "sentence", "context_length": 32, "positions": 64,
                "steps": None, "epochs": 4, "learning_rate": 5e-3,
                "warmup_steps": 0, "dropout": 0.0, "evaluate_every": "epoch",
                "patience_steps": None, "keep": "last", "checkpoint_epochs": [1],
            },
            "seed": 42,
        },
    }  # fmt: skip
    # One that is only initialised and scored: what decides its weights, and what scores decide
    untrained = tiny.untrained.describe(CELLS["untrained"])
    assert untrained["spec"]["train"] == {
        "learner": tiny.train.describe(of_run(RUN))["spec"]["learner"],
        "regimen": None, "bias": "none", "options": {}, "seed": 42,
    }  # fmt: skip
    assert untrained["spec"]["score"] == tiny.score.describe(CELLS["score"])["spec"]
    assert untrained["inputs"]["distances"] == []


CODE = {
    "read": ["poshgrid.corpora.readers.toy"],
    "parse": ["poshgrid.parsing.engines.stanza", "poshgrid.evidence.screening.lexical.binding"],
    "recall": ["poshgrid.parsing.engines.spacy", "poshgrid.evidence.filters.binding"],
    "evidence": ["poshgrid.evidence.filters.question_formation"],
    "audit": ["poshgrid.evidence.screening.lexical.binding"],
    "items": ["poshgrid.benchmark.suites.templates"],
    "rule_preferences": ["poshgrid.rules.rivals.first_auxiliary"],
    "rule_shares": ["poshgrid.rules.rivals.first_auxiliary"],
    "measures": ["poshgrid.statistics.measures.choices"],
    "report": ["poshgrid.report.sections.methods"],
    "train": ["poshgrid.models.architectures.gpt2", "poshgrid.training.biases.tree_planting"],
    "untrained": ["poshgrid.training.train", "poshgrid.models.architectures.gpt2"],
}


@pytest.mark.parametrize("name", STAGES)
def test_code_is_that_of_the_stage_and_of_its_plug_ins(tiny: Stages, name: str) -> None:
    stage = getattr(tiny, name)
    modules = stage.modules(CELLS[name])
    assert {stage.module, *CODE.get(name, [])} <= set(modules)
    assert stage.describe(CELLS[name])["code"] == fingerprint.code(*modules)


def test_ready_files_are_made_by_code_of_their_own(stages_of: Any, written: Any) -> None:
    ready = {"name": "ready", "base": "baby", "prebuilt": "it"}
    found = stages_of(conditions=[*written["conditions"], ready])
    assert found.condition.modules(Cell(condition="ready", size="20K")) == [
        "poshgrid.evidence.prebuilt"
    ]


def test_slices_of_text_and_evidence(tiny: Stages, stages_of: Any) -> None:
    base = tiny.mix.spec(CELLS["mix"])
    assert (base.sizes, base.base.downsample, base.base.reading) == (["20K", "60K"], 1.0, None)
    # 60,000 words and twice 3,000, in shards of 40,000
    parse = tiny.parse.spec(CELLS["parse"])
    assert (parse.shard, parse.shards, parse.parser.name) == (1, 2, "stanza")
    assert parse.screens == ["binding", "question-formation"]
    # a bias is trained with the trees of spacy: every sentence of the base is parsed
    assert tiny.parse.spec(Cell(base="baby", parser="spacy", shard="0")).screens == []
    recall = tiny.recall.spec(CELLS["recall"])
    assert (recall.parser.name, recall.gold) == ("spacy", ["toy"])
    assert recall.filters == ["binding", "question-formation"]
    audit = tiny.audit.spec(CELLS["audit"])
    assert (audit.condition, audit.size, audit.sample, audit.whole) == (
        "baby-f", "60K", 50, True,
    )  # fmt: skip


def test_a_parser_without_a_treebank_is_not_trained(stages_of: Any, written: Any) -> None:
    bought = {"name": "bought", "engine": "spacy", "model": "somewhere"}
    found = stages_of(parsers=[*written["parsers"], bought])
    with pytest.raises(PoshgridError, match="parsers: bought"):
        found.treebank.spec(Cell(parser="bought"))


def test_labels_stop_a_condition_only_where_there_are_some(stages_of: Any) -> None:
    for backstop in (True, False):
        found = stages_of(put("evidence", backstop=backstop)).condition
        assert found.spec(Cell(condition="baby-f", size="20K")).backstop is backstop
        assert found.spec(Cell(condition="wiki", size="20K")).backstop is True


def test_a_condition_at_the_sizes_where_nothing_is_removed(stages_of: Any) -> None:
    found = stages_of(
        put("conditions", 0, unfiltered_sizes=["60K"], filtered=True), audit={"conditions": []}
    )
    small, large = (
        found.condition.spec(Cell(condition="baby-f", size=size)).condition
        for size in ("20K", "60K")
    )
    assert (small.unfiltered_sizes, large.unfiltered_sizes) == ([], ["60K"])
    assert small.filtered is large.filtered is None
    assert small.allow == []


def test_a_condition_is_compared_with_those_of_its_tokenizer(tiny: Stages, stages_of: Any) -> None:
    def others(found: Stages, name: str) -> list[str]:
        beside = found.condition.beside(name, "20K")
        return [other.condition.name for other in beside.others]

    assert (others(tiny, "baby"), others(tiny, "baby-f")) == (["baby-f"], ["baby"])
    assert tiny.condition.beside("baby-f", "20K").fewer
    own = stages_of(put("conditions", 1, tokenizer={"vocabulary_size": 500}))
    assert others(own, "baby") == others(own, "baby-f") == []


def test_slices_of_scores(stages_of: Any, written: Any) -> None:
    scoring = {"reduction": "sum", "masked": ["holistic", "pseudo-log-likelihood"], "bos": False,
               "per_token": True}  # fmt: skip
    found = stages_of(suites=written["suites"][:1], scoring=scoring)
    score = found.score.spec(CELLS["score"])
    assert (score.scoring.reduction, score.scoring.masked) == ("mean", "holistic")
    assert (score.scoring.bos, score.scoring.per_token, score.revision) == (False, True, None)
    assert score.rescored == {"posh-pseudo-log-likelihood": "pseudo-log-likelihood"}
    perplexity = found.perplexity.spec(CELLS["perplexity"])
    assert (perplexity.scoring.bos, perplexity.scoring.per_token) == (True, False)
    assert (perplexity.scoring.decoding_seed, perplexity.tested) == (None, "baby")
    # a judgement depends on how two scores are compared, and on nothing else of them
    judged = found.accuracy.spec(CELLS["accuracy"]).scoring
    assert judged.written() == {"reduction": "sum"}
    pretrained = stages_of(pretrained=[
        {"name": "mine", "model": "owner/mine", "revision": "1f2e", "masked": "holistic"},
        {"name": "other", "model": "owner/other"},
    ]).score  # fmt: skip
    mine, other = (
        pretrained.spec(of_run(f"pretrained/given/{name}/pretrained/none/seed0"))
        for name in ("mine", "other")
    )
    assert (mine.revision, mine.scoring.masked) == ("1f2e", "holistic")
    assert (other.revision, other.scoring.masked) == (None, "pseudo-log-likelihood")


def test_slices_of_statistics(tiny: Stages, stages_of: Any) -> None:
    grid = tiny.accuracy.grid
    runs = [run.name for run in grid.runs("exp2")]
    accuracy = tiny.accuracy.spec(CELLS["accuracy"])
    assert accuracy.runs == tiny.rule_shares.spec(CELLS["rule_shares"]).runs == runs
    cells = {f"{c}/{s}" for c in ("baby", "baby-f", "wiki") for s in ("20K", "60K")}
    assert set(accuracy.cells) == cells
    assert accuracy.cells["baby-f/20K"] == specs.Cell(filtered=True, source="baby", words=20_000)
    assert accuracy.cells["baby/20K"].filtered is False
    quality = tiny.quality.spec(CELLS["quality"])
    assert (quality.suite, quality.generated, quality.top_k) == ("posh", True, 3_000)
    assert quality.bases == {"baby": "baby", "baby-f": "baby", "wiki": "wiki"}
    measures = tiny.measures.spec(CELLS["measures"])
    assert (measures.suite, measures.task, measures.runs) == ("choices", "choices", runs)
    deltas = tiny.deltas.spec(CELLS["deltas"])
    assert deltas.full == {"baby-f": "baby"}
    assert deltas.targets.keys() == {"baby-f"}
    assert "principle-a-command" in deltas.targets["baby-f"]
    compared = [run.name for run in grid.targets["exp2"] if run.condition != "wiki"]
    assert sorted(deltas.runs) == sorted(deltas.perplexity) == sorted(compared)
    # counts are by set where a model that is fitted asks
    by_set = stages_of(
        lambda c: put("models", 2, formula=c["models"][2]["formula"] + " + (1|set)")(c)
    )
    assert {t: by_set.accuracy.spec(Cell(target=t)).sets for t in ("all", "exp1", "exp3")} == {
        "all": ["posh"], "exp1": [], "exp3": ["posh"],
    }  # fmt: skip


def test_a_page_is_about_what_its_target_has(tiny: Stages, stages_of: Any) -> None:
    page = tiny.report.spec(CELLS["report"])
    assert page.runs == [run.name for run in tiny.report.grid.runs("exp2")]
    assert (page.bases, page.sizes) == (["baby", "wiki"], ["20K", "60K"])
    assert page.conditions == ["baby", "baby-f", "wiki"]
    assert (page.parsers, page.evidence_parser) == (["stanza", "spacy"], "stanza")
    assert (page.models, page.gold) == (["binding", "condition", "paper"], ["toy"])
    assert (page.suites, page.full) == (["posh"], {"baby-f": "baby"})
    assert set(page.measured) == {"filler-gap", "choices", "completions"}
    plain = stages_of(put("experiments", 1, conditions=["wiki"]), models=[])
    bare = plain.report.spec(CELLS["report"])
    assert (bare.parsers, bare.evidence_parser, bare.gold) == ([], None, [])
    suite = {"name": "zorro", "reader": "lines", "path": "zorro"}
    config = Config.model_validate({"pretrained": ["gpt2"], "models": [], "suites": [suite]})
    given = Stages(Grid(config)).report.spec(Cell(target="all"))
    assert given.cells == {
        "pretrained/given": specs.Cell(filtered=False, source="pretrained", words=0)
    }
    assert (given.sizes, given.conditions, given.bases) == ([], ["pretrained"], [])


@pytest.mark.parametrize("path", shipped(), ids=shipped_name)
def test_a_stage_reads_its_slice_back(path: Path) -> None:
    found = Stages(Grid(configfile.load(path)))
    grid = found.report.grid
    run = grid.runs("all")[0]
    cells = {name: Cell(target="all") for name in ("accuracy", "report", "rule_shares", "deltas")}
    cells |= {"score": run}
    if run in grid.every_run:
        made = ("train", "untrained", "condition", "tokenizer", "sweep", "collateral")
        cells |= dict.fromkeys(made, run)
    every = [*cells.items(), *(("items", Cell(suite=suite)) for suite in grid.suites)]
    every += [("fit", Cell(model=model)) for model in grid.fitted("all")]
    for name, cell in every:
        spec = getattr(found, name).spec(cell)
        text = specs.canonical(spec)
        assert specs.canonical(specs.parse(STAGES[name].Spec, text)) == text


# Files


INPUTS = {
    "mix": {"sources": {"toy-baby": "R/sources/toy-baby/sentences.parquet"}},
    "train_parser": {
        "treebank": [f"R/treebanks/spacy/{split}.conllu" for split in ("train", "dev", "test")]
    },
    "parse": {
        "sentences": "R/corpora/baby/sentences.parquet", "model": [], "word_lists": [],
        "parser": ["R/parsers/stanza/manifest.json"],
    },
    "evidence": {
        "sentences": "R/corpora/baby/sentences.parquet", "word_lists": [],
        "parses": [f"R/parses/baby/stanza/{shard}.parquet" for shard in (0, 1)],
    },
    "condition": {
        "sentences": ["R/corpora/baby/sentences.parquet"],
        "evidence": ["R/evidence/baby/stanza.parquet"],
    },
    "collateral": {
        "condition": [f"R/conditions/baby-f/20K/{n}" for n in ("train.parquet", "statistics.json")],
        "sentences": "R/corpora/baby/sentences.parquet",
        "evidence": ["R/evidence/baby/stanza.parquet"],
    },
    "tokenizer": {"texts": ["R/conditions/baby-f/20K/train.parquet"]},
    "tokens": {
        "condition": [f"R/conditions/baby-f/20K/{s}.parquet" for s in ("train", "dev", "test")],
        "tokenizer": ["R/tokenizers/baby-f/20K/tokenizer.json"],
    },
    "sweep": {"condition": "R/conditions/baby-f/20K/train.parquet"},
    "distances": {
        "condition": "R/conditions/baby-f/20K/train.parquet",
        "tokenizer": ["R/tokenizers/baby-f/20K/tokenizer.json"],
        "tokens": "R/tokens/baby-f/20K/train.bin",
        "parses": [f"R/parses/baby/spacy/{shard}.parquet" for shard in (0, 1)],
    },
    "count": {"sentences": "R/conditions/baby-f/20K/train.parquet"},
    "ngrams": {"sentences": "R/corpora/baby/sentences.parquet"},
    "score": {
        "model": [f"R/models/{RUN}/{name}" for name in ("model.safetensors", "manifest.json")],
        "items": {s: f"R/benchmark/{s}/items.parquet"
                  for s in ("posh", "filler-gap", "choices", "completions")},
    },
    "perplexity": {
        "model": [f"R/models/baby-f/20K/{PACKED[0]}/{name}"
                  for name in ("model.safetensors", "manifest.json")],
        "sentences": "R/corpora/baby/sentences.parquet",
    },
    "fit": {"counts": "R/statistics/exp2/counts.parquet"},
}  # fmt: skip


@pytest.mark.parametrize("name", INPUTS)
def test_what_a_job_reads_of_the_results(tiny: Stages, name: str) -> None:
    assert getattr(tiny, name).inputs(CELLS[name]) == INPUTS[name]


def test_what_the_jobs_of_a_target_read(tiny: Stages) -> None:
    cells = [f"baby-f/{size}" for size in ("20K", "60K")]
    runs = [f"{cell}/{run}" for cell in cells for run in PACKED]
    nulls = [
        f"{cell}/{run}"
        for cell in cells
        for run in (*(name.replace("packed", "untrained") for name in PACKED), *BASELINES)
    ]
    quality = tiny.quality.inputs(Cell(target="exp1", suite="posh"))
    assert quality["train"] == {cell: f"R/conditions/{cell}/train.parquet" for cell in cells}
    assert quality["scores"] == {name: f"R/scores/{name}/posh.parquet" for name in nulls}
    exp1 = Cell(target="exp1")
    accuracy = tiny.accuracy.inputs(exp1)
    assert accuracy["conditions"] == [f"R/conditions/{cell}/statistics.json" for cell in cells]
    assert sorted(accuracy["scores"]) == sorted(
        f"R/scores/{name}/posh.parquet" for name in (*runs, *nulls)
    )
    assert tiny.rule_shares.inputs(exp1)["unigrams"] == [
        f"R/models/{cell}/unigram/counted/none/seed0/model.safetensors" for cell in cells
    ]
    curves = tiny.curves.inputs(exp1)
    assert curves["training"] == [
        f"R/models/{run}/{name}" for run in runs for name in ("statistics.json", "training.jsonl")
    ]
    untrained = [name for name in nulls if "untrained" in name]
    assert sorted(curves["scores"]) == sorted(
        f"R/scores/{name}/posh.parquet" for name in (*runs, *untrained)
    )
    pairs = [f"{c}/{s}/{run}" for c in ("baby", "baby-f") for s in ("20K", "60K") for run in PACKED]
    deltas = tiny.deltas.inputs(CELLS["deltas"])
    assert deltas["perplexity"] == {
        name: f"R/perplexity/{name}.json" for name in deltas["perplexity"]
    }
    assert sorted(deltas["perplexity"]) == sorted(pairs)
    assert sorted(deltas["scores"]) == sorted(f"R/scores/{name}/posh.parquet" for name in pairs)


def test_items_are_generated_from_every_corpus(tiny: Stages) -> None:
    generated, given = (tiny.items.inputs(Cell(suite=name)) for name in ("posh", "choices"))
    assert generated["bases"] == {b: f"R/corpora/{b}/sentences.parquet" for b in ("baby", "wiki")}
    assert generated["ngrams"] == {
        f"{base}/{size}": f"R/benchmark/ngrams/{base}/{size}/model.safetensors"
        for base in ("baby", "wiki") for size in ("20K", "60K")
    }  # fmt: skip
    assert {Path(path).suffix for path in generated["files"]} >= {".tsv", ".yaml"}
    assert given == {"files": ["resources/examples/english-choices-EXAMPLE.csv"]}


def page_of_exp1() -> list[str]:
    """Return what the page of exp1 shows: two cells of baby-f, each with two runs."""
    cells = [f"baby-f/{size}" for size in ("20K", "60K")]
    made = [f"{cell}/{run}" for cell in cells for run in PACKED]
    counted = [f"{cell}/{name}" for cell in cells for name in BASELINES]
    parsers, top = ("stanza", "spacy"), "R/statistics/exp1"
    return [
        f"{top}/accuracy.parquet", f"{top}/rules/shares.parquet",
        "R/quality/exp1/posh/quality.json",
        *(f"{top}/measures/{suite}/measures.parquet"
          for suite in ("filler-gap", "choices", "completions")),
        f"{top}/curves/curves_mean.parquet", f"{top}/models/paper/diagnostics.json",
        *(f"R/evidence/baby/{parser}.parquet" for parser in parsers),
        *(f"R/parsers/{parser}/evaluation.json" for parser in parsers),
        *(f"R/recall/{parser}.parquet" for parser in parsers),
        *(f"R/tokens/{cell}/statistics.json" for cell in cells),
        *(f"R/tokenizers/{cell}/sweep.json" for cell in cells),
        *(f"R/collateral/{cell}/collateral.parquet" for cell in cells),
        "R/audit/baby-f/60K/statistics.json",
        *(f"R/models/{run}/statistics.json" for run in (*made, *counted)),
    ]  # fmt: skip


def test_a_page_shows_all_that_was_made_for_it_and_nothing_else(
    tiny: Stages, stages_of: Any, written: Any
) -> None:
    shown = tiny.report.inputs(Cell(target="exp1"))["shown"]
    assert shown == page_of_exp1()
    assert "R/statistics/exp2/deltas/deltas.parquet" in tiny.report.read(Cell(target="exp2"))
    bare = stages_of(
        put("evidence", gold=[]), suites=[written["suites"][2]], models=[], audit={},
        tokenizer=written["tokenizer"] | {"sweep": []},
    ).report.inputs(Cell(target="exp1"))  # fmt: skip
    gone = ("accuracy", "shares", "quality", "curves", "filler-gap", "completions", "recall",
            "sweep", "models/paper", "audit")  # fmt: skip
    assert bare["shown"] == [path for path in shown if not any(word in path for word in gone)]


def test_a_page_is_laid_out_with_files_of_the_package(tiny: Stages) -> None:
    found = {Path(path).resolve() for path in tiny.report.inputs(CELLS["report"])["page"]}
    for room in ("report", "tables"):
        files = (Path(poshgrid.__file__).parent / room).rglob("*.*")
        assert {path for path in files if path.suffix not in (".py", ".pyc")} <= found
    published = {"posh-bench/published/v1/table3.csv", "fict/published/paper/numbers.csv"}
    assert {resources.STUDIES / name for name in published} <= found


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
        data["conditions"].append({"name": "ready", "base": "baby", "prebuilt": "it's ready"})
        data["tokenizer"] |= {"file": "words.json", "sweep": []}

    lay(here, "toy-baby b.txt", "choices.csv", "norms.csv", "one.conllu", "bank/b.conllu",
        "bank/a.conllu", "bank/notes.txt", "bought/b/weights.bin", "bought/a.json",
        "it's ready/20K/train.txt")  # fmt: skip
    found = stages_of(change)
    read = {
        (name, key): getattr(found, name).inputs(cell)[key]
        for name, cell, key in (
            ("read", Cell(source="toy-baby"), "files"), ("read", Cell(source="toy-wiki"), "files"),
            ("items", Cell(suite="choices"), "files"),
            ("measures", CELLS["measures"], "norms"),
            ("parse", Cell(base="baby", parser="bought", shard="0"), "model"),
            ("condition", Cell(condition="ready", size="20K"), "sentences"),
            ("condition", Cell(condition="ready", size="20K"), "evidence"),
            ("tokenizer", CELLS["tokenizer"], "texts"),
        )
        if cell != Cell(source="toy-wiki")
    }  # fmt: skip
    assert read == {
        ("read", "files"): ["toy-baby b.txt"],
        ("items", "files"): ["choices.csv"],
        ("measures", "norms"): ["norms.csv"],
        ("parse", "model"): ["bought/a.json", "bought/b/weights.bin"],
        ("condition", "sentences"): ["it's ready/20K/train.txt"],
        ("condition", "evidence"): [],
        ("tokenizer", "texts"): ["words.json"],
    }
    assert found.read.inputs(Cell(source="toy-wiki"))["files"] == []
    recall = found.recall.inputs(Cell(parser="bought"))
    assert recall["parser"] == recall["treebank"] == []  # nobody knows what it has learned from
    assert {Path(path).name for path in recall["gold"]} == {
        "a.conllu", "b.conllu", "one.conllu", "grammar.yaml", "lexicon.yaml",
    }  # fmt: skip
    arguments = found.condition.arguments(Cell(condition="ready", size="20K"))
    assert arguments["prebuilt"] == str(here / "it's ready/20K")
    shown = found.report.inputs(Cell(target="exp1"))["shown"]
    assert "R/evidence/baby/bought.parquet" in shown
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


def test_what_jobs_write_is_not_digested(here: Path, stages_of: Any) -> None:
    """Else a job would run again once the job before it has run."""
    models = [of_run(RUN), of_run(f"baby-f/20K/{BASELINES[0]}")]
    stage = stages_of(data=str(here)).score
    before = [stage.describe(cell) for cell in models]
    for file in [file for cell in models for file in stage.inputs(cell)["model"]]:
        lay(here, file)
    stage = stages_of(data=str(here)).score
    assert [stage.describe(cell) for cell in models] == before


def test_a_file_that_snakemake_takes_for_a_pattern_is_named(here: Path, stages_of: Any) -> None:
    lay(here, "toy-baby/{x}.txt")
    source = {"name": "toy-baby", "reader": "text", "path": "toy-baby"}
    found = stages_of(lambda data: data["sources"].__setitem__(0, source), data=str(here))
    with pytest.raises(PoshgridError, match=r"\{x\}\.txt"):
        found.read.inputs(CELLS["read"])


def test_a_pretrained_model_is_a_folder_or_an_id(here: Path, grid_of: Any) -> None:
    lay(here, "mine/b.bin", "mine/a.json", "mine/deep/c.bin")
    given = [{"name": "mine", "model": "mine"}, {"name": "hub", "model": "owner/name"}]
    found = Inputs(grid_of(data=str(here), pretrained=given))
    mine, hub = (Run("pretrained", "given", n, "pretrained", "none", 0) for n in ("mine", "hub"))
    assert found.given_model(mine) == found.model_place(mine) == here / "mine"
    assert found.model(mine) == ["mine/a.json", "mine/b.bin"]
    assert (found.given_model(hub), found.model_place(hub), found.model(hub)) == (
        None, "owner/name", [],
    )  # fmt: skip


def test_the_words_that_a_filter_looks_for_are_inputs(tiny: Stages) -> None:
    found = tiny.parse.files
    lists = {word: found.word_lists([word]) for word in ("npi-only", "binding", "passive")}
    assert lists["binding"] == []
    assert lists["npi-only"] and all(Path(path).is_file() for path in lists["npi-only"])
    assert found.word_lists(lists) == [*lists["npi-only"], *lists["passive"]]


def test_paths_are_as_seen_from_here_where_they_can_be(here: Path) -> None:
    assert relative(here / "a" / "b") == "a/b"
    assert relative(here.parent / "there") == str(here.parent / "there")


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


def test_what_a_condition_is_compared_with_is_written_by_a_real_run_alone(
    here: Path, grid_of: Any
) -> None:
    dry = [True]
    stage = Stages(grid_of(), lambda: not dry[0]).condition
    path = Path(stage.arguments(CELLS["condition"])["beside"])
    assert list(here.iterdir()) == []
    dry[0] = False
    stage.arguments(CELLS["condition"])
    assert specs.beside(path) == stage.beside("baby-f", "20K")
    first = path.stat().st_mtime_ns
    stage.arguments(CELLS["condition"])
    assert path.stat().st_mtime_ns == first


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"output": "x"}', "@gone.json", "@.", "x"])
def test_what_is_no_job_is_one_line(here: Path, text: str) -> None:
    with pytest.raises(PoshgridError) as caught:
        stages.load(text)
    assert str(caught.value).startswith("job: ") and "\n" not in str(caught.value)


def test_a_manifest_says_what_a_job_was(here: Path) -> None:
    """The digest of its code and outside files, its spec, and what it read, folders whole."""

    class Stub(stages.Stage):
        module, output, outputs, Spec = "poshgrid.errors", "{results}/x", ("made",), specs.CountSpec

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
    assert train["options"](of_run(RUN)) == "--checkpoint-every 100"
