"""Manifests of a target in the pipeline's order, and versions that are mixed."""

from __future__ import annotations

from poshgrid import files
from poshgrid.config.paths import Paths
from poshgrid.report.records import manifests
from tests.unit.report import report_results


def test_manifests_come_in_the_order_of_the_pipeline(tmp_path):
    spec = report_results.build(
        tmp_path, conditions=("baby", "baby-f"), sizes=("10K",), seeds=(1,),
        biases=("none", "tree-planting"),
    )  # fmt: skip
    paths = Paths(str(tmp_path))
    report_results.manifest(tmp_path / "audit/baby-f/10K", {}, 1.0)
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
        "read", "mix", "train-parser", "parse", "evidence", "ngrams", "condition",
        "collateral", "audit", "tokenizer", "sweep", "tokens", "distances", "train", "items",
        "score", "perplexity", "accuracy", "curves", "deltas", "quality", "fit",
    ]  # fmt: skip
    names = {(record.stage, record.name): record.place for record in found}
    # Only the trees that a run was trained with: those of the other condition are another target's
    assert [name for stage, name in names if stage == "distances"] == ["baby-f/10K/spacy"]
    assert names["perplexity", run].endswith("/packed/none/seed1.manifest.json")


def test_a_source_of_two_bases_is_counted_once(tmp_path):
    spec = report_results.build(tmp_path, sizes=("10K",), seeds=(1,))
    path = tmp_path / "corpora/wiki/manifest.json"
    shared = {"base": {"sources": [{"source": "wikipedia"}, {"source": "childes"}]}}
    files.write_json(path, files.read_json(path) | {"spec": shared})
    found = list(manifests(spec, Paths(str(tmp_path)), spec.runs))
    read = [record.name for record in found if record.stage == "read"]
    assert sorted(read) == ["childes", "gutenberg", "switchboard", "wikipedia"]
    assert len({record.place for record in found}) == len(found)
