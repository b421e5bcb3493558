"""What a manifest says of the device: what the process has used, with the GPU's name."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from poshgrid.files import read_json
from poshgrid.manifest import recorded


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
