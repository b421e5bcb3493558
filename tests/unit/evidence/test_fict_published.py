"""FiCT's filters, checked against what its published code removes from gold trees of web text.

Its decisions are those of ``published/fict/decisions_ewt.csv`` in the shared folder: the sentences,
by ``sent_id``, that the code removes when it is given the gold trees of UD English-EWT.
"""

from __future__ import annotations

import re

import polars as pl
import pytest

from poshgrid.evidence.label import rules_of
from poshgrid.parsing import treebank

SAME = {"agr-re-irr-sv", "binding-c-command", "binding-reconstruction"}
# filter -> the least recall and precision of `published`: on train, on dev
EXACT = ((1, 1), (1, 1))
FLOORS = {
    **dict.fromkeys(("agr-pp-mod", "agr-rel-cl", "agr-re-irr-sv", "det-adj-noun"), EXACT),
    "quantifier-superlative": EXACT,
    "quantifier-existential-there": ((0.99, 1), (0.96, 1)),
    "binding-case": ((0.99, 1), (1, 0.96)),
    **dict.fromkeys(("passive", "det-noun"), ((0.99, 1), (1, 1))),
    "binding-domain": ((0.98, 1), (1, 1)),
}
NOTHING = {"binding-c-command", "binding-reconstruction"}
"""Of these the code removes nothing."""
PARTS = ("train", "dev")


@pytest.fixture(scope="module")
def gold(shared):
    """Part of the treebank -> sent_id -> tree."""
    trees = {}
    for part in PARTS:
        path = shared / "treebanks" / "ewt" / f"{part}.conllu"
        if not path.is_file():
            pytest.skip(f"{path}: not there")
        names = re.findall(r"^# sent_id = (\S+)", path.read_text("utf-8"), re.MULTILINE)
        trees[part] = dict(zip(names, treebank.trees(path), strict=True))
    return trees


@pytest.fixture(scope="module")
def decided(shared, gold):
    """Part of the treebank and filter -> the sentences that the code removes."""
    path = shared / "published" / "fict" / "decisions_ewt.csv"
    if not path.is_file():
        pytest.skip(f"{path}: not there")
    decisions = {
        (name.removeprefix("ewt/"), word): set(rows["sent_id"])
        for (name, word), rows in pl.read_csv(path).group_by("treebank", "filter")
    }
    assert {word for _, word in decisions} == set(FLOORS)
    assert all(removed <= set(gold[part]) for (part, _), removed in decisions.items())
    return decisions


def agreement(gold, removed, word, reading):
    """Return recall and precision of our reading of a filter."""
    rule = rules_of(word).readings[reading]
    ours = {name for name, tree in gold.items() if rule(tree) is not None}
    both = len(ours & removed)
    return both / len(removed), both / len(ours) if ours else 0.0


@pytest.mark.parametrize("word", FLOORS)
def test_published_removes_what_the_code_removes(gold, decided, word):
    for part, floors in zip(PARTS, FLOORS[word], strict=True):
        removed = decided[part, word]
        assert len(removed) >= 5
        found = agreement(gold[part], removed, word, "published")
        assert all(share >= floor for share, floor in zip(found, floors, strict=True)), part
    if word not in SAME:  # the floors can fail: the paper's rule does not reach them
        found = agreement(gold["train"], decided["train", word], word, "paper")
        assert any(share < floor for share, floor in zip(found, FLOORS[word][0], strict=True))


@pytest.mark.parametrize("word", sorted(NOTHING))
def test_where_the_code_removes_nothing_neither_do_we(gold, word):
    rule = rules_of(word).readings["published"]
    assert not any(rule(tree) for trees in gold.values() for tree in trees.values())
