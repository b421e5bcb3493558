"""Suites of minimal pairs as nobody should publish them: items, or one line that names the file."""

import shutil

import polars.selectors as cs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poshgrid.core import plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.core.plugins import SUITES
from tests.cases import read_cases
from tests.unit.corpora.reader_support import put

from .support import GARBLING, damaged, promised, recoded, tried

FILES = [(case["reader"], case["name"], case["text"]) for case in read_cases(__file__, "suites")]
every_suite = pytest.mark.parametrize(("reader", "name", "good"), FILES, ids=[r for r, *_ in FILES])


def load(folder, reader, name, content, **options):
    """Load a suite, or check its refusal."""
    shutil.rmtree(folder, ignore_errors=True)
    path = put(folder, name, content)
    module = plugins.load(SUITES, reader)
    try:
        suite = module.load(path, plugins.options(SUITES, reader, options), None)
    except PoshgridError as error:
        (line,) = promised(error)
        assert str(path) in line, f"{line!r} names no file"
        return None
    for column in suite.items.select(cs.string()):
        garbling = [text for text in column.drop_nulls() if GARBLING.search(text)]
        assert not garbling, f"{column.name}: {garbling[:3]}"
    return suite


def test_no_suite_that_is_read_is_forgotten(tmp_path):
    made = {"templates", "factorial"}
    assert {reader for reader, *_ in FILES} == set(plugins.names(SUITES)) - made
    for reader, name, good in FILES:
        assert load(tmp_path / reader, reader, name, good.encode()) is not None


@every_suite
@tried(40)
@given(st.data())
def test_damaged_suites(tmp_path, reader, name, good, data):
    whole = good.encode()
    content = data.draw(st.one_of(damaged(whole), damaged(whole), recoded(whole)))
    load(tmp_path / "d", reader, name, content)
