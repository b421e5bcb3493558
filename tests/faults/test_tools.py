"""The drills' own tools see what they are to see. The drills: ``python -m tests.faults``."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
import xarray

from tests.faults import compare, grid, kills, processes


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


@pytest.mark.parametrize(
    ("name", "first", "second", "same"),
    [
        ("a/statistics.json", {"loss": 1, "seconds": 1}, {"loss": 1, "seconds": 2}, True),
        ("a/statistics.json", {"loss": 1, "seconds": 1}, {"loss": 2, "seconds": 1}, False),
        ("a/statistics.json", {"x": [{"seconds": 1}]}, {"x": [{"seconds": 2}]}, True),
    ],
)
def test_times_in_json_are_no_difference(
    tmp_path: Path, name: str, first: object, second: object, same: bool
) -> None:
    one = write(tmp_path / "one" / name, json.dumps(first))
    two = write(tmp_path / "two" / name, json.dumps(second))
    assert (compare.content(one) == compare.content(two)) is same


def test_times_in_tables_of_training_are_no_difference(tmp_path: Path) -> None:
    contents = []
    for number, (loss, speed) in enumerate([(1.0, 5.0), (1.0, 6.0), (2.0, 5.0)]):
        frame = pl.DataFrame({"loss": [loss], "tokens_per_second": [speed]})
        folder = tmp_path / str(number)
        folder.mkdir()
        frame.write_parquet(folder / "training.parquet")
        frame.write_csv(folder / "training.csv")
        contents.append(
            [compare.content(folder / f"training.{kind}") for kind in ("parquet", "csv")]
        )
    assert contents[0] == contents[1]
    assert all(a != b for a, b in zip(contents[0], contents[2], strict=True))


def test_a_file_that_was_cut_off_is_a_difference_where_it_cannot_be_read(tmp_path: Path) -> None:
    for name in ("a.json", "training.parquet", "training.jsonl"):
        assert compare.content(write(tmp_path / name, '{"loss": ')) == b'{"loss": '


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


def test_manifests_logs_and_hidden_files_are_not_compared(tmp_path: Path) -> None:
    for name in ("a/manifest.json", "a/x.manifest.json", "logs/a.log", "a/.b.tmp", "a/.w/c.csv"):
        write(tmp_path / name, "1")
    write(tmp_path / "report/drill/index.html", "1")
    write(tmp_path / "report/drill/tables/screening.csv", "1")
    write(tmp_path / "report/drill/tables/fit.csv", "1")
    assert list(compare.files(tmp_path)) == ["report/drill/tables/fit.csv"]


def test_times_in_posteriors_are_no_difference(tmp_path: Path) -> None:
    contents = []
    for number, (value, made) in enumerate([(1.0, "now"), (1.0, "then"), (2.0, "now")]):
        tree = xarray.DataTree.from_dict(
            {"posterior": xarray.Dataset({"b": ("draw", [value])}, attrs={"created_at": made})}
        )
        tree.to_netcdf(tmp_path / f"{number}.nc")
        contents.append(compare.content(tmp_path / f"{number}.nc"))
    assert contents[0] == contents[1] != contents[2]


def test_a_refusal_is_one_line_that_names_the_file() -> None:
    def ended(status: int, text: str) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess([], status, "", text)

    assert processes.refused(ended(1, "error: a.bin: cut off; run again\n"), "a.bin")
    assert not processes.refused(ended(1, "error: a.bin: cut off; run again\n"), "b.bin")
    assert not processes.refused(ended(0, "error: a.bin: cut off; run again\n"))
    assert not processes.refused(ended(1, "error: internal error: KeyError: 'x'; set ...\n"))
    assert not processes.refused(ended(1, "Traceback (most recent call last):\nerror: a\n"))


def test_the_drills_grid_has_a_job_of_every_rule(tmp_path: Path) -> None:
    folder = tmp_path.resolve() / "copy"
    grid.checkout(folder)
    status, text = processes.make(folder, "--dry-run", "--", grid.TARGET)
    assert status == 0, text
    assert {line.split()[0] for line in text.splitlines() if line.split()} >= grid.rules()
    assert {"train", "untrained", "deltas", "perplexity"} <= grid.rules()


def test_a_job_is_killed_at_its_moment_and_what_is_not_whole_is_counted(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    write(folder / "bin/poshgrid", "import time\ntime.sleep(60)\n")
    write(folder / "results/a.csv", "half")
    started = subprocess.Popen(
        [sys.executable, folder / "bin/poshgrid", "stage", "ngrams", "{}"],
        cwd=folder,
    )
    watcher = kills.Killer(folder, {}, {"ngrams": [("job", 0.2)]})
    try:
        end = time.monotonic() + 20
        while not watcher.hits and time.monotonic() < end:
            assert not watcher(started.pid)  # after a job, the run is watched on
            time.sleep(processes.TICK)
        assert started.wait(20) == -9
        assert processes.wait_until_empty(folder, 20) == []
    finally:
        started.kill()
    assert (watcher.hits, watcher.partial) == ([("ngrams", "job")], ["a.csv"])
