"""Which conditions are set against which to show what filtering changes."""

from __future__ import annotations

import pytest

from poshgrid.grid import configfile, filtering
from poshgrid.grid.grid import Grid
from tests.shipped import ROOT, toy


@pytest.fixture(scope="module")
def paper(paper):
    return Grid(paper)


def test_a_filtered_condition_is_set_against_its_control_or_its_evidence_put_back(paper):
    """Another condition's control, or its evidence put back, says nothing of this one."""
    expected = {
        "exp1": {},
        "exp2": {"baby-f": "baby"},
        "control": {"baby-f": "baby-control", "baby-direct": "baby-whole"},
        "dose": {"baby-direct": "baby-direct+natural"},
    }
    assert {target: filtering.full(paper, target) for target in expected} == expected
    assert filtering.pairs(paper, "exp1") == []
    assert filtering.with_perplexity(paper, "exp2") == []  # perplexity is not asked for


def test_pairs_differ_in_the_condition_alone(paper):
    pairs = filtering.pairs(paper, "exp2")
    assert len(pairs) == 9  # three sizes, three seeds; baby-f has no 100M
    for filtered, full in pairs:
        assert (filtered.condition, full.condition) == ("baby-f", "baby")
        assert filtered.name.split("/")[1:] == full.name.split("/")[1:]


def test_of_several_full_conditions_the_bare_one_is_taken(paper):
    config = paper.config
    bare = config.conditions[0].model_copy(update={"name": "baby-bare", "filters": []})
    experiments = [
        e.model_copy(update={"conditions": [*e.conditions, "baby-bare"]}) if e.name == "exp2" else e
        for e in config.experiments
    ]
    update = {"conditions": [*config.conditions, bare], "experiments": experiments}
    grid = Grid(config.model_copy(update=update))
    assert filtering.full(grid, "exp2") == {"baby-f": "baby-bare"}


def test_ficts_conditions_are_set_against_the_one_that_lost_nothing():
    grid = Grid(configfile.load(ROOT / "studies/fict/config.yaml"))
    full = filtering.full(grid, "fict")
    assert len(full) == 15
    assert set(full.values()) == {"wiki~none"}
    assert len(filtering.pairs(grid, "fict")) == 15 * 2 * 5
    assert len(filtering.runs(grid, "fict")) == 160
    kept = {grid.conditions[name].downsample for name, _ in grid.cells("fict")}
    assert [sentences / grid.recipes["fict"].batch_size for sentences in kept] == [75_000]
    aims = filtering.aims(grid.conditions["wiki~binding-case"])
    assert aims == {"binding-case": ["principle_A_case_1", "principle_A_case_2"]}


def test_masked_learners_have_no_perplexity():
    data = toy()
    data["experiments"][1]["models"].append("babyberta-tiny")
    data["experiments"][1]["recipe"] = "sentence"
    mixed = configfile.validate(data)
    assert {run.model for run in filtering.runs(mixed, "exp2")} == {"gpt2-tiny", "babyberta-tiny"}
    assert {run.model for run in filtering.with_perplexity(mixed, "exp2")} == {"gpt2-tiny"}
