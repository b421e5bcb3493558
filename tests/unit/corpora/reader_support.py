"""What the tests of all readers share: samples, a file put there, a source read or refused."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from poshgrid.config import Source, specs
from poshgrid.core import plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import read_json, read_table
from poshgrid.core.plugins import READERS
from poshgrid.corpora.read import read_source
from poshgrid.corpora.report import Report
from poshgrid.corpora.schema import SOURCE
from tests.cases import read_cases

SAMPLES = [(each["reader"], each["name"], each["text"]) for each in read_cases(__file__, "samples")]
every_reader = pytest.mark.parametrize(
    ("reader", "name", "good"), SAMPLES, ids=[f"{reader} {name}" for reader, name, _ in SAMPLES]
)


def put(folder: Path, name: str, content: str | bytes) -> Path:
    """Write a file and the folders above it."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def source_spec(reader: str, path: str = ".", **source) -> specs.SourceSpec:
    """A source of the configuration, named "it"."""
    return specs.SourceSpec(source=Source(name="it", reader=reader, path=path, **source))


def read(reader: str, path: Path, **options) -> tuple[list[tuple[str, str]], Report]:
    """What a reader yields, and its report."""
    module, report = plugins.load(READERS, reader), Report()
    return list(module.read(path, plugins.options(READERS, reader, options), report)), report


def table_of(data: Path, reader: str, path: str = ".", **source) -> tuple[pl.DataFrame, dict]:
    """What becomes of a source: its table of sentences, and its statistics."""
    output = data / "out" / "sentences.parquet"
    statistics = read_source(source_spec(reader, path, **source), data, output)
    assert read_json(output.with_name("statistics.json")) == statistics
    return read_table(output, SOURCE), statistics


def refused(
    data: Path, reader: str, name: str, content: str | bytes | None, message: str, **source
) -> None:
    """Check that a broken file ends in one line that names it, and leaves nothing half-written."""
    if content is not None:
        put(data, name, content)
    output = data / "out" / "sentences.parquet"
    with pytest.raises(PoshgridError, match=message) as caught:
        read_source(source_spec(reader, name, **source), data, output)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not output.parent.exists() or not list(output.parent.iterdir())
