"""Lexical tests: the screen loses nothing that a filter removes; the backstop stays inside it."""

from __future__ import annotations

import random

import pytest

from poshgrid import plugins
from poshgrid.evidence.filters import binding, question_formation
from poshgrid.evidence.label import rules_of
from poshgrid.parsing import treebank
from poshgrid.parsing.tree import Tree
from poshgrid.screening.lexical import binding as binding_words
from poshgrid.screening.lexical import question_formation as question_words
from poshgrid.screening.screen import lexical, screen, screens
from tests.unit.test_evidence_binding import CASES as BINDING
from tests.unit.test_evidence_question_formation import CASES as QUESTIONS
from tests.unit.trees import mutated, random_tree, tree

FILTERS = {
    "question-formation": (question_formation, question_words, QUESTIONS),
    "binding": (binding, binding_words, BINDING),
}
# Words that the tests turn on, so that random sentences come near their borders
WORDS = tuple(
    """who what that which where how when is are was do did 's I you he the a my boy girls Mary
    things one like see know want run running of in with mommy oh and n't to there ? . , himself
    themselves yourselves herself were it told""".split()  # noqa: SIM905 - shorter than a list
)


def nonsense(generator: random.Random) -> Tree:
    """Return a tree whose labels and words have nothing to do with each other."""
    plain = random_tree(generator)
    return Tree(
        [generator.choice(WORDS) for _ in plain.form],
        plain.upos, plain.feats, plain.head, plain.deprel,
    )  # fmt: skip


@pytest.mark.parametrize("word", FILTERS)
def test_no_tree_that_a_filter_removes_is_screened_out(word):
    module, words, cases = FILTERS[word]
    generator = random.Random(word)
    hand = [tree(text) for text, _, _ in cases.values()]
    removed = 0
    for number in range(12_000):
        sentence = nonsense(generator) if number % 2 else mutated(generator.choice(hand), generator)
        if module.removed(sentence) or module.evidence(sentence):
            removed += 1
            assert words.screen(sentence.form), sentence.form
        if words.backstop(sentence.form):
            assert words.screen(sentence.form), sentence.form
    assert removed > 500


def test_gold_trees_lose_nothing(shared):
    """Against appendix C over the flat columns, in which no screen has a part."""
    from tests.unit.test_evidence_question_formation import appendix_c

    questions = reflexives = parsed = total = 0
    wanted = screen(list(FILTERS))
    files = [*(shared / "treebanks" / "childes").glob("*.conllu"),
             shared / "treebanks" / "ewt" / "dev.conllu"]  # fmt: skip
    for path in files:
        for sentence in treebank.trees(path):
            total += 1
            parsed += wanted(sentence.form)
            if appendix_c(sentence):
                questions += 1
                assert question_words.screen(sentence.form), sentence.form
            nominals = 0
            for form, upos in zip(sentence.form, sentence.upos, strict=True):
                if form.lower().endswith(("self", "selves")) and upos == "PRON" and nominals >= 2:
                    reflexives += 1
                    assert binding_words.screen(sentence.form), sentence.form
                nominals += upos in ("NOUN", "PROPN", "PRON")
    assert questions > 350 and reflexives > 25
    assert parsed / total < 0.35


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Is the boy who is here sleeping ?", True),
        ("the ball you had is gone ?", True),
        ("that 's what you said .", True),
        ("what they eat .", True),
        ("what are you doing ?", False),
        ("mommy what 's that ?", True),  # mommy may be a noun with a clause on it
        ("oh what 's that ?", False),
        ("do you want it ?", False),
        ("I like it .", False),
        ("the ball you had is gone .", False),  # no question
        ("oh mommy is the boy that cries sleeping .", True),
        ("", False),
    ],
)
def test_question_formation_by_hand(text, expected):
    assert question_words.screen(text.split()) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Is the boy who is here sleeping ?", (3, 4)),
        ("where 's the ball you had ?", (4, 5)),
        ("is that the tractor that you took ?", (4, 5)),
        ("is that what you said ?", (2, 3)),
        ("do you know what it is ?", None),
        ("did you cry when we came home ?", None),
        ("what are you doing ?", None),
        ("do you think he likes it ?", None),
        ("the ball you had is gone .", None),
    ],
)
def test_backstop_by_hand(text, words):
    assert question_words.backstop(text.split()) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I saw the dog hurt itself .", (1, 4, 6)),
        ("she hurt herself .", None),
        ("Oh Mary told Sue about herself .", (2, 4, 6)),
        ("he went there by himself .", None),
    ],
)
def test_backstop_of_binding_by_hand(text, words):
    assert binding_words.backstop(text.split()) == words


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
    assert rules_of(without).backstop is None
