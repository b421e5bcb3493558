"""What two results trees differ in: ``tests/compare.py``."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import xarray

from tests import compare
from tests.unit.corpora.reader_support import put


def test_a_changed_byte_a_surplus_file_and_a_missing_one_are_differences(tmp_path: Path) -> None:
    for name in ("a/same.csv", "a/changed.csv", "b/missing.csv"):
        put(tmp_path, f"one/{name}", "x,1\n")
        put(tmp_path, f"two/{name}", "x,1\n")
    put(tmp_path, "two/a/changed.csv", "x,2\n")
    put(tmp_path, "two/a/surplus.csv", "x,1\n")
    put(tmp_path, "two/a/page.html", "x")
    (tmp_path / "two/b/missing.csv").unlink()
    assert compare.changes(tmp_path / "one", tmp_path / "two") == [
        "a/changed.csv: differs", "a/surplus.csv: new", "b/missing.csv: gone",
    ]  # fmt: skip


def test_times_are_no_difference_and_losses_are(tmp_path: Path) -> None:
    contents = []
    for number, (loss, speed) in enumerate([(1.0, 5.0), (1.0, 6.0), (2.0, 5.0)]):
        folder = tmp_path / str(number)
        folder.mkdir()
        frame = pl.DataFrame({"loss": [loss], "tokens_per_second": [speed]})
        frame.write_parquet(folder / "training.parquet")
        frame.write_csv(folder / "training.csv")
        nested = {"loss": loss, "x": [{"seconds": speed}]}
        (folder / "statistics.json").write_text(json.dumps(nested))
        made = xarray.Dataset({"b": ("draw", [loss])}, attrs={"created_at": str(speed)})
        xarray.DataTree.from_dict({"posterior": made}).to_netcdf(folder / "posterior.nc")
        contents.append([compare.content(path) for path in sorted(folder.iterdir())])
    assert contents[0] == contents[1]
    assert all(a != b for a, b in zip(contents[0], contents[2], strict=True))
