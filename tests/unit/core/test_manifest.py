"""What a manifest says of the device, the cost and the libraries; when there is none."""

import errno
import subprocess
import sys
import time

import numpy as np
import polars
import pytest

from poshgrid.core import manifest
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import read_json
from poshgrid.core.manifest import recorded


def test_the_cost_is_that_of_the_job_and_of_processes_that_it_starts(monkeypatch, tmp_path):
    monkeypatch.setattr(manifest, "PACKAGES", ("numpy", "no-such-package", "polars"))
    code = "import time\nwhile time.process_time() < 0.5: pass"
    with recorded(tmp_path / "a.json"):
        subprocess.run([sys.executable, "-c", code], check=True)
        time.sleep(0.5)
    cost = read_json(tmp_path / "a.json")
    assert 0.5 <= cost["cpu_seconds"] < 2 and cost["wall_seconds"] >= 1
    assert cost["peak_memory_mb"] > 10
    assert cost["packages"] == {"numpy": np.__version__, "polars": polars.__version__}


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


def replaced(path):
    """As a job that a killed Snakemake has left does: the same bytes, another file."""
    again = path.with_name("again")
    again.write_text(path.read_text())
    again.replace(path)


@pytest.mark.parametrize(
    ("change", "same"),
    [(lambda path: path.write_text("one"), False), (lambda path: path.unlink(), False),
     (replaced, True)],
)  # fmt: skip
def test_an_input_that_changes_while_it_is_read_leaves_no_manifest(tmp_path, change, same):
    source = tmp_path / "in" / "corpus.txt"
    source.parent.mkdir()
    source.write_text("one two three")
    try:
        with recorded(tmp_path / "manifest.json", inputs=[source]):
            change(source)
    except PoshgridError as error:
        assert "corpus.txt: changed while it was read" in str(error)
    assert (tmp_path / "manifest.json").exists() == same
