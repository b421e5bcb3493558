"""``poshgrid results``: numbers where they belong."""

from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from poshgrid.cli import app
from poshgrid.core import files
from tests.unit.report import report_results


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Results of target ``all``: two conditions at two sizes, and a model."""
    folder = tmp_path_factory.mktemp("results")
    grid = {"conditions": ("baby", "baby-f"), "sizes": ("20K", "60K"), "seeds": (1, 2)}
    return report_results.study(folder, regressions=("condition",), **grid)


@pytest.fixture
def ask(root, study, monkeypatch):
    """Run the command on the toy configuration; return what it answers."""
    monkeypatch.setenv("COLUMNS", "250")
    config = str(root / "studies/posh-bench/toy.yaml")

    def run(*arguments):
        words = ["results", config, "--results", str(study.folder), *arguments]
        return CliRunner().invoke(app, words)

    return run


def line(text, *labels):
    """The rest of the one line that begins with these labels."""
    (words,) = [x.split() for x in text.splitlines() if x.split()[: len(labels)] == [*labels]]
    return words[len(labels) :]


def test_accuracies_are_the_table_of_the_stage(shown, study):
    text = shown()
    places = line(text, "condition", "size", "model")
    assert places == ["binding", "island", "question-formation", "wanna", "overall"]
    level = pl.col("level").is_in(["category", "overall"])
    rows = study.collected.accuracy.filter(level, recipe="packed", size="60K")
    numbers = " ".join(line(text, "baby-f", "60K", "gpt2-small"))
    for row in rows.filter(condition="baby-f").iter_rows(named=True):
        mark = "‡" if row["far"] else ""
        cell = f"{100 * row['mean']:.1f} ({100 * row['sd']:.1f}){row['stars_pooled']}{mark}"
        assert cell in numbers
    assert "untrained" not in text and "untrained" in shown("--baselines")


def test_only_keeps_the_rows_that_it_names(ask, shown):
    text = shown("--only", "condition=baby,size=60K")
    assert "island" in text and "baby-f" not in text and "20K" not in text
    assert "'bbay'" in str(ask("--only", "condition=bbay").exception)


def test_a_model_that_fails_a_check_is_not_to_be_quoted(shown, study):
    path = Path(study.folder, "statistics/all/regressions/condition/diagnostics.json")
    before = files.read_json(path)
    summary = ("--table", "summary-condition")
    assert "0.59" in line(shown(*summary), "Intercept") and "4 of 27 cells" in shown(*summary)
    files.write_json(path, before | {"converged": False, "reasons": ["17 divergences"]})
    assert "17 divergences" in shown(*summary)
    files.write_json(path, before | {"predictive": {"cells": 27, "inside": 26, "p": 0.4}})
    assert "quote" not in shown(*summary)
    files.write_json(path, before)
