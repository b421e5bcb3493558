"""What a manifest says of the device: what the process has used, with the GPU's name."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from poshgrid.errors import PoshgridError
from poshgrid.files import read_json
from poshgrid.provenance.manifest import recorded


def torch_with(*, used):
    cuda = SimpleNamespace(is_initialized=lambda: used, get_device_name=lambda: "NVIDIA H200")
    return SimpleNamespace(cuda=cuda)


@pytest.mark.parametrize(
    ("torch", "facts", "told"),
    [
        (None, {}, ("cpu", None)),
        (torch_with(used=False), {}, ("cpu", None)),  # there is a GPU, and nobody asked for it
        (torch_with(used=True), {}, ("cuda", "NVIDIA H200")),  # parsing
        (torch_with(used=True), {"device": "cuda"}, ("cuda", "NVIDIA H200")),  # training
        (torch_with(used=False), {"device": "cpu"}, ("cpu", None)),
    ],
)
def test_the_device_is_what_was_used(monkeypatch, tmp_path, torch, facts, told):
    monkeypatch.setitem(sys.modules, "torch", torch)
    with recorded(tmp_path / "manifest.json") as extra:
        extra.update(facts)
    found = read_json(tmp_path / "manifest.json")
    assert (found["device"], found.get("gpu")) == told


def test_torch_is_not_imported(monkeypatch, tmp_path):
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    with recorded(tmp_path / "manifest.json"):
        pass
    assert "torch" not in sys.modules
    assert read_json(tmp_path / "manifest.json")["device"] == "cpu"


def cut_off(path):
    path.write_text("one")


def replaced(path):
    """As a job that a killed Snakemake has left does: the same bytes, another file."""
    again = path.with_name("again")
    again.write_text(path.read_text())
    again.replace(path)


@pytest.mark.parametrize("change", [cut_off, lambda path: path.unlink()])
def test_an_input_that_changes_while_it_is_read_leaves_no_manifest(tmp_path, change):
    source = tmp_path / "in" / "corpus.txt"
    source.parent.mkdir()
    source.write_text("one two three")
    with (
        pytest.raises(PoshgridError, match=r"corpus\.txt: changed while it was read; run again"),
        recorded(tmp_path / "manifest.json", inputs=[source]),
    ):
        change(source)
    assert not (tmp_path / "manifest.json").exists()


def test_an_input_that_is_replaced_by_its_bytes_is_the_same(tmp_path):
    source = tmp_path / "in" / "corpus.txt"
    source.parent.mkdir()
    source.write_text("one two three")
    with recorded(tmp_path / "manifest.json", inputs=[source]):
        replaced(source)
    assert (tmp_path / "manifest.json").is_file()
