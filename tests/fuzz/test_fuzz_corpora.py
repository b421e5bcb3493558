"""Corpora as no publisher should send them: a table, or one line; nothing between."""

import bz2
import gzip
import shutil
import warnings

from hypothesis import given
from hypothesis import strategies as st

from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import read_table
from poshgrid.corpora.read import read_source
from poshgrid.corpora.schema import SOURCE
from tests.unit.corpora.reader_support import every_reader, put, source_spec

from .support import GARBLING, damaged, promised, recoded, tried


def read(folder, reader, name, content):
    """Read a source: check what comes of it, or the error."""
    shutil.rmtree(folder, ignore_errors=True)
    put(folder, name, content)
    output = folder / "out" / "sentences.parquet"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read_source(source_spec(reader, name), folder, output)
    except PoshgridError as error:
        (line,) = promised(error)
        assert str(folder) in line, f"{line!r} names no file"
        assert not output.parent.exists() or not list(output.parent.iterdir())
        return None
    table = read_table(output, SOURCE)
    for text, n_words in zip(table["text"], table["n_words"], strict=True):
        assert n_words == len(text.split(" ")) > 0
        assert not GARBLING.search(text), repr(text)
    return table


@every_reader
@tried(40)
@given(st.data())
def test_damaged_files(tmp_path, reader, name, good, data):
    whole = good.encode()
    content = data.draw(st.one_of(damaged(whole), damaged(whole), recoded(whole)))
    read(tmp_path / "d", reader, name, content)


@every_reader
@tried(8)
@given(st.data())
def test_damaged_archives(tmp_path, reader, name, good, data):
    suffix, pack = data.draw(st.sampled_from([(".gz", gzip.compress), (".bz2", bz2.compress)]))
    packed = pack(data.draw(damaged(good.encode(), 1)))
    read(tmp_path / "d", reader, name + suffix, data.draw(damaged(packed, 2)))
