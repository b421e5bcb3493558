"""``poshgrid.open``: a results folder as frames, which agree with what the stages computed."""

import re
from pathlib import Path

import polars as pl
import pytest

import poshgrid
from poshgrid.config.runs import AXES
from poshgrid.core import files
from poshgrid.core.errors import PoshgridError
from poshgrid.report.collect import Collected
from poshgrid.report.parts import Page
from poshgrid.report.results import JUDGEMENTS, MODELS, RUNS, TARGETS
from poshgrid.statistics import schema
from poshgrid.statistics.schema import ACCURACY, SUMMARY
from tests.unit.report import report_results
from tests.unit.report.export.small_results import BASELINE, NAMES


def test_runs_have_the_axes_and_what_training_came_to(opened):
    runs = opened.table("runs")
    assert isinstance(runs, pl.LazyFrame)
    collected = runs.collect()
    assert collected.schema == pl.Schema(RUNS)
    assert collected.columns[: len(AXES)] == list(AXES)
    assert set(collected["run"]) == {*NAMES, BASELINE}
    training = opened.table("training").collect()
    same = collected.filter(pl.col("run").is_in(NAMES)).select(training.columns).sort("seed")
    assert same.equals(training.sort("seed"))
    assert collected.filter(run=BASELINE)["steps"].to_list() == [None]


def test_judgements_are_those_that_the_accuracies_count(opened):
    """What a user computes from pairs is what the stage wrote: ties, joint pairs, reduction."""
    judged = opened.table("judgements-posh")
    assert judged.collect_schema() == pl.Schema(JUDGEMENTS)
    by = [*AXES, "category", "phenomenon"]
    ours = judged.group_by(by).agg(pl.col("correct").sum(), n=pl.len()).collect().sort(by)
    counts = opened.table("counts").collect().group_by(by).agg(pl.col("correct", "n").sum())
    assert ours.select(*by, "correct").equals(counts.sort(by).select(*by, "correct"))
    means = (
        ours.with_columns(share=pl.col("correct") / pl.col("n"))
        .group_by("recipe", "phenomenon").agg(pl.col("share").mean()).sort("recipe", "phenomenon")
    )  # fmt: skip
    stage = (
        opened.table("accuracy").filter(level="phenomenon").collect().sort("recipe", "phenomenon")
    )
    assert means["share"].to_list() == pytest.approx(stage["mean"].to_list())
    # The toy tells means from sums, and has ties: or this could not fail
    every = judged.collect()
    assert (every["by_mean"] != every["by_sum"]).any()
    assert (every["correct"] == 0.5).sum() == 3


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("acuracy", "'acuracy'; did you mean 'accuracy'?"),
        ("deltas", "deltas.parquet: "),
        ("measures-posh", "'measures-posh'"),
    ],
)
def test_what_is_not_there_is_told(opened, name, key):
    with pytest.raises(PoshgridError, match=re.escape(key)):
        opened.table(name)


def test_a_fitted_model_a_table_of_the_page_and_one_that_breaks_its_contract(tmp_path):
    spec = report_results.build(tmp_path, conditions=("baby", "baby-f"), sizes=("10M",))
    opened = poshgrid.open(tmp_path)
    assert opened.regressions() == sorted(spec.regressions)
    assert opened.table("summary-paper").collect().schema == pl.Schema(SUMMARY)
    assert not opened.table("contrasts-condition").collect().is_empty()
    rows = pl.DataFrame({"phenomenon": ["=1+1", "wanna"], "mean": [1 / 3, None]})
    page = Page(Collected(spec, tmp_path), Path(opened.paths.report("all")))
    page.table("shown", rows, caption="What the page shows.")
    assert list(opened.page()) == ["shown"]
    assert opened.table("shown").collect().equals(rows)
    path = tmp_path / "statistics" / spec.target / "accuracy.parquet"
    files.read_table(path, ACCURACY).drop("mean").write_parquet(path)
    with pytest.raises(PoshgridError, match="'mean'"):
        opened.table("accuracy")


def test_every_table_that_statistics_write_is_in_the_catalogue():
    """A new contract of statistics is a table that users can ask for."""
    known = {*(name for _, name in TARGETS.values()), *MODELS.values()}
    contracts = {
        name for name, value in vars(schema).items()
        if name.isupper() and isinstance(value, dict)
    }  # fmt: skip
    assert contracts <= known
