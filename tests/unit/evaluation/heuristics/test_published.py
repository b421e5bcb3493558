"""Heuristics on the published items, and how often the published judgements agree with them."""

from pathlib import Path

import polars as pl
import pytest

from poshgrid.benchmark.schema import PAIRS
from poshgrid.config import Scoring, specs
from poshgrid.config.paths import Paths
from poshgrid.core import files
from poshgrid.evaluation import published
from poshgrid.evaluation.heuristics import table
from poshgrid.evaluation.heuristics.schema import HEURISTICS
from poshgrid.evaluation.schema import SCORES
from poshgrid.statistics import accuracy
from poshgrid.statistics.schema import ACCURACY, HEURISTIC_AGREEMENT, RUN_AXES


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
    accuracy.accuracy(
        specs.JudgementSpec(scoring=Scoring(), runs=runs, cells=judged.cells),
        Path(paths.all_scores()), items, None, Path(paths.statistics("all")), heuristics,
        sums=False,
    )  # fmt: skip
    return paths


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


def test_agreement_where_heuristics_are_right_and_where_they_are_wrong(results):
    """Of one seed: with a rule that is right on all pairs, agreement is accuracy."""
    folder = Path(results.statistics("all"))
    agreed = files.read_table(folder / "heuristic_agreement.parquet", HEURISTIC_AGREEMENT)
    of_runs = files.read_table(folder / "accuracy.parquet", ACCURACY).filter(level="phenomenon")
    both = agreed.join(of_runs, on=[*RUN_AXES, "category", "phenomenon"])
    always = both.filter(pl.col("pairs") == pl.col("n_pairs"), right=1)
    assert always["phenomenon"].n_unique() == 7
    assert always["agreement"].to_list() == pytest.approx(always["mean"].to_list())
    assert always["where_wrong"].null_count() == always.height
    largest = agreed.filter(condition="baby", size="100M")
    key = "phenomenon", "heuristic"
    share = {row[:2]: row[2] for row in largest.select(*key, "where_wrong").iter_rows()}
    assert share["principle-a-command", "nearest-noun"] > 0.5
    assert share["question-formation-or", "front-do"] > 0.5
    assert share["island-complex-np", "first-gap"] < 0.5
