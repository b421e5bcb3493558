"""Constructions that are counted beside the evidence, on trees written by hand."""

from __future__ import annotations

import polars as pl
import pytest

from poshgrid.evidence.constructions import by_tree
from poshgrid.evidence.schema import BY_TREE
from poshgrid.parsing.schema import PARSES

# words, governors, relations; what the sentence has
WORKED = {
    "who he is , I know": (
        "who he is , I know", [6, 1, 1, 1, 6, 0], "ccomp nsubj cop punct nsubj root", set()),
    "I know who he sees": (
        "I know who he sees", [2, 0, 5, 5, 2], "nsubj root obj nsubj ccomp", {"embedded_question"}),
    "I wonder if he left": (
        "I wonder if he left", [2, 0, 5, 5, 2], "nsubj root mark nsubj ccomp",
        {"embedded_question"}),
    "if he left I weep: an adverbial clause": (
        "if he left I weep", [3, 3, 5, 5, 0], "mark nsubj advcl nsubj root", set()),
    "I think he knows who: the wh-word is of another clause": (
        "who thinks he left", [2, 0, 4, 2], "nsubj root nsubj ccomp", set()),
    "the dog that barks": (
        "the dog that barks", [2, 0, 4, 2], "det root nsubj acl:relcl", {"relative"}),
    "the fact that he left is none": (
        "the fact that he left", [2, 0, 5, 5, 2], "det root mark nsubj acl", set()),
    "he was seen": ("he was seen", [3, 3, 0], "nsubj:pass aux:pass root", {"passive"}),
    "stock labels": ("he was seen", [3, 3, 0], "nsubjpass auxpass ROOT", {"passive"}),
}  # fmt: skip


@pytest.mark.parametrize("name", WORKED)
def test_worked(name):
    text, heads, relations, expected = WORKED[name]
    words, labels = text.split(), relations.split()
    row = {"sent_id": 7, "form": words, "upos": ["X"] * len(words), "feats": ["_"] * len(words),
           "head": heads, "deprel": labels}  # fmt: skip
    found = by_tree(pl.DataFrame([row], schema=PARSES))
    assert found.columns == list(BY_TREE)
    assert {each for each in BY_TREE if found[each].item()} == expected


def test_order_is_kept_and_no_sentence_is_no_row():
    rows = []
    for number, (text, heads, relations, _) in enumerate(WORKED.values()):
        words = text.split()
        rows.append((number, words, ["X"] * len(words), ["_"] * len(words), heads,
                     relations.split()))  # fmt: skip
    found = by_tree(pl.DataFrame(rows, schema=PARSES, orient="row"))
    assert [{name for name in BY_TREE if row[name]} for row in found.iter_rows(named=True)] == [
        each[-1] for each in WORKED.values()
    ]
    assert by_tree(pl.DataFrame(schema=PARSES)).height == 0
