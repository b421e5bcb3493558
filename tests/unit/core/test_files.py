"""Atomic writes and tables held to their contracts."""

import itertools
import os
import socket
import subprocess
import sys

import polars as pl
import pyarrow.parquet as pq
import pytest

from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import (
    atomic,
    atomic_folder,
    read_json,
    read_table,
    table_batches,
    table_writer,
    write_table,
    write_text,
    written_by_stage,
)

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
        ({"item_id": ["a"], "n": [1], "m": [1]}, "column 'm' is not in the schema"),
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


@pytest.mark.parametrize("error", [KeyError("splits"), TypeError(), ValueError(), OSError()])
def test_a_file_that_no_stage_has_written_is_named(tmp_path, error):
    path = tmp_path / "statistics.json"
    with pytest.raises(PoshgridError, match=f"^{path}: "), written_by_stage(path):
        raise error


def test_what_a_killed_process_left_is_removed_and_what_others_write_is_not(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    host = socket.gethostname()
    gone = tmp_path / f".a.{host}-{ended.pid}.tmp"
    living = tmp_path / f".a.{host}-{os.getppid()}.tmp"
    elsewhere = tmp_path / f".a.other-{ended.pid}.tmp"
    for path in (gone, living, elsewhere):
        path.write_text("half")
    write_text(tmp_path / "a", "whole")
    assert {p.name for p in tmp_path.iterdir()} == {"a", living.name, elsewhere.name}


def test_a_table_in_pieces(tmp_path):
    whole = frame(item_id=[str(i) for i in range(1_000)], n=list(range(1_000)))
    with table_writer(tmp_path / "t", SCHEMA) as append:
        for start, end in ((0, 300), (300, 1_000), (1_000, 1_000)):
            append(whole[start:end])
    assert read_table(tmp_path / "t", SCHEMA).equals(whole)
    pieces = list(table_batches(tmp_path / "t", SCHEMA, ["n"], 64))
    # whatever the row groups are: tables are read side by side
    assert [piece.height for piece in pieces] == [64] * 15 + [40]
    assert pl.concat(pieces)["n"].to_list() == whole["n"].to_list()
    with pytest.raises(PoshgridError, match="item_id is Int64"):  # noqa: SIM117
        with table_writer(tmp_path / "u", SCHEMA) as append:
            append(whole)
            append(frame(item_id=[1], n=[1]))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["t"]


@pytest.mark.parametrize("parts", [1, 3, 40])
def test_parts_of_a_table_are_the_table(tmp_path, parts):
    """Row groups of 1 to 13 rows; 40 parts of 33 rows: some hold none."""
    sizes = (1, 13, 2, 9, 8)
    with table_writer(tmp_path / "t", SCHEMA) as append:
        for number, size in enumerate(sizes):
            append(frame(item_id=[f"{number}"] * size, n=range(size)))
    whole = read_table(tmp_path / "t", SCHEMA)
    read = [read_table(tmp_path / "t", SCHEMA, part=(n, parts)) for n in range(parts)]
    assert pl.concat(read).equals(whole)
    ends = [sum(sizes) * n // parts for n in range(parts + 1)]
    assert [part.height for part in read] == [b - a for a, b in itertools.pairwise(ends)]
    pieces = list(table_batches(tmp_path / "t", SCHEMA, ["n"], 4, part=(0, parts)))
    assert [n for piece in pieces for n in piece["n"]] == read[0]["n"].to_list()


def test_row_groups_without_a_value_are_not_read(tmp_path):
    """Read they would raise: a byte of each is broken."""
    path = tmp_path / "t"
    schema = {"item_id": pl.String, "step": pl.UInt32}
    with table_writer(path, schema) as append:
        for step in (100, 200, None):
            append(pl.DataFrame({"item_id": [f"{step}"] * 9, "step": [step] * 9}, schema=schema))
    whole = path.read_bytes()
    for step in (100, 200, None):
        rows = read_table(path, schema, only=("step", step))
        assert rows.rows() == [(f"{step}", step)] * 9
    assert read_table(path, schema, ["step"], only=("step", 300)).is_empty()
    first = pq.ParquetFile(path).metadata.row_group(0)
    at = first.column(0).dictionary_page_offset
    path.write_bytes(whole[:at] + b"\xff" * 8 + whole[at + 8 :])
    with pytest.raises(PoshgridError, match="not a parquet table"):
        read_table(path, schema, only=("step", 100))
    assert read_table(path, schema, only=("step", 200)).height == 9
    assert read_table(path, schema, only=("step", None)).height == 9


def test_a_folder_is_renamed_into_place_and_a_failure_leaves_what_was_there(tmp_path):
    folder = tmp_path / "deep" / "model"
    with atomic_folder(folder, last="a") as temporary:
        (temporary / "a").write_text("1")
        (temporary / "kept").mkdir()
        (temporary / "kept" / "b").write_text("2")
        assert sorted(p.name for p in folder.iterdir()) == [temporary.name]
    assert sorted(p.name for p in folder.iterdir()) == ["a", "kept"]
    with pytest.raises(RuntimeError), atomic_folder(folder) as temporary:
        (temporary / "a").write_text("half")
        raise RuntimeError
    assert [(folder / name).read_text() for name in ("a", "kept/b")] == ["1", "2"]
    with atomic_folder(folder) as temporary:
        (temporary / "kept").mkdir()
        (temporary / "kept" / "c").write_text("3")
    assert [p.name for p in (folder / "kept").iterdir()] == ["c"]
    assert (folder / "a").read_text() == "1"
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(PoshgridError, match="file/model: cannot write"),
        atomic_folder(tmp_path / "file" / "model"),
    ):
        pass
