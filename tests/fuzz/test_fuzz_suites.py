"""Suites of minimal pairs as nobody should publish them: items, or one line that names the file."""

from __future__ import annotations

import json
import shutil

import polars.selectors as cs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poshgrid import plugins
from poshgrid.errors import PoshgridError
from poshgrid.plugins import SUITES
from tests.unit.corpora.reader_support import put

from .support import GARBLING, damaged, promised, recoded, tried

BLIMP = {
    "sentence_good": "The dog sat.",
    "sentence_bad": "The dog sit.",
    "UID": "agr",
    "linguistics_term": "x",
}
EWOK = {"Domain": "boss", "Context1": "Ali is the boss.", "Context2": "Ali is not.",
        "Target1": "He gives orders.", "Target2": "He gets orders."}  # fmt: skip
BOXES = {"input_prefix": "The box has the", "options": [" ring.", " hat."], "numops": 2}
GRID = "".join(
    f"subj,{n},{c},{text}\n"
    for n in (1, 2)
    for c, text in [("PFPG", "I know who you met today."),
                    ("MFPG", "I know that you met today."),
                    ("PFMG", "I know who you met him today."),
                    ("MFMG", "I know that you met him today.")]
)  # fmt: skip
FILES = [
    ("blimp", "agr.jsonl", (json.dumps(BLIMP) + "\n") * 3),
    ("blimp", "ewok.jsonl", (json.dumps(EWOK) + "\n") * 3),
    ("blimp", "fra.tsv", "\tsen\twrong_sen\n0\tIl dit.\tIl dis.\n"),
    ("babylm", "regular.jsonl", (json.dumps(BOXES) + "\n") * 3),
    ("babylm", "wug.jsonl", json.dumps({"sentences": "A wug.\tTwo wugs.", "ratio": ".3"}) + "\n"),
    ("lines", "agr.txt", "The dog sit.\nThe dog sat.\n" * 3),
    ("scamp", "agr.tsv", "The dog sat.\tThe dog sit.\n" * 3),
    ("blimp", "a.csv", "item_id,category,phenomenon,good,bad\n"
     "1,a,b,The dog sat.,The dog sit.\n"),
    ("choices", "a.csv", "item_id,category,phenomenon,block,stimulus,target,distractor1\n"
     "1,a,b,A,The dog is seen by the cat.,the cat sees the dog,the dog sees the cat\n"),
    ("completions", "a.csv", "item_id,category,phenomenon,prompt,accepted\n"
     "1,a,b,The dog,sat|sits\n"),
    ("paradigm-csv", "a.csv", "sentence_type,item_id,condition,full_sentence\n" + GRID),
]  # fmt: skip
every_suite = pytest.mark.parametrize(("reader", "name", "good"), FILES, ids=[r for r, *_ in FILES])


def load(folder, reader, name, content, **options):
    """Load a suite, or check its refusal."""
    shutil.rmtree(folder, ignore_errors=True)
    path = put(folder, name, content)
    module = plugins.load(SUITES, reader)
    try:
        found = module.load(path, plugins.options(SUITES, reader, options), None)
    except PoshgridError as error:
        (line,) = promised(error)
        assert str(path) in line, f"{line!r} names no file"
        return None
    for column in found.items.select(cs.string()):
        garbling = [text for text in column.drop_nulls() if GARBLING.search(text)]
        assert not garbling, f"{column.name}: {garbling[:3]}"
    return found


def test_no_suite_that_is_read_is_forgotten(tmp_path):
    made = {"templates", "factorial", "paradigms"}
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
