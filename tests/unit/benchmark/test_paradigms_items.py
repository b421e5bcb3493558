"""Sets of filler x gap: four sentences, their regions, planted faults, our own and published."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from poshgrid.benchmark.schema import PARADIGMS
from poshgrid.benchmark.suites import paradigm_csv
from poshgrid.core import resources
from poshgrid.core.errors import PoshgridError
from tests.cases import read_cases

CASES = read_cases(__file__, "paradigms_items")

OWN = sorted((resources.path("examples") / "filler-gap").glob("*.csv"))
THREE = {
    "across-the-board": "across-the-board",
    "parasitic-gap-adjunct": "parasitic-gap",
    "parasitic-gap-subject": "parasitic-gap",
}


def region(row) -> str:
    return row["text"][row["start"] : row["end"]]


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_our_own_sets(path):
    items, _ = paradigm_csv.load(path, paradigm_csv.Options())
    assert dict(items.schema) == PARADIGMS
    assert dict(items.select("phenomenon", "category").unique().iter_rows()) == THREE
    assert len(set(Counter(items["phenomenon"]).values())) == 1
    assert items["text"].n_unique() == items.height
    assert set(items.filter("ambiguous")["phenomenon"]) == {"parasitic-gap-subject"}
    assert all(re.fullmatch(r"[A-Za-z,' ]+\.", text) for text in items["text"])


HEADER = "sentence_type,item_id,condition,full_sentence\n"
ONE = (
    "subject_pg,1,PFPG,We heard who the tale of will surely vex soon.\n"
    "subject_pg,1,MFPG,We heard that the tale of Ruth will surely vex soon.\n"
    "subject_pg,1,PFMG,We heard who the tale of will surely vex Omar soon.\n"
    "subject_pg,1,MFMG,We heard that the tale of Ruth will surely vex Omar soon.\n"
)


def read(tmp_path, text):
    path = tmp_path / "pg.csv"
    path.write_text(text, encoding="utf-8")
    return paradigm_csv.load(path, paradigm_csv.Options(), None)


def test_regions_are_what_the_sentences_differ_in(tmp_path):
    items, facts = read(tmp_path, HEADER + ONE)
    assert dict(items.schema) == PARADIGMS
    assert items.select("filler", "gap", "text", "start", "end").rows() == [
        (True, True, "We heard who the tale of will surely vex soon.", 41, 45),
        (False, True, "We heard that the tale of Ruth will surely vex soon.", 47, 51),
        (True, False, "We heard who the tale of will surely vex Omar soon.", 41, 45),
        (False, False, "We heard that the tale of Ruth will surely vex Omar soon.", 47, 51),
    ]
    assert (facts["sets"], facts["ambiguous"]) == (1, 0)
    for old, new, regions in (
        ("Omar", "the old man", ["soon", "soon", "the old man", "the old man"]),
        ("Omar soon", "Omar", ["soon", "soon", "Omar", "Omar"]),
        ("PFPG", "PLUS_FILLER_PLUS_GAP", ["soon", "soon", "Omar", "Omar"]),
    ):
        items = read(tmp_path, HEADER + ONE.replace(old, new)).items
        assert [region(row) for row in items.iter_rows(named=True)] == regions


@pytest.mark.parametrize(
    ("subject", "ambiguous"),
    [("Ida’s whispering to", True), ("Bob's intent to talk to", True),
     ("Bob's decision to dance with", False), ("it's talking to", False)],
)  # fmt: skip
def test_the_ambiguous_pattern(tmp_path, subject, ambiguous):
    items = read(tmp_path, HEADER + ONE.replace("the tale of", subject).replace("Omar s", "Eve s"))
    assert set(items.items["ambiguous"]) == {ambiguous}


@pytest.mark.parametrize(
    ("name", "sets", "ambiguous"),
    [("lan_stimuli.csv", 8064, 8064 - 5760), ("novel_stimuli.csv", 10, 0)],
)
def test_both_published_files_are_read(shared, name, sets, ambiguous):
    path = shared / "published" / "parasitic-gaps" / name
    if not path.is_file():
        pytest.skip("the published sets are absent")
    items, facts = paradigm_csv.load(path, paradigm_csv.Options(), None)
    assert (facts["sets"], facts["ambiguous"]) == (sets, ambiguous)
    assert items.height == 4 * sets


@pytest.mark.parametrize(
    ("old", "new", "message"),
    CASES["a_broken_file_is_named_with_its_line"],
)
def test_a_broken_file_is_named_with_its_line(tmp_path, old, new, message):
    text = HEADER + ONE
    assert old in text
    with pytest.raises(PoshgridError, match=rf"pg\.csv: {message}"):
        read(tmp_path, text.replace(old, new))
