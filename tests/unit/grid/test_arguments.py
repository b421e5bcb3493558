"""Arguments that are too long for a command line."""

from __future__ import annotations

import hashlib
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


def test_the_file_is_named_by_its_digest_and_written_once(tmp_path):
    """Snakemake compares the name: in another version it must be the same."""
    text = arguments.short(LONG, str(tmp_path))
    digest = hashlib.sha256(("\n".join(LONG) + "\n").encode()).hexdigest()
    (path,) = tmp_path.iterdir()
    assert path.name == f"{digest[:16]}.arguments"
    assert text == f"@{path}"
    path.write_text("as it is")
    arguments.short(LONG, str(tmp_path))
    assert path.read_text() == "as it is"


@pytest.mark.parametrize(("size", "stays"), [(24 * 1024, True), (24 * 1024 + 1, False)])
def test_24_kilobytes_stay_in_the_command(tmp_path, size, stays):
    """Of the text as the shell gets it: of umlauts each is two."""
    for letter, count in (("x", size), ("ä", (size - 2) // 2)):
        given = letter * count
        long = len(shlex.join([given]).encode())
        found = arguments.short([given], str(tmp_path))
        assert (found == shlex.join([given])) == (long <= 24 * 1024)
    assert (arguments.short(["x" * size], str(tmp_path)) == "x" * size) == stays


def test_a_dry_run_writes_nothing(tmp_path):
    assert arguments.short(LONG, str(tmp_path), write=False) == arguments.short(LONG, str(tmp_path))
    (kept,) = tmp_path.iterdir()
    kept.unlink()
    arguments.short(LONG, str(tmp_path), write=False)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_is_one_line(tmp_path):
    with pytest.raises(PoshgridError, match=rf"^{tmp_path}/gone\.arguments: cannot read: No such"):
        arguments.expanded([f"@{tmp_path}/gone.arguments"])
    (tmp_path / "latin.arguments").write_bytes(b"--path\n\xe4\n")
    with pytest.raises(PoshgridError, match=r"latin\.arguments: cannot read: not UTF-8"):
        arguments.expanded([f"@{tmp_path}/latin.arguments"])


def test_arguments_around_a_file_stay_in_order(tmp_path):
    (tmp_path / "a.arguments").write_text("1\n2\n")
    (tmp_path / "b.arguments").write_text("")
    given = [f"@{tmp_path}/a.arguments", "x", f"@{tmp_path}/b.arguments", "a.arguments", "@y"]
    assert arguments.expanded(given) == ["1", "2", "x", "a.arguments", "@y"]


@given(st.lists(st.text()))
def test_what_names_no_such_file_is_left_alone(found):
    assert arguments.expanded([*found, "@home"]) == [*found, "@home"]
