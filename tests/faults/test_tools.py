"""The drills' own tools see what they are to see. The drills: ``python -m tests.faults``."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
import xarray

from tests.faults import compare, damage, grid, jobs, kills, processes, slurm
from tests.faults.outcome import Outcome


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


def test_a_stage_is_seen_with_its_rule_and_killed(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    write(folder / "bin/poshgrid", "import time\ntime.sleep(60)\n")
    started = subprocess.Popen(
        [sys.executable, folder / "bin/poshgrid", "count", "--output", "benchmark/ngrams/a"],
        cwd=folder,
    )
    try:
        end = time.monotonic() + 20
        while not (found := processes.stages(folder)) and time.monotonic() < end:
            time.sleep(processes.TICK)
        assert [(stage.pid, stage.rule) for stage in found] == [(started.pid, "ngrams")]
        assert processes.left(folder) == [started.pid]
        processes.kill(started.pid)
        assert started.wait(20) == -9
        assert processes.wait_until_empty(folder, 20) == []
    finally:
        started.kill()


def test_a_row_stays_a_row() -> None:
    row = Outcome("kill", 3, 2, "first\nsecond | third").row()
    assert row == r"| kill | 3 | 2 | first second \| third |"


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

    assert jobs.refused(ended(1, "error: a.bin: cut off; run again\n"), "a.bin")
    assert not jobs.refused(ended(1, "error: a.bin: cut off; run again\n"), "b.bin")
    assert not jobs.refused(ended(0, "error: a.bin: cut off; run again\n"))
    assert not jobs.refused(ended(1, "error: internal error: KeyError: 'x'; set ...\n"))
    assert not jobs.refused(ended(1, "Traceback (most recent call last):\nerror: a\n"))


def test_the_drills_disturb_two_conditions_and_a_bias() -> None:
    from poshgrid.grid import filtering
    from poshgrid.grid.configfile import validate

    small = validate(grid.configuration(), [])
    assert {run.name for run in small.targets[grid.TARGET]} == {
        damage.RUN,
        damage.TREE_RUN,
        damage.RUN.replace("baby-f/", "baby/"),
    }
    assert len(filtering.pairs(small, grid.TARGET)) == 1


def test_the_drills_grid_has_a_job_of_every_rule(tmp_path: Path) -> None:
    folder = tmp_path.resolve() / "copy"
    grid.checkout(folder)
    status, text = processes.make(folder, "--dry-run", "--", grid.TARGET)
    assert status == 0, text
    assert {line.split()[0] for line in text.splitlines() if line.split()} >= grid.rules()
    assert {"train", "untrained", "deltas", "perplexity"} <= grid.rules()


def killer(folder: Path, moment: kills.Moment) -> kills.Killer:
    return kills.Killer(folder, {}, {"mix": [moment]}, random.Random(1))


def test_a_moment_that_came_too_late_is_drawn_within_the_life_of_the_job(tmp_path: Path) -> None:
    watcher = killer(tmp_path, kills.Moment("job", 50.0))
    moment = watcher.plan["mix"].pop()
    for lived in (4.0, 2.0):
        watcher.too_late("mix", moment, lived)
        moment = watcher.plan["mix"].pop()
        assert 0 <= moment.after < lived
        assert moment.kind == "job"
    assert moment.tries == 3


def test_a_rule_that_is_always_over_before_its_moment_is_given_up_and_named(tmp_path: Path) -> None:
    watcher = killer(tmp_path, kills.Moment("job", 50.0))
    for _ in range(kills.TRIES - 1):
        watcher.too_late("mix", watcher.plan["mix"].pop(), 1.0)
    assert watcher.missed == []
    watcher.too_late("mix", watcher.plan["mix"].pop(), 1.0)
    assert watcher.missed == ["mix"]
    assert watcher.plan == {"mix": []}
    assert f"mix: 1 moments not hit in {kills.TRIES} tries" in kills._covered(watcher)


@pytest.mark.parametrize(("status", "tries"), [(0, 2), (1, 1)])
def test_only_a_run_that_ended_well_was_over_before_the_moment(
    tmp_path: Path, status: int, tries: int
) -> None:
    moment = kills.Moment("session", 50.0)
    watcher = killer(tmp_path, moment)
    stage = processes.Stage(1, "mix", "")
    watcher.due.append((time.monotonic() - 3, stage, watcher.plan["mix"].pop()))
    watcher.ended(status)
    assert watcher.due == []
    assert [each.tries for each in watcher.plan["mix"]] == [tries]
    assert (watcher.plan["mix"] == [moment]) is (status != 0)


def test_a_job_is_killed_at_its_moment_and_what_is_not_whole_is_counted(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    write(folder / "bin/poshgrid", "import time\ntime.sleep(60)\n")
    write(folder / "results/a.csv", "half")
    started = subprocess.Popen([sys.executable, folder / "bin/poshgrid", "mix"], cwd=folder)
    watcher = killer(folder, kills.Moment("job", 0.2))
    try:
        end = time.monotonic() + 20
        while not watcher.hits and time.monotonic() < end:
            assert not watcher(started)  # after a job, the run is watched on
            time.sleep(processes.TICK)
        assert started.wait(20) == -9
    finally:
        started.kill()
    assert watcher.hits == [("mix", kills.Moment("job", 0.2))]
    assert watcher.partial == ["a.csv"]


def test_the_reader_of_a_file_is_the_job_whose_manifest_lists_it(tmp_path: Path) -> None:
    for name, read in (("a", "x"), ("b", "y")):
        content = {
            "command": ["poshgrid", "score", "--output", f"results/{name}"],
            "inputs": {read: "0"},
            "outputs": {"posh.parquet": "0"},
            "wall_seconds": 1,
        }
        write(tmp_path / "results" / name / "manifest.json", json.dumps(content))
    known = jobs.jobs(tmp_path)
    assert damage.reader(known, "y", "score").output == "results/b"
    assert damage.reader(known, "z", "score").output == "results/a"


def test_a_run_is_disturbed_once_a_job_of_the_rule_has_run_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running: list[processes.Stage] = []
    done: list[bool] = []
    monkeypatch.setattr(processes, "stages", lambda folder: running)
    look = processes.once(tmp_path, lambda: done.append(True), 0.1, "read")
    running.append(processes.Stage(1, "mix", ""))
    assert not look(None)
    time.sleep(0.2)
    assert not look(None)  # it is of another rule
    running.append(processes.Stage(2, "read", ""))
    assert not look(None)
    assert done == []
    time.sleep(0.2)
    assert look(None)
    assert done == [True]


def test_each_test_on_slurm_is_a_row_with_what_became_of_its_jobs(tmp_path: Path) -> None:
    junit = write(
        tmp_path / "junit.xml",
        """<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="pytest" tests="4" errors="1" failures="1" skipped="1">
  <testcase classname="tests.slurm.test_slurm" name="test_out_of_time" time="60.1">
    <properties><property name="account" value="2 submitted, 1 resumed"/></properties>
  </testcase>
  <testcase classname="tests.slurm.test_slurm" name="test_cancelled">
    <properties><property name="other" value="no"/><property name="account" value="3 submitted"/>
    </properties>
    <failure message="assert 3 == 2">long text</failure>
  </testcase>
  <testcase classname="tests.slurm.test_slurm" name="test_node_down">
    <error message="failed on setup">long text</error>
  </testcase>
  <testcase classname="tests.slurm.test_slurm" name="test_preempted">
    <skipped type="pytest.skip" message="no SLURM">where</skipped>
  </testcase>
</testsuite></testsuites>
""",
    )
    assert slurm.rows(junit) == [
        Outcome("SLURM: out of time", 1, 1, "2 submitted, 1 resumed"),
        Outcome("SLURM: cancelled", 1, 0, "3 submitted; assert 3 == 2"),
        Outcome("SLURM: node down", 1, 0, "failed on setup"),
        Outcome("SLURM: preempted", 0, 0, "not run: no SLURM"),
    ]


def test_what_pytest_writes_of_a_property_is_read(tmp_path: Path) -> None:
    test = write(
        tmp_path / "test_it.py",
        "def test_it(record_property):\n    record_property('account', 'one & <two>')\n",
    )
    junit = tmp_path / "junit.xml"
    command = [sys.executable, "-m", "pytest", "-q", "--rootdir", tmp_path, "--junitxml", junit]
    subprocess.run([*command, test], cwd=tmp_path, check=True, capture_output=True)
    assert slurm.rows(junit) == [Outcome("SLURM: it", 1, 1, "one & <two>")]


def test_without_a_slurm_there_is_one_row_that_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slurm, "unavailable", lambda: "no munged: install munge")
    found = slurm.drill(tmp_path / "slurm")
    assert found == [Outcome("SLURM", 0, 0, "not run: no munged: install munge")]
    assert not (tmp_path / "slurm").exists()


def test_a_killed_command_is_counted_for_its_rule() -> None:
    """Else the drills' table says that a rule was never killed."""
    files = (grid.ROOT / "workflow" / "rules").glob("*.smk")
    found = {}
    for file in files:
        parts = re.split(r"^rule (\w+):", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
        for rule, block in zip(parts[1::2], parts[2::2], strict=True):
            command = re.search(r'"[^"]*\bposhgrid ([a-z-]+)', block)
            if command:
                found[rule] = processes.rule_of(command[1], f"results/{rule}/x")
    assert len(found) > 25
    assert {rule: of for rule, of in found.items() if rule != of} == {}


def test_a_copy_holds_the_folders_that_stages_read(tmp_path: Path) -> None:
    """What the package links to is in the copy, but for what only people read."""
    grid.checkout(tmp_path / "copy")
    share = tmp_path / "copy/src/poshgrid/share"
    assert {link.name for link in share.iterdir() if not link.exists()} == {
        "config", "docs", "profiles",
    }  # fmt: skip
