"""SIGKILL half-way, run again: the bytes of a job that was never stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from poshgrid import config
from poshgrid.corpora.read import read_source
from poshgrid.grid import specs

WORDS = 150_000


def run(command, kill_after=None):
    """Run a stage; return its seconds, or kill it and everything that it started after so many."""
    start = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-c", "from poshgrid.cli import main; main()", *command],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    if kill_after is not None:
        time.sleep(kill_after)
        assert process.poll() is None, "it has ended before it could be killed"
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return process.returncode
    _, error = process.communicate()
    assert process.returncode == 0, error.decode()
    return time.monotonic() - start


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A toy source that takes seconds to mix and to parse."""
    folder = tmp_path_factory.mktemp("source")
    toy = config.Source(name="toy", reader="toy", path="toy", options={"words": WORDS})
    read_source(specs.SourceSpec(source=toy), folder, folder / "sentences.parquet")
    return folder / "sentences.parquet"


def mixing(source, output):
    portion = config.Portion(source="toy", words={"100K": "100K"})
    base = config.Base(name="baby", sources=[portion], dev_words=5_000, test_words=5_000)
    spec = specs.canonical(specs.BaseSpec(base=base, sizes=["100K"]))
    return ["mix", "--spec", spec, "--source", f"toy={source}",
            "--output", str(output / "sentences.parquet")]  # fmt: skip


def parsing(sentences, output):
    spec = specs.canonical(
        specs.ParseSpec(
            parser=config.Parser(name="words", engine="words", model="."), shard=0, shards=1,
            screens=["binding", "question-formation"],
        )
    )  # fmt: skip
    return ["parse", "--spec", spec, "--sentences", str(sentences), "--model", str(output.parent),
            "--output", str(output / "0.parquet")]  # fmt: skip


@pytest.mark.slow
def test_killed_half_way(tmp_path, source):
    mixed = tmp_path / "mixed"
    for name, command in (
        ("mix", lambda folder: mixing(source, folder)),
        ("parse", lambda folder: parsing(mixed / "sentences.parquet", folder)),
    ):
        whole = mixed if name == "mix" else tmp_path / "parsed"
        seconds = min(run(command(whole)), run(command(whole)))
        table = next(p for p in whole.iterdir() if p.suffix == ".parquet").name
        again = tmp_path / f"{name} again"
        assert run(command(again), kill_after=seconds / 2) == -signal.SIGKILL
        assert not (again / table).exists()
        run(command(again))
        assert (again / table).read_bytes() == (whole / table).read_bytes()
        assert [p for p in again.iterdir() if p.suffix == ".tmp"] == []
