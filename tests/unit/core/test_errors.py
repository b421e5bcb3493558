"""An error of the system names its file, also where a write fails and the system names none."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from poshgrid.core import errors
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import write_text


def test_what_is_written_goes_by_its_name_and_not_by_its_temporary_one(tmp_path, monkeypatch):
    def full(path: Path, *_: object, **__: object) -> None:
        with path.open("w"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(PoshgridError) as caught:
        write_text(tmp_path / "table.csv", "x")
    assert str(caught.value).startswith(f"{tmp_path}/table.csv: cannot write: No space left")


def test_a_line_break_in_a_path_makes_no_second_line() -> None:
    error = PoshgridError("a\nb: no such file", "c: the second of two that are told together")
    lines = ["a\\nb: no such file", "c: the second of two that are told together"]
    assert str(error).splitlines() == lines
    missing = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "a\nb")
    assert errors.of_system(missing).startswith("a\\nb: No such file or directory; ")
