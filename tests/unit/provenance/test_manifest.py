"""What a manifest says of the device, the cost and the libraries; when there is none."""

from __future__ import annotations

import errno
import resource
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import polars
import pytest

from poshgrid.errors import PoshgridError
from poshgrid.files import read_json
from poshgrid.provenance import manifest
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


def test_the_cost_is_that_of_the_job(tmp_path):
    bytearray(50_000_000)  # from here on no test needs more
    for name, work in (("waits", lambda: time.sleep(0.5)), ("computes", computes)):
        least, most = peak(), None
        with recorded(tmp_path / f"{name}.json"):
            began = time.monotonic(), time.process_time()
            work()
            wall, cpu = time.monotonic() - began[0], time.process_time() - began[1]
        most = peak()
        found = read_json(tmp_path / f"{name}.json")
        assert wall <= found["wall_seconds"] + 0.001 < wall + 1
        assert cpu <= found["cpu_seconds"] + 0.001 < cpu + 0.2
        assert round(least, 1) <= found["peak_memory_mb"] <= round(most, 1)


def test_the_cost_of_processes_that_the_job_starts_counts(tmp_path):
    code = "import time\nwhile time.process_time() < 0.5: pass"
    with recorded(tmp_path / "starts.json"):
        subprocess.run([sys.executable, "-c", code], check=True)
    assert 0.5 <= read_json(tmp_path / "starts.json")["cpu_seconds"] < 2


def computes():
    end = time.process_time() + 0.3
    while time.process_time() < end:
        pass


def peak():
    """Return the most memory that this process or one of its children has used, MiB."""
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(each).ru_maxrss for each in who) * 2**10 / 2**20


def test_versions_are_told_of_what_is_installed(monkeypatch, tmp_path):
    monkeypatch.setattr(manifest, "PACKAGES", ("numpy", "no-such-package", "polars"))
    with recorded(tmp_path / "manifest.json"):
        pass
    found = read_json(tmp_path / "manifest.json")["packages"]
    assert found == {"numpy": np.__version__, "polars": polars.__version__}


def test_a_disk_that_cannot_take_what_was_written_leaves_no_manifest(monkeypatch, tmp_path):
    def full(path):
        raise OSError(errno.EDQUOT, "Disk quota exceeded", str(path))

    monkeypatch.setattr(manifest, "sync", full)
    with (
        pytest.raises(PoshgridError, match=r"table\.bin: cannot write: Disk quota exceeded; "),
        recorded(tmp_path / "manifest.json"),
    ):
        (tmp_path / "table.bin").write_text("one")
    assert not (tmp_path / "manifest.json").exists()


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
