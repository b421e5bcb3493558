"""Constructions that are counted beside the evidence, on trees written by hand."""

from __future__ import annotations

import polars as pl

from poshgrid.evidence.constructions import by_tree
from poshgrid.evidence.schema import BY_TREE
from poshgrid.parsing.schema import PARSES
from tests.unit.evidence.trees import read_cases

WORKED = read_cases("constructions")["worked"]


def test_worked():
    rows = []
    for number, (text, heads, relations, _) in enumerate(WORKED.values()):
        words = text.split()
        blank = ["_"] * len(words)
        rows.append((number, words, blank, blank, list(heads), relations.split()))
    found = by_tree(pl.DataFrame(rows, schema=PARSES, orient="row"))
    assert found.columns == list(BY_TREE)
    for (name, worked), row in zip(WORKED.items(), found.iter_rows(named=True), strict=True):
        assert {each for each in BY_TREE if row[each]} == set(worked[-1]), name
    assert by_tree(pl.DataFrame(schema=PARSES)).height == 0
