"""Tables as CSV: whoever reads them by the dictionary has the results again."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from typer.testing import CliRunner

import poshgrid
from poshgrid import files
from poshgrid.cli import app
from poshgrid.export import tables
from poshgrid.provenance.manifest import recorded
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


@pytest.mark.parametrize("name", ["runs", "accuracy", "judgements-posh", "items-posh"])
def test_a_table_read_by_its_dictionary_is_the_table(folder, listed, opened, name):
    fields = listed[name]["schema"]["fields"]
    types = {field["name"]: TYPES[field["type"]] for field in fields}
    read = pl.read_csv(folder / listed[name]["path"], schema=types)
    expected = {
        "runs": opened.runs, "accuracy": opened.accuracy, "judgements-posh": opened.judgements,
        "items-posh": opened.items,
    }[name]().collect().cast(types)  # fmt: skip
    blank = pl.col(pl.String).fill_null("")  # CSV has one of both
    assert_frame_equal(read.with_columns(blank), expected.with_columns(blank), rel_tol=1e-12)


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
