"""The drills' own tools see what they are to see. The drills: ``python -m tests.faults``."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import xarray

from tests.faults import compare, grid, processes


def write(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def test_a_changed_byte_a_surplus_file_and_a_missing_one_are_differences(tmp_path: Path) -> None:
    for name in ("a/same.csv", "a/changed.csv", "b/missing.csv"):
        write(tmp_path / "one" / name, "x,1\n")
        write(tmp_path / "two" / name, "x,1\n")
    write(tmp_path / "two/a/changed.csv", "x,2\n")
    write(tmp_path / "two/a/surplus.csv", "x,1\n")
    (tmp_path / "two/b/missing.csv").unlink()
    expected, found = compare.digests(tmp_path / "one"), compare.digests(tmp_path / "two")
    assert compare.differences(found, expected, whole=False) == ["a/changed.csv", "a/surplus.csv"]
    assert compare.differences(found, expected, whole=True) == [
        "a/changed.csv",
        "a/surplus.csv",
        "b/missing.csv",
    ]


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


def test_changes_of_numbers_are_listed_with_their_size(tmp_path: Path) -> None:
    for name, accuracy, loss in (("one", [0.5, 0.25], 3.0), ("two", [0.5, 0.75], 2.5)):
        folder = tmp_path / name
        folder.mkdir()
        table = pl.DataFrame({"phenomenon": ["a", "b"], "accuracy": accuracy})
        table.write_parquet(folder / "accuracy.parquet")
        (folder / "statistics.json").write_text(
            json.dumps({"dev": {"loss": loss}, "seconds": loss})
        )
        (folder / "page.html").write_text(str(loss))
    (tmp_path / "two" / "more.npy").write_bytes(b"")
    assert list(compare.changes(tmp_path / "one", tmp_path / "two")) == [
        "accuracy.parquet: differs",
        "  accuracy: largest difference 0.5",
        "more.npy: new",
        "statistics.json: differs",
        "  dev.loss: largest difference 0.5",
    ]
    assert not list(compare.changes(tmp_path / "one", tmp_path / "one"))


def test_the_drills_grid_has_a_job_of_every_rule(tmp_path: Path) -> None:
    folder = tmp_path.resolve() / "copy"
    grid.checkout(folder)
    status, text = processes.make(folder, "--dry-run", "--", grid.TARGET)
    assert status == 0, text
    assert {line.split()[0] for line in text.splitlines() if line.split()} >= grid.rules()
    assert {"train", "untrained", "deltas", "perplexity"} <= grid.rules()
