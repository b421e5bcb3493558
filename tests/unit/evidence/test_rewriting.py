"""Rewriting sentences: hand-worked ones, and what holds of any."""

from __future__ import annotations

import itertools
import random
from itertools import islice

import pytest

from poshgrid import plugins
from poshgrid.corpora import toy
from poshgrid.evidence.filters.question_formation import direct
from poshgrid.evidence.rewriting import rewrite
from poshgrid.plugins import REWRITERS
from tests.unit.evidence.trees import FORMS, mutated, read_cases, toy_tree, tree

CASES = read_cases("rewriters")
WORDS = (*FORMS, "the", "a", "give", "'re", "n't", "I", "there", "-", "“", "for")


@pytest.mark.parametrize(
    ("name", "case"), [(name, case) for name, cases in CASES.items() for case in cases]
)
def test_hand_worked_sentences(name, case):
    parse, text, after = case
    done = rewrite(tree(parse), text, [name])
    if after is None:
        assert (done.text, done.changed, done.unsafe) == (text, [], [])
    elif after.startswith("!"):
        assert (done.text, done.changed) == (text, [])
        assert done.unsafe == [f"{name}: {after[2:]}"]
    else:
        assert (done.text, done.changed, done.unsafe) == (after, [name], [])


def test_every_rewriter_has_cases_of_each_kind():
    assert set(CASES) == set(plugins.names(REWRITERS))
    for cases in CASES.values():
        assert {str(after)[:1] == "!" or after is None for *_, after in cases} == {True, False}


def test_rewriters_follow_each_other():
    parse = tree("Give/VERB/0/root me/PRON/1/iobj the/DET/4/det ball/NOUN/1/obj ./PUNCT/1/punct")
    names = ["swap-datives", "drop-articles", "swap-datives"]
    done = rewrite(parse, "Give me the ball.", names)
    assert (done.text, done.changed) == ("Give me ball.", names)


@pytest.mark.parametrize("seed", range(3))
def test_any_sentence_is_changed_in_words_or_left(seed):
    generator = random.Random(seed)
    names = plugins.names(REWRITERS)
    for sentence in islice(toy.sentences("baby", seed), 300):
        parse = mutated(toy_tree(sentence), generator)
        text = " ".join(parse.form)
        for chosen in itertools.permutations(names, 2):
            done = rewrite(parse, text, chosen)
            assert done == rewrite(parse, text, chosen)
            assert (done.text != text) == bool(done.changed) or "swap-datives" in done.changed
            assert done.text.strip() == done.text
            assert "  " not in done.text
            assert not set(done.changed) & {entry.partition(":")[0] for entry in done.unsafe}


def test_the_toy_language_has_its_questions_moved():
    moved = 0
    for sentence in islice(toy.sentences("baby", 5), 2_000):
        parse = toy_tree(sentence)
        done = rewrite(parse, sentence.text.strip(), ["linear-questions"])
        assert bool(done.changed) == (direct(parse) is not None)
        assert sorted(done.text.lower()) == sorted(sentence.text.strip().lower())
        moved += bool(done.changed)
    assert moved > 150
