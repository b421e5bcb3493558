"""Time and cost: sums over manifests that are worked by hand, and what they cannot know."""

from __future__ import annotations

import dataclasses
import re

import polars as pl
import pytest

from poshgrid import files
from poshgrid.config.paths import Paths
from poshgrid.config.runs import Run
from poshgrid.report import style
from poshgrid.report.collect import Trained, gather
from poshgrid.report.records import Record, manifests
from poshgrid.report.sections import costs, provenance
from poshgrid.report.shelf import Shelf
from tests.unit.report import report_results

RECORDS = [
    Record("read", "childes", "", {"wall_seconds": 90.0, "cpu_seconds": 30.0,
                                   "peak_memory_mb": 200.0, "device": "cpu"}),
    Record("train", "a", "", {"wall_seconds": 5400.0, "cpu_seconds": 1800.0,
                              "peak_memory_mb": 900.0, "device": "cuda"}),
    Record("train", "b", "", {"wall_seconds": 1800.0, "cpu_seconds": 600.0,
                              "peak_memory_mb": 700.0, "device": "cuda:0"}),
    Record("train", "null", "", {"wall_seconds": 710.0, "cpu_seconds": 10.0}),
    Record("items", "posh", "", {"pairs": 3}),  # no time: an older manifest
]  # fmt: skip


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A small results folder, and its spec."""
    folder = tmp_path_factory.mktemp("results")
    spec = report_results.build(
        folder, conditions=("baby", "baby-f"), sizes=("10K",), seeds=(1,), swept=False
    )
    return folder, spec


def trained(name="baby/10K/gpt2/packed/none/seed1", curve=(), wall=100.0, **statistics):
    return Trained(Run.parse(name), statistics, list(curve), {"wall_seconds": wall})


def with_(results, **fields):
    folder, spec = results
    return dataclasses.replace(gather(spec, folder), **fields)


def test_stages_are_summed_in_the_order_of_the_pipeline():
    rows = costs.by_stage(RECORDS).rows()
    assert rows == [
        ("read", 1, 90.0, 30.0, 0.0, 200.0),
        ("train", 3, 7910.0, 2410.0, 7200.0, 900.0),
    ]


def test_the_table_has_hours_shares_and_their_sum():
    table = costs._stages(costs.by_stage(RECORDS))
    assert table.shown() == [
        ["read", "1", "1 min 30 s", "30 s", "200", "0.00", "1.1"],
        ["train", "3", "2 h 11 min", "40 min 10 s", "900", "2.00", "98.9"],
        ["all", "4", "2 h 13 min", "40 min 40 s", "900", "2.00", "100.0"],
    ]
    assert table.classes == {2: "total"}


def test_the_summary_has_hours_of_each_kind():
    # 2440 s of CPU time, 7200 s on GPUs, 8000 s of wall time
    assert costs.summary(costs.by_stage(RECORDS)) == (
        "4 jobs took 0.68 CPU hours and 2.00 GPU hours in 2.22 hours of wall time, "
        "summed over jobs."
    )


def test_no_price_is_invented():
    assert "at your prices" in costs._FORMULA
    assert not any(c in costs._FORMULA for c in "$€£0123456789")


def test_a_stage_without_memory_is_not_of_zero_memory():
    stages = costs.by_stage([Record("fit", "m", "", {"wall_seconds": 1.0})])
    assert stages["peak_memory_mb"].to_list() == [None]
    assert costs._stages(stages).shown()[0][4] == "–"


def test_no_time_at_all_makes_no_section(results, tmp_path):
    collected = with_(results, records=[RECORDS[-1]])
    assert costs.blocks(report_results.page(collected, Shelf(tmp_path))) == ["Not run."]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("wall", "again"),
    [(50.0, True), (97.9, True), (98.1, False), (100.0, False), (130.0, False)],
)
def test_steps_that_took_longer_than_the_last_attempt_tell_of_an_earlier_one(wall, again):
    # 1,000 tokens at 10 a second: 100 s of steps; 98.02 * 1.01 + 1 = 100
    item = trained(tokens=1000, tokens_per_second=10.0, wall=wall)
    assert costs.step_seconds(item) == 100.0
    assert costs.resumed(item) is again


def test_untrained_models_have_no_speed():
    null = trained(tokens=0, tokens_per_second=0.0, steps=0)
    assert costs.step_seconds(null) is None
    assert not costs.resumed(null)


def test_speed_is_tokens_over_the_time_of_all_attempts(results):
    collected = with_(results, trained=[
        trained(tokens=1000, tokens_per_second=10.0, steps=50, wall=60.0, device="cpu"),
        trained("baby/10K/gpt2/packed/none/seed2", tokens=3000, tokens_per_second=60.0,
                steps=100, wall=70.0, device="cpu"),
        trained("baby/10K/gpt2/packed/recency/seed1", tokens=500, tokens_per_second=5.0,
                steps=20, wall=120.0, device="cpu"),
        trained("baby/10K/gpt2/untrained/none/seed1", tokens=0, tokens_per_second=0.0),
    ])  # fmt: skip
    table = costs.training(collected)
    assert [c.title for c in table.columns] == [
        "Learner", "Regimen", "Bias", "Device", "Runs", "Steps", "Tokens seen", "Time of steps",
        "Steps/s", "Tokens/s", "Wall time", "Resumed",
    ]  # fmt: skip
    # 100 s + 50 s of steps: 150 steps, 4,000 tokens
    assert table.shown() == [
        ["gpt2", "packed", "none", "cpu", "2", "150", "4,000", "2 min 30 s", "1.00", "27",
         "2 min 10 s", "1"],
        ["gpt2", "packed", "recency", "cpu", "1", "20", "500", "1 min 40 s", "0.20", "5",
         "2 min 00 s", "0"],
    ]  # fmt: skip
    assert "is not known" in table.caption


def test_a_resumed_training_is_said_to_be_missing_from_wall_time(results):
    collected = with_(results, trained=[
        trained(tokens=1000, tokens_per_second=10.0, steps=50, wall=60.0),
        trained("baby/10K/gpt2/packed/none/seed2", tokens=10, tokens_per_second=1.0, wall=70.0),
    ])  # fmt: skip
    told = costs.notes(collected)[1]
    assert told.startswith("Resumed after an interruption: 1 of 2 trainings.")
    assert "steps took 1 min 40 s, their last attempts 1 min 00 s" in told
    assert "so at least 40 s of wall time" in told
    never = with_(results, trained=[trained(tokens=10, tokens_per_second=1.0)])
    assert costs.notes(never)[1].startswith("No sign that any of 1 training ")
    assert len(costs.notes(with_(results, trained=[]))) == 1


def test_utilisation_is_weighted_by_time_and_memory_is_the_most(results):
    line = {"tokens_per_second": None, "utilisation": None, "gpu_memory_mb": None}
    curve = [
        {**line, "tokens": 0},
        {"tokens": 1000, "tokens_per_second": 10.0, "utilisation": 0.4, "gpu_memory_mb": 800.0},
        {"tokens": 10_000, "tokens_per_second": 30.0, "utilisation": 0.6, "gpu_memory_mb": 700.0},
    ]
    item = trained(curve=curve, tokens=10_000, tokens_per_second=25.0, steps=10, device="cuda")
    # 100 s at .4 and 300 s at .6
    used, memory = costs._on_device([item])
    assert used == pytest.approx(0.55)
    assert memory == 800.0
    table = costs.training(with_(results, trained=[item]))
    row = dict(zip([c.title for c in table.columns], table.shown()[0], strict=True))
    assert (row["Utilisation (%)"], row["GPU memory (MB)"], row["Device"]) == (
        "55.0", "800", "cuda"
    )  # fmt: skip
    assert "weighted by time" in table.caption


def test_the_bars_are_as_long_as_the_stages():
    stages = costs.by_stage(RECORDS)
    with style.drawing("test"):
        axes = costs.draw(stages).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["read", "train"]
    on_cpu, on_gpu = ([bar.get_width() for bar in bars] for bars in axes.containers)
    # Hours, since the longest stage took more than two
    assert axes.get_xlabel() == "Wall time (hours)"
    assert on_cpu == pytest.approx([90 / 3600, 710 / 3600])
    assert on_gpu == pytest.approx([0, 2.0])
    assert {text.get_text() for text in axes.texts} == {"1 min 30 s", "2 h 11 min"}
    with style.drawing("test"):
        axes = costs.draw(stages.filter(pl.col("stage") == "read"), narrow=True).axes[0]
    assert axes.get_xlabel() == "Wall time (seconds)"
    assert len(axes.containers) == 1


def test_the_section_rests_on_what_was_run(results, tmp_path):
    collected = with_(results)
    found = costs.blocks(report_results.page(collected, Shelf(tmp_path)))
    stages = report_results.tables(found)["costs"]
    by = {row[0]: row for row in stages.rows}
    # Two models of 4,321 s and two nulls of 12 s: report_results.build
    assert by["train"][1:4] == [4, 8666.0, 8666.0]
    assert by["all"][2] == pytest.approx(sum(r.content["wall_seconds"] for r in collected.records))
    saved = pl.read_csv(tmp_path / "tables/costs.csv")
    assert saved["Wall time"].to_list() == pytest.approx([row[2] for row in stages.rows])
    assert (tmp_path / "figures/wall-time.pdf").is_file()


# ---- the manifests -------------------------------------------------------------------------------


def test_manifests_come_in_the_order_of_the_pipeline(tmp_path):
    spec = report_results.build(
        tmp_path, conditions=("baby", "baby-f"), sizes=("10K",), seeds=(1,),
        biases=("none", "tree-planting"),
    )  # fmt: skip
    paths = Paths(str(tmp_path))
    report_results.manifest(tmp_path / "audit/baby-f/10K", {"detector": True}, 1.0)
    report_results.manifest(tmp_path / "detector", {}, 1.0)
    report_results.manifest(tmp_path / "benchmark/ngrams/baby/10K", {}, 1.0)
    for condition in ("baby", "baby-f"):
        report_results.manifest(tmp_path / f"distances/{condition}/10K/spacy", {}, 1.0)
    for folder in ("curves", "deltas"):
        report_results.manifest(tmp_path / "statistics/all" / folder, {}, 1.0)
    report_results.manifest(tmp_path / "quality/all/posh", {}, 1.0)
    run = "baby/10K/gpt2-mini/packed/none/seed1"
    report_results.manifest(
        tmp_path / "perplexity/baby/10K/gpt2-mini/packed/none", {}, 1.0, "seed1.manifest.json"
    )
    planted = tmp_path / "models/baby-f/10K/gpt2-mini/packed/tree-planting/seed1/manifest.json"
    inputs = {"elsewhere/distances/baby-f/10K/spacy/words.bin": "0"}
    files.write_json(planted, files.read_json(planted) | {"inputs": inputs})
    found = list(manifests(spec, paths, spec.runs))
    stages = list(dict.fromkeys(record.stage for record in found))
    assert stages == [
        "read", "mix", "train-parser", "parse", "evidence", "ngrams", "detector", "condition",
        "collateral", "audit", "tokenizer", "sweep", "tokens", "distances", "train", "items",
        "score", "perplexity", "accuracy", "curves", "deltas", "quality", "fit",
    ]  # fmt: skip
    names = {(record.stage, record.name): record.place for record in found}
    # Only the trees that a run was trained with: those of the other condition are another target's
    assert [name for stage, name in names if stage == "distances"] == ["baby-f/10K/spacy"]
    assert names["perplexity", run].endswith("/packed/none/seed1.manifest.json")


def test_a_detector_that_drew_no_sheet_is_not_of_the_page(tmp_path):
    spec = report_results.build(tmp_path, conditions=("baby-f",), sizes=("10K",), seeds=(1,))
    report_results.manifest(tmp_path / "detector", {}, 1.0)
    report_results.manifest(tmp_path / "audit/baby-f/10K", {"detector": False}, 1.0)
    found = manifests(spec, Paths(str(tmp_path)), spec.runs)
    stages = {record.stage for record in found}
    assert "audit" in stages and "detector" not in stages


def test_a_source_of_two_bases_is_counted_once(tmp_path):
    spec = report_results.build(tmp_path, sizes=("10K",), seeds=(1,))
    path = tmp_path / "corpora/wiki/manifest.json"
    shared = {"base": {"sources": [{"source": "wikipedia"}, {"source": "childes"}]}}
    files.write_json(path, files.read_json(path) | {"spec": shared})
    found = list(manifests(spec, Paths(str(tmp_path)), spec.runs))
    read = [record.name for record in found if record.stage == "read"]
    assert sorted(read) == ["childes", "gutenberg", "switchboard", "wikipedia"]
    assert len({record.place for record in found}) == len(found)


def test_mixed_versions_are_marked(results, tmp_path):
    def page(*records):
        shelf = Shelf(tmp_path)
        return report_results.page(with_(results, records=list(records)), shelf)

    read = [Record("read", name, "", {"packages": {"torch": version, "polars": "2.1"}})
            for name, version in (("a", "2.12"), ("b<i>", "2.13"))]  # fmt: skip
    text = report_results.rendered(provenance.blocks(page(*read)))
    assert "b&lt;i&gt;" in text and "<i>" not in text
    assert re.findall(r'<tr class="flag"><th[^>]*>(\w+)<', text) == ["torch"]
    assert "No manifests yet." in provenance.blocks(page())
