"""Judgements as files for others: all runs that have scores, or those of a target."""

from __future__ import annotations

import polars as pl
import pytest
from typer.testing import CliRunner

from poshgrid.cli import app


def exported(results, output, *options):
    command = ["export", "judgements", str(results), "--output", str(output), *options]
    return CliRunner().invoke(app, command)


def test_deltas_are_the_margins_of_the_judgements(paths, opened, tmp_path):
    answer = exported(paths.results, tmp_path)
    assert answer.exception is None, answer.exception
    assert answer.stdout.split() == [str(tmp_path / "judgements/posh")]
    table = pl.read_csv(tmp_path / "judgements/posh/judgements.tsv", separator="\t")
    runs = [run.name for run in opened.scored("posh")]
    assert set(table["run"]) == set(runs)
    for run in runs:
        found = pl.read_parquet(paths.scores(run, "posh")).filter(pl.col("step").is_null())
        margin = pl.col("good_logprob") - pl.col("bad_logprob")
        mine = table.filter(run=run).select("item_id", "delta")
        assert dict(mine.rows()) == pytest.approx(dict(found.select("item_id", margin).rows()))
        assert list((tmp_path / "judgements/posh" / run).glob("*.tsv"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--suite", "poss"), "--suite: no suite of pairs 'poss'; did you mean 'posh'?"),
        (("--target", "exp2"), "unknown target 'exp2'"),
        (("--upload", "lab"), "--upload: sends models and items; judgements stay here"),
    ],
)
def test_what_cannot_be_exported_is_told(paths, tmp_path, options, message):
    assert message in str(exported(paths.results, tmp_path, *options).exception)
    assert not any(tmp_path.iterdir())
