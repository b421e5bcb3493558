"""What each heuristic says of a pair, worked by hand for every phenomenon."""

from pathlib import Path

import pytest
import yaml

from poshgrid import plugins
from poshgrid.heuristics.pair import Pair
from poshgrid.heuristics.table import rivals
from poshgrid.heuristics.words import Sentence
from poshgrid.plugins import RIVALS

CASES = yaml.safe_load(Path(__file__).with_name("rivals.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[next(iter(case)) for case in CASES])
def test_by_hand_whichever_member_is_first(case):
    (good, for_good), (bad, for_bad) = case.items()
    for pair, value in ((Pair(good, bad), 1), (Pair(bad, good), 0)):
        found = {
            name: heuristic.prefers(pair)
            for name, heuristic in rivals().items()
            if hasattr(heuristic, "prefers") and heuristic.prefers(pair) is not None
        }
        assert found == dict.fromkeys(for_good, value) | dict.fromkeys(for_bad, 1 - value)


def test_every_rule_that_reads_words_has_an_example():
    shown = {name for case in CASES for heuristics in case.values() for name in heuristics}
    assert shown == {name for name, heuristic in rivals().items() if hasattr(heuristic, "prefers")}


@pytest.mark.parametrize(
    ("good", "bad", "words"),
    [
        ("What did he say that Ann saw?", "What did he say whether Ann saw?", ("that", "whether")),
        ("Will the man who can swim go?", "Can the man who swim will go?", ("will", "can")),
        ("The boy hurt himself.", "The boy hurt herself.", ("himself", "herself")),
        ("When do you wanna go?", "Who do you wanna go?", ("when", "who")),
        # content words; and the one is the other's beginning
        ("Who helped the girl?", "Who helped the boy?", None),
        ("Who helped", "Who helped her", None),
    ],
)
def test_the_first_function_words_that_differ_are_compared(good, bad, words):
    heuristic = plugins.load(RIVALS, "frequent-word")
    assert heuristic.compares(Pair(good, bad)) == words
    assert heuristic.compares(Pair(bad, good)) == (words and words[::-1])


def test_hierarchical_rules_are_marked():
    found = {n for n, heuristic in rivals().items() if getattr(heuristic, "HIERARCHICAL", False)}
    assert found == {"main-auxiliary", "command", "island", "contraction"}


@pytest.mark.parametrize(
    ("text", "nouns"),
    [
        ("The male president says that Ann's uncle runs.",
         [("president", "m", False), ("ann", "f", True), ("uncle", "m", False)]),
        ("That boy knows that women sing.", [("boy", "m", False), ("women", "f", False)]),
        ("Lawrence knows that Zyx saw the Canadian child.",
         [("zyx", "fm", False), ("child", "fm", False)]),
        ("She can't see the table.", [("she", "f", False), ("table", "n", False)]),
    ],
)  # fmt: skip
def test_nouns_and_their_genders(text, nouns):
    sentence = Sentence(text)
    found = [
        (sentence.words[n.index], "".join(sorted(n.genders)), n.possessor) for n in sentence.nouns
    ]
    assert found == nouns


@pytest.mark.parametrize(
    ("heuristic", "good", "bad", "found"),
    [
        # the word before the first that differs, with that word
        ("local-bigram", "The boy ran.", "The dog ran.", ("the boy", "the dog")),
        ("local-bigram", "Can he swim?", "Does he swim?", ("<s> can", "<s> does")),
        ("local-bigram", "Who ran", "Who ran home", ("ran </s>", "ran home")),
        ("local-bigram", "A girl ran!", "A girl ran!", None),
        # the question word and the first verb, over nouns, names and auxiliaries
        ("filler-verb", "Who did Ann say that you saw?", "Who did Ann hesitate when you saw?",
         ("who … say", "who … hesitate")),
        ("filler-verb", "When do you want to go?", "Who do you want to go?",
         ("when … want", "who … want")),
        ("filler-verb", "Who did Ann say that saw you?", "Who did Ann say saw you?", None),
        ("filler-verb", "Did Ann hesitate?", "Who did Ann see?", None),
    ],
)  # fmt: skip
def test_two_words_that_rules_look_up(heuristic, good, bad, found):
    compares = plugins.load(RIVALS, heuristic).compares
    assert compares(Pair(good, bad)) == found
    assert compares(Pair(bad, good)) == (found and found[::-1])
