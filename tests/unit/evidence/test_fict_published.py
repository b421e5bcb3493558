"""FiCT's filters, held to what its published code removes from gold trees of web text.

Its decisions are those of ``published/fict/decisions_ewt.csv`` in the shared folder: the sentences,
by ``sent_id``, that the code removes when it is given the gold trees of UD English-EWT.
"""

from __future__ import annotations

import importlib

import conllu
import polars as pl
import pytest

from poshgrid import plugins
from poshgrid.parsing.tree import Tree

FILTERS = "poshgrid.evidence.filters"
SAME = {"agr-re-irr-sv", "binding-c-command", "binding-reconstruction"}

# filter -> the least recall and precision of `published`: on train, on dev. The code of the two
# filters that are not here removes nothing.
FLOORS = {
    "agr-pp-mod": ((1, 1), (1, 1)),
    "agr-rel-cl": ((1, 1), (1, 1)),
    "agr-re-irr-sv": ((1, 1), (1, 1)),
    "quantifier-superlative": ((1, 1), (1, 1)),
    "quantifier-existential-there": ((0.99, 1), (0.96, 1)),
    "binding-case": ((0.99, 1), (1, 0.96)),
    "binding-domain": ((0.98, 1), (1, 1)),
    "passive": ((0.99, 1), (1, 1)),
    "det-adj-noun": ((1, 1), (1, 1)),
    "det-noun": ((0.99, 1), (1, 1)),
}
NOTHING = {"binding-c-command", "binding-reconstruction"}
PARTS = ("train", "dev")


def sentences(path):
    """``sent_id`` -> tree: the treebank's reader drops the comments."""
    found = {}
    with path.open(encoding="utf-8") as stream:
        for sentence in conllu.parse_incr(stream):
            words = [word for word in sentence if isinstance(word["id"], int)]
            found[sentence.metadata["sent_id"]] = Tree(
                form=[word["form"] for word in words],
                upos=[word["upos"] for word in words],
                feats=["|".join(f"{k}={v}" for k, v in (word["feats"] or {}).items()) or "_"
                       for word in words],
                head=[word["head"] for word in words],
                deprel=[word["deprel"] for word in words],
            )  # fmt: skip
    return found


@pytest.fixture(scope="module")
def gold(shared):
    folder = shared / "treebanks" / "ewt"
    if not all((folder / f"{part}.conllu").is_file() for part in PARTS):
        pytest.skip(f"{folder}: no train.conllu and dev.conllu")
    return {part: sentences(folder / f"{part}.conllu") for part in PARTS}


@pytest.fixture(scope="module")
def decided(shared):
    """Part of the treebank and filter -> the sentences that the code removes."""
    path = shared / "published" / "fict" / "decisions_ewt.csv"
    if not path.is_file():
        pytest.skip(f"{path}: not there")
    return {
        (treebank.removeprefix("ewt/"), word): set(rows["sent_id"])
        for (treebank, word), rows in pl.read_csv(path).group_by("treebank", "filter")
    }


def agreement(gold, decided, part, word, reading):
    """Sentences that the code removes, recall and precision of our reading."""
    module = importlib.import_module(plugins.module_name(FILTERS, word))
    rule = module.READINGS[reading]
    ours = {number for number, tree in gold[part].items() if rule(tree) is not None}
    theirs = decided.get((part, word), set())
    shared = len(ours & theirs)
    return (
        len(theirs),
        shared / len(theirs) if theirs else None,
        shared / len(ours) if ours else None,
    )


@pytest.fixture(scope="module")
def measured(gold, decided):
    """(Filter, part, reading) -> what :func:`agreement` returns."""
    return {
        (word, part, reading): agreement(gold, decided, part, word, reading)
        for word in sorted({*FLOORS, *NOTHING})
        for part in PARTS
        for reading in ("paper", "published")
    }


def test_decisions_are_of_these_sentences(gold, decided):
    assert {word for _, word in decided} == set(FLOORS)
    for (part, _), removed in decided.items():
        assert removed <= set(gold[part])


@pytest.mark.parametrize("word", FLOORS)
def test_published_removes_what_the_code_removes(measured, word):
    for part, (recall, precision) in zip(PARTS, FLOORS[word], strict=True):
        number, found, right = measured[word, part, "published"]
        assert number >= 5
        assert found >= recall, part
        assert right >= precision, part


@pytest.mark.parametrize("word", sorted(set(FLOORS) - SAME))
def test_the_paper_says_something_else(measured, word):
    """The floors can fail: the paper's rule does not reach them."""
    _, found, right = measured[word, "train", "paper"]
    (recall, precision), _ = FLOORS[word]
    assert found < recall or right < precision


def test_where_the_code_removes_nothing_neither_do_we(measured):
    for word in NOTHING:
        for part in PARTS:
            assert measured[word, part, "published"] == (0, None, None)
