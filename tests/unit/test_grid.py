"""Experiments to runs to paths."""

from __future__ import annotations

import json

import pytest

from poshgrid import configfile
from poshgrid.errors import PoshgridError
from poshgrid.grid import Grid, Run


@pytest.fixture(scope="module")
def paper(root):
    return configfile.load(root / "config/config.yaml")


def test_the_papers_runs_are_counted_by_hand(paper):
    targets = Grid(paper).targets
    # exp1: 3 sizes x 3 seeds; exp2: (3 + 4 + 4) cells x 3 seeds; exp3: 5 biases x 3 seeds
    assert {name: len(runs) for name, runs in targets.items()} == {
        "all": 33 + 15,  # exp1 is inside exp2
        "exp1": 9,
        "exp2": 33,
        "exp3": 15,
        "full": 11 * 5 * 3,
    }


def test_the_learner_depends_on_the_size(paper):
    learners = {(run.size, run.learner) for run in Grid(paper).targets["exp2"]}
    assert learners == {
        ("10M", "gpt2-mini"),
        ("30M", "gpt2-small"),
        ("50M", "gpt2-small"),
        ("100M", "gpt2-small"),
    }


def test_exclusions(paper):
    assert not any(
        r.condition == "baby-f" and r.size == "100M" for r in Grid(paper).targets["full"]
    )


def test_only_selects_alternatives_within_and_conjunction_across_axes(paper):
    grid = Grid(paper.model_copy(update={"only": "size=10M,seed=42,seed=53,condition=wiki"}))
    assert grid.targets["exp2"] == [
        Run("wiki", "10M", "gpt2-mini", "packed", "none", 42),
        Run("wiki", "10M", "gpt2-mini", "packed", "none", 53),
    ]
    assert "exp1" not in grid.targets


def test_only_changes_no_spec_of_a_run_that_stays(paper):
    """A cell that is run by name must be the cell that the whole grid would make."""
    whole = Grid(paper)
    part = Grid(paper.model_copy(update={"only": "size=10M"}))
    assert whole.base_spec("baby") == part.base_spec("baby")
    assert whole.shards("baby") == part.shards("baby")
    run = part.targets["exp2"][0]
    assert whole.train_spec(run) == part.train_spec(run)


def test_names_round_trip(paper):
    grid = Grid(paper)
    for run in grid.runs("all") + grid.runs("full"):
        assert grid.run(run.name) == run


def test_run_names_are_unique_and_shared_runs_are_one(paper):
    grid = Grid(paper)
    names = [run.name for run in grid.runs("all")]
    assert len(names) == len(set(names))
    assert set(grid.targets["exp1"]) < set(grid.targets["exp2"])


def test_every_trained_run_has_its_null(paper):
    grid = Grid(paper)
    nulls = {(n.condition, n.size, n.learner, n.seed) for n in grid.nulls(grid.targets["all"])}
    assert nulls == {(r.condition, r.size, r.learner, r.seed) for r in grid.targets["all"]}


def test_a_run_reads_the_options_of_its_own_bias_only(paper):
    grid = Grid(paper)
    options = {
        run.bias: json.loads(grid.train_spec(run))["options"].keys() for run in grid.targets["exp3"]
    }
    assert {bias: sorted(keys) for bias, keys in options.items()} == {
        "none": [],
        "dyck": ["dyck"],
        "tree-planting": ["tree-planting"],
        "recency": ["recency"],
        "dyck+recency": ["dyck", "recency"],
    }


def test_arms_of_exp3_differ_in_the_bias_alone(paper):
    grid = Grid(paper)
    specs = [json.loads(grid.train_spec(run)) for run in grid.targets["exp3"] if run.seed == 42]
    for spec in specs:
        del spec["bias"], spec["options"]
    assert all(spec == specs[0] for spec in specs)


def test_filtered_is_the_papers_factor(paper):
    facts = Grid(paper).cell_facts("exp2")
    assert {cell for cell, fact in facts.items() if fact.filtered} == {
        "baby-f/10M",
        "baby-f/30M",
        "baby-f/50M",
    }
    assert facts["wiki/30M"].source == "wiki"
    assert facts["baby/100M"].words == 100_000_000


def test_undefined_parser_is_an_error(paper):
    broken = paper.model_copy(update={"parsers": []})
    with pytest.raises(PoshgridError, match="unknown parser 'stanza'"):
        Grid(broken).evidence_parsers()
