"""Tables as CSV: whoever reads them by the dictionary has the results again."""

import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import matplotlib as mpl
import polars as pl
import pytest
import scipy.special
from polars.testing import assert_frame_equal
from typer.testing import CliRunner

import poshgrid
from poshgrid.cli import app
from poshgrid.core import files
from poshgrid.core.manifest import recorded
from poshgrid.report.export import tables
from tests.unit.report import report_results

TYPES = {"integer": pl.Int64, "number": pl.Float64, "boolean": pl.Boolean, "string": pl.String}


@pytest.fixture(scope="module")
def folder(paths, tmp_path_factory):
    output = tmp_path_factory.mktemp("exported")
    options = ["tables", paths.results, "--output", str(output)]
    answer = CliRunner().invoke(app, ["export", *options])
    assert answer.exception is None, answer.exception
    return Path(answer.stdout.strip())


@pytest.fixture(scope="module")
def listed(folder):
    package = json.loads((folder / "datapackage.json").read_text(encoding="utf-8"))
    return {resource["name"]: resource for resource in package["resources"]}


def test_every_file_is_listed_as_it_is_and_every_column_described(folder, listed):
    assert {resource["path"] for resource in listed.values()} == {
        p.name for p in folder.glob("*.csv")
    }
    for resource in listed.values():
        content = (folder / resource["path"]).read_bytes()
        assert resource["bytes"] == len(content)
        assert resource["hash"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
        assert all(field["description"] for field in resource["schema"]["fields"])


def test_tables_of_results_exported_before_are_taken_away(paths, tmp_path):
    """Files that the package does not list, a reader's own, stay."""
    (tmp_path / "mine.csv").touch()
    (tmp_path / "items-old.csv").touch()
    package = {"resources": [{"path": "items-old.csv"}]}
    (tmp_path / "datapackage.json").write_text(json.dumps(package))
    tables.export(poshgrid.open(paths.results), tmp_path, None)
    assert (tmp_path / "mine.csv").is_file() and (tmp_path / "runs.csv").is_file()
    assert not (tmp_path / "items-old.csv").exists()


def read_table(folder, listed, name):
    fields = listed[name]["schema"]["fields"]
    types = {field["name"]: TYPES[field["type"]] for field in fields}
    return pl.read_csv(folder / listed[name]["path"], schema=types)


@pytest.mark.parametrize("name", ["runs", "accuracy", "judgements-posh", "items-posh", "counts"])
def test_a_table_and_that_of_its_baselines_are_the_table(folder, listed, opened, name):
    """Read by the dictionary; judgements and counts with halves for ties again."""
    parts = [part for part in (name, tables.BASELINES + name) if part in listed]
    assert len(parts) == 2 - (name == "items-posh")
    read = pl.concat(read_table(folder, listed, part) for part in parts)
    if name == "judgements-posh":
        read = read.with_columns(pl.col("correct", "by_mean", "by_sum").cast(float).fill_null(0.5))
    if name == "counts":
        read = read.with_columns(pl.col("correct") + pl.col("ties") / 2)
    expected = opened.table(name).collect().cast(read.schema)
    blank = pl.col(pl.String).fill_null("")  # CSV has one of both
    assert_frame_equal(
        read.with_columns(blank), expected.with_columns(blank), rel_tol=1e-12, check_row_order=False
    )
    if "recipe" in read.columns:
        baseline = pl.col("recipe").is_in(["untrained", "counted"])
        assert not read_table(folder, listed, name).select(baseline.any()).item()
        assert read_table(folder, listed, tables.BASELINES + name).select(baseline.all()).item()


R = shutil.which("Rscript")


@pytest.mark.skipif(R is None, reason="R is not installed")
def test_the_page_on_r_runs(root, tmp_path):
    """lme4's coefficient is that of the table; brms, which compiles for minutes, is not run."""
    report_results.build(tmp_path / "results", conditions=("baby", "baby-f"), sizes=("10M",))
    tables.export(poshgrid.open(tmp_path / "results"), tmp_path / "exported/tables", None)
    page = (root / "docs/r.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```r\n(library\(lme4\)\n.*?)```", page, re.S)
    code += 'cat("slope", fixef(fit)[["condition1"]], "rows", nrow(counts), "\\n")'
    installed = [R, "-e", 'quit(status = !requireNamespace("lme4", quietly = TRUE))']
    if subprocess.run(installed, check=False).returncode:
        pytest.skip("lme4 is not installed")
    (tmp_path / "page.R").write_text(code, encoding="utf-8")
    answer = subprocess.run(
        [R, "page.R"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stderr
    counts = pl.read_csv(tmp_path / "exported/tables/counts.csv")
    slope, rows = re.search(r"slope (\S+) rows (\d+)", answer.stdout).groups()
    assert int(rows) == counts.height
    means = counts.group_by("condition").agg(pl.col("correct").sum() / pl.col("n").sum())
    baby, filtered = scipy.special.logit(means.sort("condition")["correct"].to_numpy())
    assert float(slope) == pytest.approx((baby - filtered) / 2, abs=0.1)


def test_accuracies_are_drawn_in_one_line(root, paths, tmp_path, monkeypatch):
    mpl.use("agg")
    page = (root / "docs/r.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.S)
    shutil.copytree(paths.results, tmp_path / "results/tiny")
    monkeypatch.chdir(tmp_path)
    exec(code, {})


def test_tables_of_a_target_and_its_models_are_exported_if_they_are_of_one_run(tmp_path):
    """A run of a part of a grid leaves a fit of counts that are not there any more."""
    report_results.build(tmp_path / "results", conditions=("baby", "baby-f"), sizes=("10M",))
    written = tables.export(poshgrid.open(tmp_path / "results"), tmp_path / "tables", None)
    names = {path.stem for path in written.glob("*.csv")}
    assert {"summary-paper", "contrasts-condition", "predictive-paper"} <= names
    assert "deltas" not in names
    folder = tmp_path / "results/statistics/all"
    counts = str(folder / "counts.parquet")
    for part, inputs in ((folder, []), (folder / "regressions/paper", [counts])):
        with recorded(part / "manifest.json", inputs=inputs):
            files.write_text(part / "new.txt", "")
    words = ["export", "tables", str(tmp_path / "results"), "--output", str(tmp_path / "out")]
    assert CliRunner().invoke(app, words).exception is None
    table = pl.read_parquet(counts)
    with recorded(folder / "manifest.json"):
        table.head(table.height - 1).write_parquet(counts)
    error = CliRunner().invoke(app, words).exception
    assert str(error).startswith(f"{folder / 'regressions/paper'}: made of another {counts}")
