"""FiCT's fifteen filters on hand-labelled, random and gold trees."""

import pytest

from poshgrid.core import plugins
from poshgrid.parsing.tree import Tree
from tests.unit.evidence.trees import read_cases, tree

FILTERS = "poshgrid.evidence.filters"

SAME = ("agr-re-irr-sv", "binding-c-command", "binding-reconstruction")
"""Filters whose published code removes what the paper's rule does."""


LABELLED = read_cases("fict")
PAPER, ASKED = LABELLED["paper"], LABELLED["asked"]
CASES = {"paper": PAPER, "published": {word: PAPER[word] for word in SAME}}
CASES["published"] |= LABELLED["published"]
FICT = tuple(PAPER)


def module(word):
    return plugins.load(FILTERS, word)


def test_every_reading_has_cases():
    assert {*FICT, "binding", "question-formation"} == {*plugins.names(FILTERS)}
    for word in FICT:
        assert list(module(word).READINGS) == [r for r, cases in CASES.items() if word in cases]
    for cases in (cases for of_reading in CASES.values() for cases in of_reading.values()):
        taken = [words is not None for words in cases.values()]
        assert min(taken.count(True), taken.count(False)) >= 3


@pytest.mark.parametrize(
    ("reading", "word", "text", "words"),
    [
        (reading, word, text, words)
        for reading, of_reading in CASES.items()
        for word, cases in of_reading.items()
        for text, words in cases.items()
    ],
)
def test_hand_labelled(reading, word, text, words):
    match = module(word).READINGS[reading](tree(text))
    assert (match and match.words) == words
    assert match is None or match.rule in {p.rule for p in module(word).PATTERNS[reading]}


SPOILT = {
    "w": ("form", "zzz"), "u": ("upos", "X"), "n": ("upos", "NOUN"), "r": ("deprel", "dep"),
    "f": ("feats", "_"),
}  # fmt: skip


def spoilt(sentence, number, column, value):
    columns = {c: list(getattr(sentence, c)) for c in ("form", "upos", "feats", "head", "deprel")}
    columns[column][number - 1] = value
    return Tree(**columns)


@pytest.mark.parametrize("reading", CASES)
def test_rules_ask_of_each_word_what_they_should_and_no_more(reading):
    """One label of one matched word is spoilt at a time: the match goes, or stays."""
    seen = set()
    for word, cases in CASES[reading].items():
        for pattern in module(word).PATTERNS[reading]:
            for sentence in map(tree, cases):
                match = pattern.match(sentence)
                if match is None:
                    continue
                seen.add(pattern.rule)
                assert set(match.roles) == set(ASKED[pattern.rule])
                for role, number in match.roles.items():
                    asked = set(ASKED[pattern.rule][role])
                    broken = {
                        letter
                        for letter, fault in SPOILT.items()
                        # "NOUN" spoils what must be no noun; whoever must be a verb says so by "u"
                        if (letter != "n" or letter in asked)
                        and pattern.match(spoilt(sentence, number, *fault)) != match
                    }
                    assert broken == asked, (pattern.rule, role)
    assert seen == {p.rule for word in CASES[reading] for p in module(word).PATTERNS[reading]}


# --- against the benchmark and gold trees ------------------------------------


def test_targets_are_paradigms_of_blimp(shared):
    targets = [target for word in FICT for target in module(word).TARGETS]
    known = {path.stem for path in (shared / "suites" / "blimp").glob("*.jsonl")}
    assert set(targets) <= known and len(targets) == len(set(targets)) == 31
