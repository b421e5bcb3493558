"""``poshgrid collateral``: the table at any width, CSV for programs, one line for errors."""

from __future__ import annotations

import io

import polars as pl
import pytest
from typer.testing import CliRunner

from poshgrid.cli import app
from tests.unit.report import report_results

CELLS = [(condition, size) for condition in ("baby", "baby-f") for size in ("20K", "60K")]


def write(folder, cells=CELLS, **settings):
    for condition, size in cells:
        path = folder / "collateral" / condition / size
        report_results.collateral(path, condition, size, **settings)


@pytest.fixture
def ask(root, tmp_path, monkeypatch):
    """Run the command on the tiny configuration; return what it answers."""

    def run(*arguments, width=200):
        monkeypatch.setenv("COLUMNS", str(width))
        given = [str(root / "config/tiny.yaml"), "--results", str(tmp_path), *arguments]
        return CliRunner().invoke(app, ["collateral", *given])

    return run


def test_every_number_is_printed(tmp_path, shown):
    write(tmp_path, relative={"before": 200, "removed": 123})
    text = shown("--condition", "baby-f", width=250)
    for number in ("1,000", "61.50", "20.00", "0.01235", "childes", "gutenberg", "all sources"):
        assert number in text, number
    assert "baby-f at 60K, removed: 20.00%" in " ".join(text.split())


def test_an_unknown_is_a_dash(tmp_path, shown):
    write(tmp_path, parsed=0.5, passive=dict.fromkeys(("before", "after", "removed")))
    text = shown("--condition", "baby-f", "--size", "20K", width=250)
    assert "–" in text and "known of parsed sentences only, 50.0%" in " ".join(text.split())


def test_csv_has_the_counts_and_nothing_else(tmp_path, shown):
    write(tmp_path, control="x")
    frame = pl.read_csv(io.StringIO(shown("--csv")))
    assert frame.columns == [
        "condition", "size", "source", "measure", "before", "after", "removed", "removed_by_rule",
        "removed_by_backstop",
    ]  # fmt: skip
    assert frame.select("condition", "size").unique(maintain_order=True).rows() == CELLS
    words = frame.filter(condition="baby", size="60K", source="childes", measure="words")
    assert words["removed"].to_list() == [1800] and words["removed_by_rule"].to_list() == [None]
    few = pl.read_csv(io.StringIO(shown("--csv", "--condition", "baby", "--size", "20K")))
    assert set(few["condition"]) == {"baby"} and set(few["size"]) == {"20K"}


def test_what_is_not_made_yet(tmp_path, ask, refused):
    first = f"{tmp_path}/collateral/baby/20K/collateral.parquet"
    text = refused()
    assert text.startswith(f"{first}: not found: 4 of 4 tables are not made yet; run `poshgrid ")
    assert f"--config results={tmp_path}` first" in text and "config/tiny.yaml" in text
    one = refused("--condition", "baby", "--size", "20K")
    assert f"run `poshgrid run {first} --configfile" in one
    # Those that are made are printed
    write(tmp_path, CELLS[:3])
    answer = ask("--csv")
    assert answer.exception is None
    assert "1 of 4 tables are not made yet; run `poshgrid run" in answer.stderr
    assert set(pl.read_csv(io.StringIO(answer.stdout))["condition"]) == {"baby", "baby-f"}


def test_unknown_words(tmp_path, refused):
    write(tmp_path)
    assert "--target: unknown target 'exp'; did you mean 'exp" in refused("--target", "exp")
    text = refused("--condition", "wiki")
    assert "unknown condition without part of its base 'wiki'; known: baby, baby-f" in text
    text = refused("--target", "exp3", "--condition", "baby")  # known elsewhere
    assert text == "--condition: baby is not in target exp3; add --target all"
    assert "--size: unknown size '10K'" in refused("--size", "10K")
    assert "--size: unknown size '60K'; did you mean '20K'?" in refused(
        "--target", "exp3", "--size", "60K"
    )
