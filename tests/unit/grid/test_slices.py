"""The slices of jobs: what each holds, and what is no affair of it; for config/tiny.yaml."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from poshgrid.config import Config
from poshgrid.config.runs import Run
from poshgrid.errors import PoshgridError
from poshgrid.grid import configfile
from poshgrid.grid.grid import Grid
from tests.unit.grid.full_slices import FullSlices as Slices

PLANTED = Run("baby-f", "20K", "gpt2-tiny", "sentence", "tree-planting", 42)
NULL = Run("baby-f", "20K", "gpt2-tiny", "untrained", "none", 42)
TASKS = {
    "posh": "pairs", "filler-gap": "paradigms", "choices": "choices", "completions": "completions"
}  # fmt: skip

Make = Callable[..., Slices]


@pytest.fixture(scope="module")
def written(root: Path) -> dict[str, Any]:
    return yaml.safe_load((root / "config/tiny.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def slices(written: dict[str, Any]) -> Make:
    """Makes the slices of config/tiny.yaml; ``evidence={...}`` changes some of a section's keys."""

    def make(**sections: Any) -> Slices:
        changed = copy.deepcopy(written)
        for name, content in sections.items():
            changed[name] = (
                changed.get(name, {}) | content if isinstance(content, dict) else content
            )
        return Slices(configfile.validate(changed))

    return make


@pytest.fixture(scope="module")
def tiny(slices: Make) -> Slices:
    return slices()


def test_what_is_read_and_mixed(tiny: Slices, slices: Make, written: dict[str, Any]) -> None:
    source = json.loads(tiny.source("toy-baby"))["source"]
    assert (source["name"], source["reader"], source["options"]["seed"]) == ("toy-baby", "toy", 1)
    base = json.loads(tiny.base("baby"))
    assert base["sizes"] == ["20K", "60K"]
    assert base["base"]["downsample"] == 1.0
    assert base["base"]["reading"] is None
    assert base["base"]["sources"] == [
        {"source": "toy-baby", "words": {"20K": 20_000, "60K": 60_000}}
    ]
    bases = copy.deepcopy(written["bases"])
    bases[0] |= {"reading": "paper", "downsample": 0.5}
    assert slices(bases=bases).base("baby") == tiny.base("baby")


def test_parsers_and_their_trees(slices: Make, tiny: Slices, written: dict[str, Any]) -> None:
    assert json.loads(tiny.treebank("spacy"))["treebank"]["sentences"] == 1_500
    assert json.loads(tiny.parser("spacy"))["parser"]["engine"] == "spacy"
    parse = json.loads(tiny.parse("baby", "stanza", 1))
    assert (parse["shard"], parse["shards"]) == (1, 2)
    assert parse["screens"] == ["binding", "question-formation"]
    assert parse["parser"]["name"] == "stanza"
    # a bias is trained with the trees of spacy: every sentence of the base is parsed
    assert json.loads(tiny.parse("baby", "spacy", 0))["screens"] == []
    assert json.loads(tiny.evidence("baby")) == {"filters": ["binding", "question-formation"]}
    recall = json.loads(tiny.recall("spacy"))
    assert (recall["gold"], recall["parser"]["name"]) == (["toy"], "spacy")
    assert recall["filters"] == ["binding", "question-formation"]
    bought = {"name": "bought", "engine": "spacy", "model": "somewhere"}
    given = slices(parsers=[*written["parsers"], bought])
    with pytest.raises(PoshgridError, match="parsers: bought: has no treebank"):
        given.treebank("bought")


def test_labels_stop_a_condition_only_where_there_are_some(slices: Make) -> None:
    for backstop in (True, False):
        found = slices(evidence={"backstop": backstop})
        assert json.loads(found.condition("baby-f", "20K"))["backstop"] is backstop
        assert json.loads(found.condition("wiki", "20K"))["backstop"] is True


def test_a_condition_at_the_sizes_where_nothing_is_removed(
    slices: Make, written: dict[str, Any]
) -> None:
    conditions = copy.deepcopy(written["conditions"])
    conditions[0] |= {"unfiltered_sizes": ["60K"], "filtered": True}
    found = slices(conditions=conditions, audit={"conditions": []})
    sizes = {size: json.loads(found.condition("baby-f", size)) for size in ("20K", "60K")}
    assert {s: of["condition"]["unfiltered_sizes"] for s, of in sizes.items()} == {
        "20K": [], "60K": ["60K"],
    }  # fmt: skip
    assert {s: of["condition"]["filtered"] for s, of in sizes.items()} == {"20K": None, "60K": None}
    assert sizes["20K"]["condition"]["allow"] == []
    assert found.collateral("baby-f", "20K") == found.condition("baby-f", "20K")


def test_a_condition_is_not_held_to_one_with_a_tokenizer_of_its_own(
    slices: Make, tiny: Slices, written: dict[str, Any]
) -> None:
    def others(found: Slices, name: str) -> list[str]:
        return [o["condition"]["name"] for o in json.loads(found.beside(name, "20K"))["others"]]

    assert (others(tiny, "baby"), others(tiny, "baby-f")) == (["baby-f"], ["baby"])
    conditions = copy.deepcopy(written["conditions"])
    conditions[1]["tokenizer"] = {"vocabulary_size": 500}
    found = slices(conditions=conditions)
    assert others(found, "baby") == others(found, "baby-f") == []


def test_detector_and_audit(slices: Make, tiny: Slices) -> None:
    detector = json.loads(tiny.detector())
    assert [each["name"] for each in detector["filters"]] == ["binding", "question-formation"]
    assert detector["treebank"]["sentences"] == 1_500
    audit = json.loads(tiny.audit("baby-f", "60K"))
    assert (audit["condition"], audit["size"], audit["sample"]) == ("baby-f", "60K", 50)
    assert audit["detector"] is True
    assert [each["name"] for each in audit["filters"]] == ["question-formation", "binding"]
    without = slices(evidence={"detector": None})
    assert json.loads(without.audit("baby-f", "60K"))["detector"] is False
    with pytest.raises(PoshgridError, match="evidence: detector: no treebank"):
        without.detector()


def test_a_run_that_is_trained_and_one_that_is_not(tiny: Slices) -> None:
    spec = json.loads(tiny.train(PLANTED))
    assert (spec["bias"], spec["seed"]) == ("tree-planting", 42)
    assert spec["options"] == {"tree-planting": {"parser": "spacy"}}
    assert (spec["learner"]["name"], spec["regimen"]["name"]) == ("gpt2-tiny", "sentence")
    null = json.loads(tiny.train(NULL))
    assert (null["regimen"], null["bias"], null["options"]) == (None, "none", {})


def test_nulls_that_count(tiny: Slices, slices: Make) -> None:
    assert json.loads(tiny.count("unigram")) == {"order": 1, "size": None}
    assert json.loads(tiny.count("ngram", "20K")) == {"order": 5, "size": "20K"}
    three = slices(ngram={"order": 3})
    assert json.loads(three.count("ngram")) == {"order": 3, "size": None}
    assert three.count("unigram") == tiny.count("unigram")


SCORING = {
    "reduction": "sum", "masked": ["holistic", "pseudo-log-likelihood"], "bos": False,
    "per_token": True,
}  # fmt: skip


def test_what_of_the_scoring_is_whose_affair(
    slices: Make, tiny: Slices, written: dict[str, Any]
) -> None:
    plain = slices(suites=written["suites"][:1])
    other = slices(suites=written["suites"][:1], scoring=SCORING)
    score = json.loads(other.score(PLANTED))["scoring"]
    assert {key: score[key] for key in SCORING} == {
        "reduction": "mean", "masked": "holistic", "bos": False, "per_token": True,
    }  # fmt: skip
    assert json.loads(tiny.score(PLANTED))["tasks"] == TASKS
    assert json.loads(tiny.score(PLANTED))["revision"] is None
    # how unfiltered text is read
    assert other.perplexity(PLANTED) == plain.perplexity(PLANTED)
    perplexity = json.loads(plain.perplexity(PLANTED))
    assert perplexity["tested"] == "baby"
    assert perplexity["scoring"]["bos"] is True
    assert perplexity["scoring"]["per_token"] is False
    assert perplexity["scoring"]["decoding_seed"] is None
    # a judgement depends on how two scores are compared, and on nothing else of them
    compared = slices(suites=written["suites"][:1], scoring={"reduction": "sum"})
    for name in ("judgement", "rule_shares", "deltas"):
        ours, its, of_sum = (getattr(each, name)("exp2") for each in (plain, other, compared))
        assert json.loads(of_sum)["scoring"] == json.loads(its)["scoring"]
        assert json.loads(ours)["scoring"] != json.loads(its)["scoring"]


def test_pretrained_models_are_scored_as_they_say(slices: Make) -> None:
    given = [
        {"name": "mine", "model": "owner/mine", "revision": "1f2e", "masked": "holistic"},
        {"name": "other", "model": "owner/other"},
    ]
    found = slices(pretrained=given)
    mine, other = (
        json.loads(found.score(Run("pretrained", "given", name, "pretrained", "none", 0)))
        for name in ("mine", "other")
    )
    assert (mine["revision"], mine["scoring"]["masked"]) == ("1f2e", "holistic")
    assert (other["revision"], other["scoring"]["masked"]) == (None, "pseudo-log-likelihood")


def test_quality_and_measures(tiny: Slices, slices: Make) -> None:
    quality = json.loads(tiny.quality("exp2", "posh"))
    assert (quality["suite"], quality["generated"], quality["tolerance"]) == ("posh", True, 0.05)
    assert quality["bases"] == {"baby": "baby", "baby-f": "baby", "wiki": "wiki"}
    assert quality["top_k"] == 3_000
    measures = json.loads(tiny.measures("exp1", "choices"))
    assert (measures["suite"], measures["task"]) == ("choices", "choices")
    assert measures["runs"] == [run.name for run in tiny.grid.runs("exp1")]
    items = json.loads(slices(lexicon={"top_k": 99}).items("posh"))
    assert (items["suite"]["name"], items["top_k"]) == ("posh", 99)


def test_a_target_is_judged_with_the_facts_of_its_cells(tiny: Slices, slices: Make) -> None:
    spec = json.loads(slices(quality={"tolerance": 0.1}).judgement("exp2"))
    assert spec["tolerance"] == 0.1
    assert spec["runs"] == [run.name for run in tiny.grid.runs("exp2")]
    assert spec["cells"]["baby-f/20K"] == {"filtered": True, "source": "baby", "words": 20_000}
    assert spec["cells"]["baby/20K"]["filtered"] is False
    assert set(spec["cells"]) == {
        f"{c}/{s}" for c in ("baby", "baby-f", "wiki") for s in ("20K", "60K")
    }
    assert json.loads(tiny.rule_shares("exp2"))["runs"] == spec["runs"]


def test_counts_are_by_set_where_a_model_that_is_fitted_asks(
    slices: Make, written: dict[str, Any]
) -> None:
    models = copy.deepcopy(written["models"])
    models[2]["formula"] += " + (1|set)"  # of exp3's runs
    found = slices(models=models)
    sets = {t: json.loads(found.judgement(t))["sets"] for t in ("all", "exp1", "exp3")}
    assert sets == {"all": ["posh"], "exp1": [], "exp3": ["posh"]}


def test_a_filtered_condition_is_set_against_another(tiny: Slices, slices: Make) -> None:
    spec = json.loads(tiny.deltas("exp2"))
    assert spec["full"] == {"baby-f": "baby"}
    assert spec["targets"].keys() == {"baby-f"}
    assert "principle-a-command" in spec["targets"]["baby-f"]
    runs = [run.name for run in tiny.grid.targets["exp2"] if run.condition != "wiki"]
    assert sorted(spec["runs"]) == sorted(spec["perplexity"]) == sorted(runs)
    assert json.loads(slices(filtering={"perplexity": False}).deltas("exp2"))["perplexity"] == []


def test_a_page_is_about_what_its_target_has(tiny: Slices, slices: Make) -> None:
    page = json.loads(tiny.report("exp2"))
    assert (page["target"], page["study"]) == ("exp2", None)
    assert page["runs"] == [run.name for run in tiny.grid.runs("exp2")]
    assert (page["bases"], page["sizes"]) == (["baby", "wiki"], ["20K", "60K"])
    assert page["conditions"] == ["baby", "baby-f", "wiki"]
    assert (page["parsers"], page["evidence_parser"]) == (["stanza", "spacy"], "stanza")
    assert (page["models"], page["gold"]) == (["binding", "condition", "paper"], ["toy"])
    assert (page["suites"], page["full"]) == (["posh"], {"baby-f": "baby"})
    assert page["measured"] == {name: task for name, task in TASKS.items() if task != "pairs"}
    assert set(page["cells"]) == {f"{c}/{s}" for c in page["conditions"] for s in ("20K", "60K")}
    with_study = json.loads(slices(study={"name": "fict"}).report("exp2"))
    assert with_study["study"]["name"] == "fict"


def test_a_page_without_filters_has_no_parser_and_no_gold(
    slices: Make, written: dict[str, Any]
) -> None:
    experiments = copy.deepcopy(written["experiments"])
    experiments[1]["conditions"] = ["wiki"]
    page = json.loads(slices(experiments=experiments, models=[]).report("exp2"))
    assert (page["parsers"], page["evidence_parser"], page["gold"]) == ([], None, [])


def test_a_page_of_pretrained_models_has_no_size() -> None:
    suite = {"name": "zorro", "reader": "lines", "path": "zorro"}
    config = Config.model_validate({"pretrained": ["gpt2"], "models": [], "suites": [suite]})
    page = json.loads(Slices(Grid(config)).report("all"))
    facts = {"filtered": False, "source": "pretrained", "words": 0}
    assert page["cells"] == {"pretrained/given": facts}
    assert (page["sizes"], page["conditions"], page["bases"]) == ([], ["pretrained"], [])
