"""Files that are not what their stages wrote are refused and found; others are not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from poshgrid.core import verification
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import write_json
from poshgrid.core.verification import sha256
from tests.unit.core.manifest_support import flip, stage, text


def test_a_flipped_bit_is_refused_with_the_file_the_stage_and_the_remedy(tmp_path: Path) -> None:
    table = text(tmp_path / "model.bin")
    stage(tmp_path / "manifest.json")
    assert verification.check([table]) == {str(table): sha256(table)}
    flip(table)
    os.utime(table)
    with pytest.raises(PoshgridError) as caught:
        verification.check([table])
    message = str(caught.value)
    assert message.startswith(f"{table}: not the bytes that count wrote (manifest.json); ")
    assert "poshgrid verify --delete" in message
    assert "\n" not in message


def test_files_without_a_manifest_and_of_earlier_versions_pass(tmp_path: Path) -> None:
    source = text(tmp_path / "source.txt")
    old = text(tmp_path / "old" / "table.bin")
    write_json(tmp_path / "old" / "manifest.json", {"command": ["poshgrid", "mix"]})
    missing = tmp_path / "missing.bin"
    assert set(verification.check([source, old, missing])) == {str(source), str(old)}


@pytest.mark.parametrize(
    "content", ["[]", '{"outputs": 3}', '{"outputs": {"table.bin": 3}}', '{"command": 3}']
)
def test_a_file_of_a_corpus_may_have_the_name_of_a_manifest(tmp_path: Path, content: str) -> None:
    table = text(tmp_path / "table.bin")
    text(tmp_path / "manifest.json", content)
    assert set(verification.check([table])) == {str(table)}


@pytest.mark.parametrize("content", ["\x00", "", '{"command"'])
def test_a_manifest_that_is_none_is_refused_in_one_line(tmp_path: Path, content: str) -> None:
    table = text(tmp_path / "table.bin")
    text(tmp_path / "manifest.json", content)
    with pytest.raises(PoshgridError, match="not a manifest"):
        verification.check([table])
