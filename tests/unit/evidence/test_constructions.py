"""Constructions that are counted beside the evidence, on trees written by hand."""

from __future__ import annotations

import polars as pl
import pytest

from poshgrid.evidence.constructions import by_tree
from poshgrid.evidence.schema import BY_TREE
from poshgrid.parsing.schema import PARSES
from tests.unit.evidence.trees import read_cases

WORKED = read_cases("constructions")["worked"]


@pytest.mark.parametrize("name", WORKED)
def test_worked(name):
    text, heads, relations, expected = WORKED[name]
    words, labels = text.split(), relations.split()
    row = {"sent_id": 7, "form": words, "upos": ["X"] * len(words), "feats": ["_"] * len(words),
           "head": list(heads), "deprel": labels}  # fmt: skip
    found = by_tree(pl.DataFrame([row], schema=PARSES))
    assert found.columns == list(BY_TREE)
    assert {each for each in BY_TREE if found[each].item()} == set(expected)


def test_order_is_kept_and_no_sentence_is_no_row():
    rows = []
    for number, (text, heads, relations, _) in enumerate(WORKED.values()):
        words = text.split()
        rows.append((number, words, ["X"] * len(words), ["_"] * len(words), list(heads),
                     relations.split()))  # fmt: skip
    found = by_tree(pl.DataFrame(rows, schema=PARSES, orient="row"))
    assert [{name for name in BY_TREE if row[name]} for row in found.iter_rows(named=True)] == [
        set(each[-1]) for each in WORKED.values()
    ]
    assert by_tree(pl.DataFrame(schema=PARSES)).height == 0
