"""Atomic writes and tables held to their contracts."""

from __future__ import annotations

import polars as pl
import pytest

from poshgrid.errors import PoshgridError
from poshgrid.files import atomic, read_json, read_table, write_json, write_table

SCHEMA = {"item_id": pl.String, "n": pl.UInt32}


def frame(**columns):
    return pl.DataFrame(columns).with_columns(pl.col("n").cast(pl.UInt32))


def test_a_failed_write_leaves_nothing_and_keeps_the_old(tmp_path):
    path = tmp_path / "deep" / "file.txt"
    path.parent.mkdir()
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), atomic(path) as temporary:
        temporary.write_text("half")
        raise ZeroDivisionError
    assert path.read_text() == "old"
    assert [p.name for p in path.parent.iterdir()] == ["file.txt"]


def test_table_round_trip_has_the_same_bytes_twice(tmp_path):
    table = frame(item_id=["a", "b"], n=[1, 2])
    for name in ("one", "two"):
        write_table(table, tmp_path / name, SCHEMA)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert read_table(tmp_path / "one", SCHEMA).equals(table)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"n": [1]}, "column 'item_id' is missing"),
        ({"item_id": ["a"], "n": [1], "m": [1]}, "column 'm' is not in the contract"),
        ({"item_id": [1], "n": [1]}, "item_id is Int64, not String"),
    ],
)
def test_a_table_that_breaks_its_contract_is_not_written(tmp_path, columns, expected):
    with pytest.raises(PoshgridError, match=r"see docs/data\.md") as caught:
        write_table(frame(**columns), tmp_path / "t.parquet", SCHEMA)
    assert expected in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_broken_files_are_named(tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(PoshgridError, match=r"t\.parquet: not a parquet table"):
        read_table(tmp_path / "t.parquet", SCHEMA)
    with pytest.raises(PoshgridError, match=r"gone\.parquet: not found"):
        read_table(tmp_path / "gone.parquet", SCHEMA)
    (tmp_path / "s.json").write_text("{")
    with pytest.raises(PoshgridError, match=r"s\.json: not JSON"):
        read_json(tmp_path / "s.json")


def test_json_is_sorted(tmp_path):
    write_json(tmp_path / "a", {"b": 1, "a": 2})
    write_json(tmp_path / "b", {"a": 2, "b": 1})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
