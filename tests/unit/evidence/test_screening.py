"""The filters of POSH-BENCH: their readings, screens and backstops on labelled sentences.

What is labelled by hand is in ``cases``; the toy grammar says what it drew. Trees of other
treebanks are compared with readings that were written apart in ``tests/parity``.
"""

from __future__ import annotations

import itertools
import random
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from poshgrid import plugins
from poshgrid.corpora import toy
from poshgrid.evidence.filters import binding, question_formation
from poshgrid.evidence.label import rules_of
from poshgrid.evidence.screening.lexical import binding as binding_words
from poshgrid.evidence.screening.lexical import question_formation as question_words
from poshgrid.evidence.screening.screen import lexical, screen, screens
from poshgrid.parsing import treebank
from poshgrid.parsing.tree import Tree
from tests.unit.evidence.trees import random_tree, read_cases, toy_tree, tree


class Filter(NamedTuple):
    """A filter, its lexical tests, and its labelled sentences."""

    rules: ModuleType
    words: ModuleType
    cases: dict[str, Any]


FILTERS = {
    "question-formation": Filter(
        question_formation, question_words, read_cases("question_formation")["cases"]
    ),
    "binding": Filter(binding, binding_words, read_cases("binding")["cases"]),
}
WORDED = read_cases("screening")
# Words that the tests turn on, so that random sentences come near their borders
WORDS = tuple(
    """who what that which where how when is are was do did 's I you he the a my boy girls Mary
    things one like see know want run running of in with mommy oh and n't to there ? . , himself
    themselves yourselves herself were it told""".split()  # noqa: SIM905 - shorter than a list
)


@pytest.fixture(scope="module")
def gold(shared) -> dict[str, list[Tree]]:
    """Treebank -> trees."""
    return {
        name: [
            sentence
            for path in sorted((shared / "treebanks" / name).glob("*.conllu"))
            for sentence in treebank.trees(path)
        ]
        for name in ("childes", "ewt")
    }


def screened_out(word, sentence):
    """Return whether a sentence that a reading takes is not parsed, in small or capital letters."""
    rules, words, _ = FILTERS[word]
    forms = sentence.form, [form.upper() for form in sentence.form]
    taken = any(rule(sentence) for rule in rules.READINGS.values())
    return taken and not all(map(words.screen, forms))


@pytest.mark.parametrize(
    ("word", "name"), [(w, name) for w in FILTERS for name in FILTERS[w].cases]
)
def test_hand_labelled(word, name):
    rules, _, cases = FILTERS[word]
    text, evidence, taken = cases[name]
    sentence = tree(text)
    found = rules.direct(sentence)
    assert (found.words if found else None) == evidence
    assert (rules.paper(sentence) is not None) == taken
    assert not screened_out(word, sentence)


@pytest.mark.parametrize("word", FILTERS)
@pytest.mark.parametrize("register", ["baby", "wiki"])
def test_toy_grammar_agrees_with_the_construction_it_drew(word, register):
    rules = FILTERS[word].rules
    drew = 0
    for sentence in itertools.islice(toy.sentences(register, 5), 1_500):
        parsed = toy_tree(sentence)
        evidence = sentence.construction == word
        assert (rules.direct(parsed) is not None) == evidence, sentence.text
        assert rules.paper(parsed) is not None or not evidence, sentence.text
        assert not screened_out(word, parsed), sentence.text
        drew += evidence
    assert drew or register == "wiki"


def test_no_tree_at_all_escapes_the_screen_of_binding():
    """Its words are those of the rule: what the tags and relations say does not matter."""
    generator = random.Random(3)
    taken = 0
    for _ in range(6_000):
        sentence = random_tree(generator)
        if binding.paper(sentence) or binding.direct(sentence):
            taken += 1
            assert binding_words.screen(sentence.form), sentence.form
    assert taken > 500


@pytest.mark.parametrize("word", FILTERS)
def test_backstops_stay_inside_the_screen(word):
    words = FILTERS[word].words
    generator = random.Random(word)
    found = 0
    for _ in range(40_000):
        sentence = generator.choices(WORDS, k=generator.randint(0, 16))
        for backstop in words.BACKSTOPS.values():
            places = backstop(sentence)
            if places is not None:
                found += 1
                assert words.screen(sentence), sentence
                assert list(places) == sorted(set(places))
                assert places[0] >= 1 and places[-1] <= len(sentence)
    assert found > 200


@pytest.mark.slow
def test_gold_trees_lose_nothing(gold):
    taken = dict.fromkeys(FILTERS, 0)
    lost = []
    wanted = screen(list(FILTERS))
    for name, trees in gold.items():
        parsed = 0
        for number, sentence in enumerate(trees):
            parsed += wanted(sentence.form)
            for word, (rules, _, _) in FILTERS.items():
                taken[word] += any(rule(sentence) for rule in rules.READINGS.values())
                if screened_out(word, sentence):
                    lost.append((name, number, word))
        assert parsed / len(trees) < {"childes": 0.26, "ewt": 0.36}[name]
    assert lost == []
    assert taken["question-formation"] > 1_000 and taken["binding"] > 100


@pytest.mark.slow
def test_the_backstop_of_direct_questions_finds_nearly_all_and_costs_little(gold):
    found = missed = 0
    for name, trees in gold.items():
        taken = 0
        for sentence in trees:
            looks = question_words.direct(sentence.form) is not None
            taken += looks * len(sentence)
            if question_formation.direct(sentence):
                found += looks
                missed += not looks
        assert taken / sum(map(len, trees)) < {"childes": 0.01, "ewt": 0.02}[name]
    assert found > 20
    assert found / (found + missed) > 0.9


@pytest.mark.parametrize(
    ("test", "text", "expected"),
    [
        (test, *case)
        for name, test in (
            ("screen", question_words.screen),
            ("direct", question_words.BACKSTOPS["direct"]),
            ("binding", binding_words.BACKSTOPS["direct"]),
        )
        for case in WORDED[name]
    ],
)
def test_words_by_hand(test, text, expected):
    assert test(text.split()) == expected


def test_candidates_are_the_papers():
    found = question_words.candidates
    assert found(["is", "the", "boy", "who", "is", "here", "sleeping", "?"]) == (1, 5, 8)
    assert found(["is", "the", "boy", "sleeping", "?"]) is None
    assert found(["he", "is", "here", "and", "she", "is", "there", "."]) is None
    assert binding_words.candidates(["they", "hurt", "themselves", "and", "me", "myself"]) == (3, 6)
    assert binding_words.candidates(["the", "self", "is", "a", "shelf"]) == (2,)
    assert binding_words.candidates(["he", "likes", "him"]) is None


def test_a_filter_without_a_screen_has_everything_parsed():
    assert screens(["binding", "question-formation"]) == ["binding", "question-formation"]
    without = next(
        word
        for word in plugins.names("poshgrid.evidence.filters")
        if not hasattr(lexical(word), "screen")
    )
    assert screens(["binding", without]) == []
    assert rules_of(without).backstops == {}
