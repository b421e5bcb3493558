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
from poshgrid.statistics import schema
from poshgrid.tables.columns import columns
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
def package(folder):
    return json.loads((folder / "datapackage.json").read_text(encoding="utf-8"))


def test_every_file_is_listed_as_it_is(folder, package):
    listed = {each["path"]: each for each in package["resources"]}
    assert set(listed) == {path.name for path in folder.glob("*.csv")}
    assert {"runs.csv", "items-posh.csv", "judgements-posh.csv", "accuracy.csv"} <= set(listed)
    for name, each in listed.items():
        content = (folder / name).read_bytes()
        assert each["bytes"] == len(content)
        assert each["hash"] == f"sha256:{hashlib.sha256(content).hexdigest()}"


def test_tables_of_which_one_was_made_of_others_are_refused(tmp_path):
    """A run of a part of a grid leaves a fit of counts that are not there any more."""
    report_results.build(tmp_path / "results")
    folder = tmp_path / "results/statistics/all"
    (folder / "models/paper").mkdir(parents=True, exist_ok=True)
    counts = str(folder / "counts.parquet")
    for part, inputs in ((folder, []), (folder / "models/paper", [counts])):
        with recorded(part / "manifest.json", inputs=inputs):
            files.write_text(part / "new.txt", "")
    words = ["export", "tables", str(tmp_path / "results"), "--output", str(tmp_path / "out")]
    assert CliRunner().invoke(app, words).exception is None
    table = pl.read_parquet(counts)
    with recorded(folder / "manifest.json"):
        table.head(table.height - 1).write_parquet(counts)
    found = CliRunner().invoke(app, words).exception
    assert str(found).startswith(f"{folder / 'models/paper'}: made of another {counts}; run posh")


@pytest.mark.parametrize("name", ["runs", "accuracy", "judgements-posh", "items-posh"])
def test_a_table_read_by_its_dictionary_is_the_table(folder, package, opened, name):
    (listed,) = [each for each in package["resources"] if each["name"] == name]
    fields = listed["schema"]["fields"]
    types = {field["name"]: TYPES[field["type"]] for field in fields}
    read = pl.read_csv(folder / listed["path"], schema=types)
    expected = {
        "runs": opened.runs, "accuracy": opened.accuracy, "judgements-posh": opened.judgements,
        "items-posh": opened.items,
    }[name]().collect()  # fmt: skip
    blank = pl.col(pl.String).fill_null("")  # CSV has one of both
    found, wanted = (each.with_columns(blank) for each in (read, expected.cast(types)))
    assert_frame_equal(found, wanted, rel_tol=1e-12)


def test_the_dictionary_says_what_the_schemas_say(package):
    (listed,) = [each for each in package["resources"] if each["name"] == "accuracy"]
    told = {field["name"]: field["description"] for field in listed["schema"]["fields"]}
    assert told == columns(schema, "ACCURACY")
    assert all(
        field["description"] for each in package["resources"] for field in each["schema"]["fields"]
    )


def test_every_table_of_a_target_and_its_models_can_be_exported(tmp_path):
    """Each contract has words for each column; what is not made is left out."""
    report_results.build(tmp_path, conditions=("baby", "baby-f"), sizes=("10M",))
    results = poshgrid.open(tmp_path)
    folder = tables.export(results, tmp_path / "tables", None)
    found = {path.stem for path in folder.glob("*.csv")}
    assert {"summary-paper", "contrasts-condition", "predictive-paper"} <= found
    assert "deltas" not in found
