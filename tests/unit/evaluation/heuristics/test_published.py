"""Heuristics on the published items, and which of them the published judgements follow."""

from pathlib import Path

import polars as pl
import pytest

from poshgrid.benchmark.schema import PAIRS
from poshgrid.config import Scoring, specs
from poshgrid.config.paths import Paths
from poshgrid.core import files
from poshgrid.evaluation import published
from poshgrid.evaluation.heuristics import table
from poshgrid.evaluation.heuristics.mixture import GUESSING
from poshgrid.evaluation.heuristics.schema import HEURISTICS, MIXTURE, NONE, UNCLEAR, VERDICTS
from poshgrid.evaluation.schema import SCORES
from poshgrid.statistics import shares


@pytest.fixture(scope="module")
def results(shared, tmp_path_factory):
    """A results folder with the published judgements of one seed."""
    folder = shared / "published/posh/judgements-seed42"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there")
    judged, paths = published.read(folder), Paths(str(tmp_path_factory.mktemp("published")))
    items, heuristics = ({"posh": Path(of("posh"))} for of in (paths.items, paths.heuristics))
    files.write_table(judged.items["posh"], items["posh"], PAIRS)
    runs = [run for run in judged.runs if "/100M/" in run]
    for run in runs:
        files.write_table(judged.runs[run]["posh"], paths.scores(run, "posh"), SCORES)
    table.write(items, heuristics["posh"].parent)
    shares.write(
        specs.HeuristicSharesSpec(scoring=Scoring(), runs=runs),
        Path(paths.all_scores()), Path(paths.all_models()), items, heuristics,
        Path(paths.heuristic_shares("all")),
    )  # fmt: skip
    return paths


def read(paths, name, schema):
    """Return a table of the models of the largest child-directed corpus."""
    path = Path(paths.heuristic_shares("all")) / f"{name}.parquet"
    return files.read_table(path, schema).filter(condition="baby", size="100M")


def test_hierarchical_rules_prefer_every_good_member(results):
    """They have a say on all pairs but some of islands, and on those that contrast antecedents."""
    said = files.read_table(results.heuristics("posh"), HEURISTICS).with_columns(
        phenomenon=pl.col("item_id").str.replace(r"-\d+$", "")
    )
    hierarchical = ["main-auxiliary", "command", "island", "contraction"]
    rows = said.filter(pl.col("heuristic").is_in(hierarchical)).drop_nulls("prefers")
    assert rows.filter(pl.col("prefers") != 1).is_empty()
    say = dict(rows.group_by("phenomenon").len().iter_rows())
    assert say == {
        "question-formation-or": 500, "question-formation-rr": 500, "question-formation-sr": 500,
        "wanna": 500, "island-wh": 500, "island-complex-np": 500, "island-adjunct": 489,
        "principle-a-command": 500, "principle-a-locality": 227,
    }  # fmt: skip


def test_weights_tell_a_learner_of_structure_from_one_of_words(results):
    """Of one seed. In adjuncts the early gap is the good one: few sets tell the two apart."""
    rows = read(results, "mixture", MIXTURE)
    largest = (
        rows.filter(pl.col("heuristic") != GUESSING)
        .sort("weight")
        .unique("phenomenon", keep="last", maintain_order=True)
    )
    best = dict(largest.select("phenomenon", "heuristic").iter_rows())
    assert best["principle-a-command"] == "nearest-noun"
    assert best["question-formation-or"] == "front-do"
    assert best["island-complex-np"] == "island"
    assert best["wanna"] == "contraction"
    assert best["island-adjunct"] == "first-gap = island"
    verdicts = read(results, "verdicts", VERDICTS)
    said = dict(verdicts.select("phenomenon", "verdict").iter_rows())
    # It fronts "do" where there is one: in most pairs there is none
    assert said["question-formation-or"] == NONE
    assert set(said.values()) == {NONE, UNCLEAR}  # one seed names no heuristic
