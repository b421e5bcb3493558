"""Lexical tests: the screen loses nothing that a reading takes, the backstop stays inside it."""

from __future__ import annotations

import itertools
import random

import pytest

from poshgrid import plugins
from poshgrid.evidence.filters import binding, question_formation
from poshgrid.evidence.label import rules_of
from poshgrid.evidence.screening.lexical import binding as binding_words
from poshgrid.evidence.screening.lexical import question_formation as question_words
from poshgrid.evidence.screening.screen import lexical, screen, screens
from poshgrid.parsing import treebank
from poshgrid.parsing.tree import Tree
from tests.unit.evidence.test_binding import CASES as BINDING
from tests.unit.evidence.test_question_formation import CASES as QUESTIONS
from tests.unit.evidence.test_question_formation import toy_tree
from tests.unit.evidence.trees import random_tree, read_cases, tree

FILTERS = {
    "question-formation": (question_formation, question_words, QUESTIONS),
    "binding": (binding, binding_words, BINDING),
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


@pytest.mark.parametrize("word", FILTERS)
def test_no_sentence_that_a_reading_takes_is_screened_out(word):
    from poshgrid.corpora import toy

    module, words, cases = FILTERS[word]
    trees = [tree(text) for text, _, _ in cases.values()]
    for register in ("baby", "wiki"):
        drawn = itertools.islice(toy.sentences(register, 5), 1_000)
        trees += [toy_tree(sentence) for sentence in drawn]
    taken = [t for t in trees if any(rule(t) for rule in module.READINGS.values())]
    assert len(taken) > 20
    for sentence in taken:
        assert words.screen(sentence.form), sentence.form
        assert words.screen([form.upper() for form in sentence.form])


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
    module, words, _ = FILTERS[word]
    assert words.BACKSTOPS.keys() <= module.READINGS.keys()
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
            for word, (module, words, _) in FILTERS.items():
                if any(rule(sentence) for rule in module.READINGS.values()):
                    taken[word] += 1
                    if not words.screen(sentence.form):
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
    ("text", "expected"),
    WORDED["screen"],
)
def test_question_formation_by_hand(text, expected):
    assert question_words.screen(text.split()) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    WORDED["direct"],
)
def test_backstop_by_hand(text, words):
    assert question_words.BACKSTOPS["direct"](text.split()) == words


@pytest.mark.parametrize(
    ("text", "words"),
    WORDED["binding"],
)
def test_backstop_of_binding_by_hand(text, words):
    assert binding_words.BACKSTOPS["direct"](text.split()) == words


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
