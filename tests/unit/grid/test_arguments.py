"""Arguments that are too long for a command line."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poshgrid.errors import PoshgridError
from poshgrid.grid import arguments

LONG = ["--spec", '{"runs":["' + "a b'" * arguments.LONGEST + '"]}', "--scores=x=y"]


def test_short_arguments_stay(tmp_path):
    text = arguments.short(["--spec", '{"a": "it\'s"}'], str(tmp_path / "none"))
    assert shlex.split(text) == ["--spec", '{"a": "it\'s"}']
    assert not (tmp_path / "none").exists()


def test_long_arguments_come_back_from_their_file(tmp_path):
    text = arguments.short(LONG, str(tmp_path))
    assert len(text) < 200
    assert arguments.expanded(["accuracy", *shlex.split(text), "--code", "x"]) == [
        "accuracy", *LONG, "--code", "x"
    ]  # fmt: skip


@pytest.mark.parametrize("line", ["a\x85b", "a\u2028b", "a\fb", "a\rb", "a\r", "", " "])
def test_only_a_line_break_parts_arguments(tmp_path, line):
    given = [*LONG, f"--path={line}", line]
    text = arguments.short(given, str(tmp_path))
    assert arguments.expanded(shlex.split(text)) == given


def test_the_name_is_the_contents(tmp_path):
    first = arguments.short(LONG, str(tmp_path))
    assert arguments.short(LONG, str(tmp_path)) == first
    assert arguments.short([*LONG, "--more"], str(tmp_path)) != first


def test_a_dry_run_writes_nothing(tmp_path):
    assert arguments.short(LONG, str(tmp_path), write=False) == arguments.short(LONG, str(tmp_path))
    (kept,) = tmp_path.iterdir()
    kept.unlink()
    arguments.short(LONG, str(tmp_path), write=False)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_is_one_line(tmp_path):
    with pytest.raises(PoshgridError, match=r"gone\.arguments: cannot read"):
        arguments.expanded([f"@{tmp_path}/gone.arguments"])


@given(st.lists(st.text()))
def test_what_names_no_such_file_is_left_alone(found):
    assert arguments.expanded([*found, "@home"]) == [*found, "@home"]
